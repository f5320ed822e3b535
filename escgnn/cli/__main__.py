"""The command line as ``python -m escgnn.cli``, as ``python -m escgnn`` is, too."""

from escgnn.cli import main

if __name__ == "__main__":
    main()
