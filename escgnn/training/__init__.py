"""Training on Lightning, and using what was trained.

```python
bundle = datasets.load("zinc-12k")
config = training.read_config(overrides=["epochs=50"], bundle=bundle)
training.fit(bundle, config, "runs/zinc")

run = training.load_run("runs/zinc")
training.predict_file(run, "molecules.csv", "predicted.csv")
```
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from escgnn.jobs import Summary
from escgnn.training.calibration import Calibration, middle_of
from escgnn.training.columns import Extras, added_columns, check_extras
from escgnn.training.config import TrainConfig, checked, difference, read_config, read_stored
from escgnn.training.ensemble import Ensemble, Predictor, calibrate, ensemble_of, is_ensemble, is_run, load_ensemble
from escgnn.training.exporting import Exported, export
from escgnn.training.fingerprints import fingerprint, hash_graphs
from escgnn.training.folder import FoldResult, Result, Run, load_run, plain, read_json, read_result, save_json
from escgnn.training.job import (
    Predict,
    feature_set,
    given_graphs,
    predict_file,
    predict_files,
    read_given,
    smiles_column,
)
from escgnn.training.judging import Judgement, judge, table_options
from escgnn.training.listing import ModelListing, models
from escgnn.training.neighbours import read_known, similarity
from escgnn.training.pieces import PiecesWarning, Splitting, fit_normalisation, run_network
from escgnn.training.prediction import as_store, evaluate, formulas, outputs_and_answers, own_split, predict
from escgnn.training.running import UnseenShapesWarning, embedded, network_outputs
from escgnn.training.settings import suited
from escgnn.zoo import Recipe

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what Python does
    from escgnn.training.fitting import fit as fit
    from escgnn.training.fitting import fit_folds as fit_folds
    from escgnn.training.members import EnsembleResult as EnsembleResult
    from escgnn.training.members import fit_ensemble as fit_ensemble
    from escgnn.training.team import is_first_process as is_first_process

# Names that need Lightning, and the file of each: it takes long to load, and whoever predicts can do without.
LATER = {
    "EnsembleResult": "members",
    "fit": "fitting",
    "fit_ensemble": "members",
    "fit_folds": "fitting",
    "is_first_process": "team",
}

__all__ = [
    "Calibration",
    "Ensemble",
    "EnsembleResult",
    "Exported",
    "Extras",
    "FoldResult",
    "Judgement",
    "ModelListing",
    "PiecesWarning",
    "Predict",
    "Predictor",
    "Recipe",
    "Result",
    "Run",
    "Splitting",
    "Summary",
    "TrainConfig",
    "UnseenShapesWarning",
    "added_columns",
    "as_store",
    "calibrate",
    "check_extras",
    "checked",
    "difference",
    "embedded",
    "ensemble_of",
    "evaluate",
    "export",
    "feature_set",
    "fingerprint",
    "fit",
    "fit_ensemble",
    "fit_folds",
    "fit_normalisation",
    "formulas",
    "given_graphs",
    "hash_graphs",
    "is_ensemble",
    "is_first_process",
    "is_run",
    "judge",
    "load_ensemble",
    "load_run",
    "middle_of",
    "models",
    "network_outputs",
    "outputs_and_answers",
    "own_split",
    "plain",
    "predict",
    "predict_file",
    "predict_files",
    "read_config",
    "read_given",
    "read_json",
    "read_known",
    "read_result",
    "read_stored",
    "run_network",
    "save_json",
    "similarity",
    "smiles_column",
    "suited",
    "table_options",
]


if not TYPE_CHECKING:  # or every name would be one to a type checker

    def __getattr__(name: str) -> Any:
        """Load a name when it is first asked for."""
        if name in LATER.values():
            return import_module(f"{__name__}.{name}")
        if name not in LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        value = getattr(import_module(f"{__name__}.{LATER[name]}"), name)
        globals()[name] = value  # so that this is not called again
        return value
