"""Random forests and boosted trees on fingerprints and descriptors: what a network has to be better than.

```python
bundle = datasets.load("molecules.csv", targets=["logP"], descriptors=["morgan-count", "rdkit"])
found = baseline.fit_baseline(bundle, "runs/trees", beside=training.load_ensemble("runs/logp"))
found.verdict
```
"""

from escgnn.baseline.fitting import DESCRIPTORS, Comparison, fit_baseline
from escgnn.baseline.model import Baseline, is_predictor, load_baseline, load_predictor
from escgnn.baseline.trees import Trees, boosted_trees, forest_trees

__all__ = [
    "DESCRIPTORS",
    "Baseline",
    "Comparison",
    "Trees",
    "boosted_trees",
    "fit_baseline",
    "forest_trees",
    "is_predictor",
    "load_baseline",
    "load_predictor",
]
