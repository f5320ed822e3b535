"""The command line as ``python -m escgnn``, for where ``escgnn`` is not on the path."""

from escgnn.cli import main

if __name__ == "__main__":
    main()
