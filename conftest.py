"""Tests and doctests keep what they parse in a folder of their own, and leave the cores to each other."""

import os
import tempfile

os.environ["ESCGNN_CACHE"] = tempfile.mkdtemp(prefix="escgnn-tests-")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two test processes with two threads each only wait for one another
