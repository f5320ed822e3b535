"""Does anybody notice? Faults that are stated as data, put into a copy of the package one at a time, and the tests run on it.

``make mutants`` runs them all, ``make mutants ONLY=kernels`` those whose area, file or fault holds that word.
"""
