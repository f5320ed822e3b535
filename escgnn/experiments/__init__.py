"""The paper's tables as experiments: what to run, and the published numbers.

```python
from escgnn.experiments import EXPERIMENTS, reproduce
reproduce(EXPERIMENTS["counting"], "smoke")
```
"""

from escgnn.experiments import (
    ablation,
    brec,
    classification,
    counting,
    efficiency,
    generalisation,
    isomorphism,
    molecules,
    parts,
    qm9,
    rivals,
    side_by_side,
    statistics,
    storage,
    substructures,
)
from escgnn.experiments.experiment import Cell, Experiment, Outcome
from escgnn.experiments.running import reproduce
from escgnn.records import Table

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        counting.EXPERIMENT,
        generalisation.EXPERIMENT,
        ablation.EXPERIMENT,
        isomorphism.EXPERIMENT,
        brec.EXPERIMENT,
        molecules.EXPERIMENT,
        parts.EXPERIMENT,
        substructures.EXPERIMENT,
        statistics.EXPERIMENT,
        efficiency.EXPERIMENT,
        side_by_side.EXPERIMENT,
        storage.EXPERIMENT,
        *rivals.EXPERIMENTS,
        qm9.EXPERIMENT,
        classification.EXPERIMENT,
    )
}


def find(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        ValueError: There is none.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"name: unknown experiment {name!r}; expected one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


__all__ = ["EXPERIMENTS", "Cell", "Experiment", "Outcome", "Table", "find", "reproduce"]
