"""Training on Lightning, and using what was trained.

```python
bundle = datasets.load("zinc-12k")
config = training.read_config(overrides=["epochs=50"], bundle=bundle)
training.fit(bundle, config, "runs/zinc")

run = training.load_run("runs/zinc")
training.predict_file(run, "molecules.csv", "predicted.csv")
```
"""

from escgnn.training.config import TrainConfig, checked, difference, read_config
from escgnn.training.exporting import Exported, export
from escgnn.training.fitting import fit, fit_folds
from escgnn.training.folder import FoldResult, Result, Run, load_run, read_result
from escgnn.training.prediction import (
    UnseenShapesWarning,
    as_store,
    evaluate,
    formulas,
    own_split,
    part_of,
    predict,
)
from escgnn.training.provenance import commit, fingerprint, versions
from escgnn.training.tables import Summary, predict_file
from escgnn.zoo import Recipe

__all__ = [
    "Exported",
    "FoldResult",
    "Recipe",
    "Result",
    "Run",
    "Summary",
    "TrainConfig",
    "UnseenShapesWarning",
    "as_store",
    "checked",
    "commit",
    "difference",
    "evaluate",
    "export",
    "fingerprint",
    "fit",
    "fit_folds",
    "formulas",
    "load_run",
    "own_split",
    "part_of",
    "predict",
    "predict_file",
    "read_config",
    "read_result",
    "versions",
]
