"""Tests and doctests keep what they parse in a folder of their own."""

import os
import tempfile

os.environ["ESCGNN_CACHE"] = tempfile.mkdtemp(prefix="escgnn-tests-")
