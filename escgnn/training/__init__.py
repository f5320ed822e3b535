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
from escgnn.training.config import EncodingConfig, ModelConfig, TrainConfig, read_config
from escgnn.training.exporting import Exported, export
from escgnn.training.fitting import fit, fit_folds
from escgnn.training.job import Predict, predict_file
from escgnn.training.judging import Judgement, judge
from escgnn.training.prediction import UnseenShapes, evaluate, predict
from escgnn.training.results import FoldResult, Result, read_result
from escgnn.training.runs import Run, load_run
from escgnn.training.skipping import formulas

__all__ = [
    "EncodingConfig",
    "Exported",
    "FoldResult",
    "Judgement",
    "ModelConfig",
    "Predict",
    "Result",
    "Run",
    "Summary",
    "TrainConfig",
    "UnseenShapes",
    "evaluate",
    "export",
    "fit",
    "fit_folds",
    "formulas",
    "judge",
    "load_run",
    "predict",
    "predict_file",
    "read_config",
    "read_result",
]
