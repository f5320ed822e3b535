"""One of the processes that train together, as torchrun would start it; `test_team` starts two of them.

python -m tests.training.launched FOLDER
"""

import json
import sys

from escgnn.training import fit, fit_folds
from tests.training import tiny
from tests.training.tiny import change

# The last batch has one graph, so that the second process has none left. Weights decay, or a gradient of another size would
# not show: Adam takes steps of one size.
CONFIG = change(epochs=3, batch_size=2, weight_decay=0.3, network={"norm": "layer", "dropout": 0.0})
SHARED = change(CONFIG, nodes=2)


def graphs():
    """What all processes train on."""
    return tiny.bundle(size=30, missing=0.3)


def folded():
    """The same for a cross-validation."""
    return tiny.bundle(size=16, folds=2)


def complaint(folder):
    """What is said about a folder that holds another run."""
    try:
        fit(graphs(), SHARED, folder, progress=False)
    except ValueError as error:
        return str(error)
    return "nothing"


def main():
    """Train for an epoch, go on, try the same folder again, and train on folds; print what came of it."""
    folder = sys.argv[1]
    fit(graphs(), change(SHARED, epochs=1), f"{folder}/run", progress=False)
    result = fit(graphs(), SHARED, f"{folder}/run", resume=True, progress=False)
    said = complaint(f"{folder}/run")
    folds = fit_folds(folded(), change(SHARED, epochs=1), f"{folder}/folds", progress=False)
    print(json.dumps({"test": result.test, "said": said, "mean": folds.mean}))


if __name__ == "__main__":
    main()
