"""Engines: what runs a function over many items. They know nothing of graphs, files or tables.

To add one, write ``engines/<name>.py`` with a class that has `Engine`'s method ``map``, import optional packages inside it, and
add a row to `ENGINES`; ``tests/jobs/test_engines.py`` then runs the whole contract over it. An engine of one's own need not be
in the package: every function with an argument ``engine`` takes any object with such a method.
"""

from escgnn.engines.engine import Engine
from escgnn.engines.local import LocalEngine

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine}

__all__ = ["ENGINES", "Engine", "LocalEngine"]
