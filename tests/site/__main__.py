"""Runs tutorials, and makes the pages of the explorer (`explorers`), all or those named, and keeps in `docs` what they show."""

import os
import sys
import tempfile
from contextlib import chdir
from time import process_time

from tests.site import explorers, tutorials

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    chosen = sys.argv[1:] or [*tutorials.NAMES, "explorers"]
    if "explorers" in chosen:
        chosen.remove("explorers")
        explorers.keep()
    for name in chosen:
        begin = process_time()
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            shown = tutorials.run(name)
        tutorials.keep(name, shown)
        print(f"{name}: {process_time() - begin:.1f} s of processor time, {len(shown.files)} pictures and pages")
