"""The command line as ``python -m escgnn.cli``."""

import sys

from escgnn.cli import main

if __name__ == "__main__":
    sys.argv[0] = "escgnn"  # so that records name the command
    main()
