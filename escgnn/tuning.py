"""Search for settings with Optuna: every trial is a training run, judged by its validation graphs. Needs Optuna.

```python
result = tune(bundle, "runs/search", trials=50, epochs=30)
training.fit(bundle, result.config, "runs/best")
```
"""

import csv
import errno
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from escgnn import training
from escgnn.datasets import DatasetBundle
from escgnn.disk import atomic, is_full, is_unused, locked
from escgnn.task import Task
from escgnn.training import Recipe, TrainConfig, checked, difference, fingerprint, read_stored

try:
    import optuna
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.trial import TrialState
    from sqlalchemy.exc import SQLAlchemyError
except ImportError:
    raise ImportError("escgnn.tuning needs Optuna: pip install 'escgnn[tune]'") from None

BASE, STUDY, BEST, TABLE = "base.yaml", "study.db", "best.yaml", "trials.csv"
SEARCHED = ("degree", "node", "joint", "edge", "resistance")  # the edge histogram is always kept; counting rests on it
OPTIONAL = tuple(part for part in SEARCHED if part != "edge")
NETWORK: dict[str, BaseDistribution] = {
    "hidden": CategoricalDistribution([32, 64, 128, 256]),
    "layers": IntDistribution(2, 6),
    "lr": FloatDistribution(1e-4, 1e-2, log=True),
}
RADIUS: dict[str, BaseDistribution] = {"hops": IntDistribution(1, 4)}
CHOSEN_PARTS: dict[str, BaseDistribution] = {part: CategoricalDistribution([True, False]) for part in OPTIONAL}
STARTUP = 5  # runs that must have come to their end before one is cut short
STATES = {TrialState.COMPLETE: "complete", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed"}
HARMLESS = {"workers", "keep"}  # may change between two parts of a search


@dataclass(frozen=True)
class Trial:
    """One run of the search.

    Attributes:
        number: From 0; its run folder is ``trial-000`` and so on.
        settings: What was tried.
        value: The validation metric: of the best epoch, or of the last if the run was cut short; None if it failed.
        error: Why it failed, or nothing.
        state: ``"complete"``, ``"pruned"`` if it was cut short for being worse than others, or ``"failed"``.
    """

    number: int
    settings: Mapping[str, Any]
    value: float | None
    error: str
    state: str


@dataclass(frozen=True)
class TuneResult:
    """What a search came to.

    Attributes:
        folder: Where it is.
        metric: What the validation graphs were judged by.
        best: Of the trials that came to their end the one with the best value, the first if there are several.
        config: Its settings, those that were not searched for too.
        trials: All trials.
    """

    folder: Path
    metric: str
    best: Trial
    config: TrainConfig
    trials: tuple[Trial, ...]


def tune(
    bundle: DatasetBundle,
    out: str | PathLike[str],
    *,
    trials: int = 20,
    base: TrainConfig | None = None,
    epochs: int | None = None,
    fixed: Collection[str] = (),
    seed: int = 0,
    timeout: float | None = None,
    prune: bool = True,
    progress: Callable[[Trial], None] | None = None,
    recipe: Recipe | None = None,
) -> TuneResult:
    """Search for the radius and the parts of the encoding, width and depth of the network, and the learning rate.

    Called again with the same folder, the search goes on until there are as many trials, and makes those it would have made;
    a run that was killed goes on, too. The folder has the study (``study.db``), the run folders, and after every trial
    ``trials.csv`` and the settings of the best one, ``best.yaml``. Test graphs play no part in the search.

    A run is cut short when its best epoch so far is worse than the median of the others at that epoch (Golovin et al., Google
    Vizier, KDD 2017). This begins once five runs have come to their end, and leaves every run the first fifth of its epochs.

    Args:
        bundle: The dataset, with one split.
        out: The folder of the search, new or of a search with the same data and ``base``.
        trials: Trials in all, failed ones too.
        base: Settings that are not searched for; by default those of the dataset. What the model does not have is not searched
            for either: without an encoding, neither radius nor parts.
        epochs: Epochs of every run, if not those of ``base``.
        fixed: Settings that are left as ``base`` has them: of lr, hidden, layers, hops and parts; other names mean nothing.
        seed: Decides what is tried.
        timeout: Seconds after which no trial begins.
        prune: Whether runs may be cut short; with several devices they never are.
        progress: Called after every trial.
        recipe: That of your own network, if ``base.model`` is not one of the zoo.

    Raises:
        ValueError: The folder cannot be used, the dataset has no split, or no trial came to an end.
        OSError: The disk is full, for one; called again, the search goes on.
    """
    folder = Path(out)
    base = training.read_config(bundle=bundle, recipe=recipe) if base is None else base
    base = base if recipe is None else base.of(recipe)
    base = base if epochs is None else checked({**base.model_dump(), "epochs": epochs}, recipe)
    space = _space(base, fixed)
    content = fingerprint(bundle)  # complains if there is no split
    end = time.monotonic() + (math.inf if timeout is None else timeout)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "searching"), _study(folder, bundle.task, base, content, recipe) as study:
        killed = deque(study.get_trials(states=(TrialState.RUNNING,)))
        while (killed or len(study.trials) < trials) and time.monotonic() < end:
            trial = killed.popleft() if killed else _ask(study, space, seed)
            _run(study, trial, bundle, base, folder, prune and base.processes == 1, recipe)
            done = _finished(study)
            _write_table(done, space, bundle.task, folder / TABLE)
            if best := _best(done, bundle.task):
                _config(base, best.settings, recipe).save(folder / BEST)
            if progress is not None:
                progress(next(one for one in done if one.number == trial.number))
        done = _finished(study)
    best = _best(done, bundle.task)
    if best is None:
        first = f"; the first: {done[0].error}" if done else ""
        raise ValueError(f"{folder}: none of {len(done)} trials came to an end{first}")
    return TuneResult(folder, bundle.task.metric, best, _config(base, best.settings, recipe), done)


def _space(base: TrainConfig, fixed: Collection[str]) -> dict[str, BaseDistribution]:
    """What is searched for: of all there is, what the model has and nobody has fixed."""
    free = {"lr", *base.network, *base.transform}.difference(fixed)
    space: dict[str, BaseDistribution] = {}
    if "hops" in free:
        space |= RADIUS
    if "parts" in free:
        space |= CHOSEN_PARTS
    space |= {name: one for name, one in NETWORK.items() if name in free}
    if not space:
        raise ValueError(f"fixed: {', '.join(fixed)}; nothing is left to search for")
    return space


@contextmanager
def _study(folder: Path, task: Task, base: TrainConfig, content: str, recipe: Recipe | None) -> Iterator[optuna.Study]:
    """The study of the folder, a new one or one that goes on with the same settings and data."""
    if (folder / BASE).exists():
        if changed := difference(read_stored(folder / BASE, recipe), base, HARMLESS):
            raise ValueError(f"{folder}: cannot go on with other settings; {changed}")
    elif not is_unused(folder):
        raise ValueError(f"{folder} is not empty, and holds no search to go on with")
    else:
        base.save(folder / BASE)
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage: optuna.storages.RDBStorage | None = None
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{(folder / STUDY).resolve()}")
        study = optuna.create_study(
            storage=storage,
            study_name="escgnn",
            direction="minimize" if task.direction == "min" else "maximize",
            load_if_exists=True,
        )
        if study.user_attrs.get("content", content) != content:
            raise ValueError(f"{folder}: cannot go on with other data")
        study.set_user_attr("content", content)
        yield study
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        cause = getattr(error.__cause__ or error, "orig", None) or error.__cause__ or error
        raise OSError(errno.ENOSPC if "full" in str(cause) else errno.EIO, str(cause), str(folder / STUDY)) from error
    finally:
        if storage is not None:
            storage.remove_session()
            storage.engine.dispose()
        optuna.logging.set_verbosity(verbosity)


def _ask(study: optuna.Study, space: dict[str, BaseDistribution], seed: int) -> optuna.Trial:
    """A new trial; it draws from a seed of its own, or a search that goes on would try the same again."""
    own = np.random.SeedSequence([seed, len(study.trials)]).generate_state(1)
    study.sampler = optuna.samplers.TPESampler(seed=int(own[0]))
    return study.ask(space)


def _run(
    study: optuna.Study,
    trial: Any,
    bundle: DatasetBundle,
    base: TrainConfig,
    folder: Path,
    prune: bool,
    recipe: Recipe | None,
) -> None:
    """Train with the settings of a trial, or go on with that, and tell the study."""
    watch = _watch(study, trial, base.epochs) if prune else None
    out = folder / f"trial-{trial.number:03}"
    try:
        config = _config(base, trial.params, recipe)
        result = training.fit(bundle, config, out, resume=True, progress=False, watch=watch, recipe=recipe)
        value = result.validation[bundle.task.metric]
        if value is None:
            raise ValueError(f"{bundle.task.metric} of the validation graphs is not a number")
    except optuna.TrialPruned:
        study.tell(trial.number, state=TrialState.PRUNED)
    except Exception as error:  # whatever it is, other settings may do
        if is_full(error):  # but not on a full disk; the trial goes on with the search
            raise
        study._storage.set_trial_user_attr(trial._trial_id, "error", f"{type(error).__name__}: {error}")
        study.tell(trial.number, state=TrialState.FAIL)
    else:
        study.tell(trial.number, value)


def _watch(study: optuna.Study, trial: Any, epochs: int) -> Callable[[Sequence[float]], None]:
    """Report every epoch to the study, once, and end the run where it should be cut short.

    A run that was killed may have made an epoch that was not reported; it is judged as if it had been.
    """
    study.pruner = optuna.pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=epochs // 5)
    own = trial if isinstance(trial, optuna.Trial) else optuna.Trial(study, trial._trial_id)
    known = {*study.trials[trial.number].intermediate_values}

    def watch(values: Sequence[float]) -> None:
        for epoch, value in enumerate(values):
            if epoch not in known:
                known.add(epoch)
                own.report(value, epoch)
            if epoch == max(known) and own.should_prune():
                raise optuna.TrialPruned

    return watch


def _config(base: TrainConfig, settings: Mapping[str, Any], recipe: Recipe | None) -> TrainConfig:
    """The settings of a trial, over those that are not searched for."""
    changed = base.model_dump()
    changed["lr"] = settings.get("lr", base.lr)
    changed["network"] |= {name: value for name, value in settings.items() if name in base.network}
    if "hops" in settings:
        changed["transform"]["hops"] = settings["hops"]
    if any(part in settings for part in OPTIONAL):
        parts = [part for part in SEARCHED if settings.get(part, True)]
        others = [part for part in base.transform["parts"] if part not in SEARCHED]
        changed["transform"]["parts"] = (*parts, *others)
    return checked(changed, recipe)


def _finished(study: optuna.Study) -> tuple[Trial, ...]:
    """The trials that ended, well or not."""
    return tuple(
        Trial(
            trial.number,
            trial.params,
            trial.value,
            trial.user_attrs.get("error", ""),
            STATES[trial.state],
        )
        for trial in study.get_trials(states=tuple(STATES))
    )


def _best(trials: tuple[Trial, ...], task: Task) -> Trial | None:
    sign = 1 if task.direction == "min" else -1
    ended = [trial for trial in trials if trial.state == "complete"]
    judged = [(sign * trial.value, trial.number, trial) for trial in ended if trial.value is not None]
    return min(judged)[2] if judged else None


def _write_table(trials: tuple[Trial, ...], space: Mapping[str, Any], task: Task, path: Path) -> None:
    with atomic(path) as draft, draft.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["trial", f"validation_{task.metric}", *space, "state", "error"])
        for trial in trials:
            settings = [trial.settings.get(name, "") for name in space]
            value = "" if trial.value is None else trial.value
            table.writerow([trial.number, value, *settings, trial.state, trial.error])
