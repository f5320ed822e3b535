"""Training on Lightning, and using what was trained.

```python
bundle = datasets.load("zinc-12k")
config = training.read_config(overrides=["epochs=50"], bundle=bundle)
training.fit(bundle, config, "runs/zinc")

run = training.load_run("runs/zinc")
training.predict_file(run, "molecules.csv", "predicted.csv")
```
"""

from escgnn.jobs import Summary
from escgnn.training.config import TrainConfig, checked, difference, read_config, read_stored
from escgnn.training.exporting import Exported, export
from escgnn.training.fingerprints import fingerprint
from escgnn.training.fitting import fit, fit_folds
from escgnn.training.folder import FoldResult, Result, Run, load_run, read_result
from escgnn.training.job import Predict, predict_file, predict_files
from escgnn.training.judging import Judgement, judge, table_options
from escgnn.training.listing import ModelListing, models
from escgnn.training.prediction import UnseenShapesWarning, as_store, evaluate, formulas, predict
from escgnn.training.settings import suited
from escgnn.zoo import Recipe

__all__ = [
    "Exported",
    "FoldResult",
    "Judgement",
    "ModelListing",
    "Predict",
    "Recipe",
    "Result",
    "Run",
    "Summary",
    "TrainConfig",
    "UnseenShapesWarning",
    "as_store",
    "checked",
    "difference",
    "evaluate",
    "export",
    "fingerprint",
    "fit",
    "fit_folds",
    "formulas",
    "judge",
    "load_run",
    "models",
    "predict",
    "predict_file",
    "predict_files",
    "read_config",
    "read_result",
    "read_stored",
    "suited",
    "table_options",
]
