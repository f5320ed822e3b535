"""Training the members of an ensemble, one after another, each in a run folder of its own."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from escgnn import limits
from escgnn.datasets import DatasetBundle
from escgnn.training import folder as files
from escgnn.training.config import TrainConfig
from escgnn.training.ensemble import (
    ENSEMBLE,
    MEMBER,
    MOST_MEMBERS,
    calibrate,
    count_members,
    is_ensemble,
    load_ensemble,
)
from escgnn.training.fitting import fit
from escgnn.training.folder import Metrics, Result, plain
from escgnn.training.prediction import evaluate
from escgnn.training.recording import Watch
from escgnn.training.showing import ensemble_result_html
from escgnn.training.team import find_team


@dataclass(frozen=True)
class EnsembleResult:
    """An ensemble: the metrics of the mean of its predictions, and its members' own results.

    Attributes:
        dataset: What was trained on.
        metric: Which of the metrics judges.
        validation: Metrics of the validation graphs; a little too good, as these have chosen each member's epoch.
        test: The same of the test graphs; empty if there were none.
        members: Results of the members.
    """

    dataset: str
    metric: str
    validation: Metrics
    test: Metrics
    members: tuple[Result, ...]

    @property
    def summary(self) -> str:
        """How it went, in words."""
        seconds = sum(member.seconds for member in self.members)
        return f"{len(self.members)} members in {seconds:.0f} s; metrics are of their mean"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return ensemble_result_html(self)


def fit_ensemble(
    bundle: DatasetBundle,
    config: TrainConfig,
    out: str | PathLike[str],
    size: int | None = None,
    *,
    resume: bool = False,
    progress: bool = True,
    watch: Watch | None = None,
) -> EnsembleResult:
    """Train several networks that differ in nothing but their seeds; their mean is better than each, and says how sure it is.

    Args:
        bundle: The dataset.
        config: The settings; member i has the seed ``config.seed + i``.
        out: Where ``member0``, ``member1`` and so on go, ``result.json``, and what `load_ensemble` reads.
        size: Number of members; by default as many as the ensemble in the folder has. It may grow.
        resume: Go on where it was left: members that are done stay as they are.
        progress: Show a bar for each.
        watch: As for `fit`, of each member.

    Raises:
        ValueError: As `fit` does; or the number of members is none, or smaller than that in the folder.
    """
    folder = Path(out)
    team = find_team()
    team.place.check(config.devices, config.nodes)
    wanted = team.first(lambda: _begun(folder, config, size, resume))
    results = []
    for number in range(wanted):
        own = config.model_copy(update={"seed": config.seed + number})
        place = folder / MEMBER.format(number)
        results.append(fit(bundle, own, place, resume=resume, progress=progress, watch=watch))
    values = team.first(lambda: asdict(_concluded(folder, bundle, results)))
    return EnsembleResult(**{**values, "members": tuple(results)})


def _begun(folder: Path, config: TrainConfig, size: int | None, resume: bool) -> int:
    """Make the folder of an ensemble, or look at the one that is there; the number of members."""
    is_begun = resume and is_ensemble(folder)
    before = count_members(folder) if is_begun else 0
    wanted = before if size is None else size
    if not max(2, before) <= wanted <= MOST_MEMBERS or config.seed + wanted - 1 > limits.MOST_SEED:
        had = f", and {folder} has {before}" if before else ""
        raise ValueError(f"ensemble: {wanted} members{had}; expected a number from {max(2, before)} to {MOST_MEMBERS}")
    folder.mkdir(parents=True, exist_ok=True)
    if not is_begun and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; resume the ensemble in it, or choose another folder")
    files.save_json({"members": wanted}, folder / ENSEMBLE)
    return wanted


def _concluded(folder: Path, bundle: DatasetBundle, results: Sequence[Result]) -> EnsembleResult:
    """Judge and calibrate the mean of all members."""
    ensemble = load_ensemble(folder)
    calibrate(ensemble, bundle)
    result = EnsembleResult(
        dataset=bundle.name,
        metric=bundle.task.metric,
        validation=plain(evaluate(ensemble, bundle, "validation")),
        test=plain(evaluate(ensemble, bundle)) if len(bundle.test) else {},
        members=tuple(results),
    )
    files.save_json(result.to_json(), folder / files.RESULT)
    return result
