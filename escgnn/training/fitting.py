"""Training: one split, or all folds of a cross-validation."""

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch import Trainer
from lightning.pytorch.utilities.seed import isolate_rng
from torch import Tensor

from escgnn import zoo
from escgnn.datasets import DatasetBundle
from escgnn.disk import is_unused, locked
from escgnn.loader import Loader
from escgnn.metrics import METRICS, Scaling, choose_loss, class_weights, out_channels, score
from escgnn.pictures import draw_curves
from escgnn.store import GraphStore
from escgnn.training import folder as files
from escgnn.training.checkpoints import AGAIN, check_state, history_in, read_checkpoint
from escgnn.training.config import TrainConfig, continued, difference, read_stored
from escgnn.training.ensemble import Ensemble, calibrate
from escgnn.training.fingerprints import fingerprint
from escgnn.training.folder import FoldResult, Result, plain
from escgnn.training.module import Batches, Learner, Standardised, seed_all
from escgnn.training.pieces import Splitting
from escgnn.training.prediction import evaluate
from escgnn.training.recording import (
    AtomicIO,
    Bar,
    History,
    Recorder,
    Watch,
    quiet,
    write_metrics,
)
from escgnn.training.running import BATCH
from escgnn.training.team import Team, find_team
from escgnn.training.transfer import check_transfer, rest, taken_weights
from escgnn.zoo import Recipe

PRECISION: dict[str, Any] = {"32": "32-true", "64": "64-true", "bf16-mixed": "bf16-mixed", "16-mixed": "16-mixed"}
HARMLESS = {"workers", "keep"}  # settings that do not change what is computed


def fit(
    bundle: DatasetBundle,
    config: TrainConfig,
    out: str | PathLike[str],
    *,
    resume: bool = False,
    progress: bool = True,
    watch: Watch | None = None,
    recipe: Recipe | None = None,
) -> Result:
    """Train a network on a dataset with one split, and judge the weights of the best validation epoch on its test graphs.

    Without test graphs there are no test metrics, and ``Result.test`` is empty.

    The run folder holds ``config.yaml``, ``metrics.csv``, ``last.ckpt``, ``model.safetensors`` and ``model.json``, and at the
    end ``result.json``, ``curves.png`` and what intervals and similarities need, ``calibration.safetensors`` and, of a
    table of SMILES, ``known.safetensors``. Every file is written whole or not at all, so that a run that is killed loses at
    most the current epoch; resumed on a CPU, it gives exactly the result that it would have given.

    Of several processes that torchrun or srun has started, all of which call this, the first one writes; the others get the
    same result, or its error.

    Args:
        bundle: The dataset.
        config: The settings.
        out: The run folder, which must be empty or not there, unless a run is resumed.
        resume: Go on with the run in the folder, if there is one. Its settings and data must be the same; there may be
            more epochs, unless the schedule depends on their number.
        progress: Show a bar.
        watch: Called with the validation metrics of all epochs so far, after each epoch but the last, and before a run that is
            resumed goes on. What it raises ends the run, which can be resumed. Only with one process.
        recipe: That of your own network, if ``config.model`` is not one of the zoo.

    Raises:
        ValueError: The settings do not suit the dataset, or the folder cannot be used.
        OSError: The disk is full, for one; the run can be resumed from the last epoch that was written.
    """
    folder = Path(out)
    recipe = recipe or zoo.recipe_of(config.model)
    config = config.of(recipe)
    if resume and (folder / files.CONFIG).is_file():
        config = continued(folder / files.CONFIG, config, _own(recipe))
    _check(bundle, config)
    if watch is not None and config.processes > 1:
        raise ValueError(f"watch: it cannot follow {config.processes} devices")
    team = find_team()
    team.place.check(config.devices, config.nodes)
    with quiet(), isolate_rng():
        seed_all(config.seed)
        each, once = recipe.transforms(config.transform)
        network = recipe.build(
            config.network, each, once, task=bundle.task, features=bundle.features, graphs=bundle.train
        )
        learner = Learner(network, bundle.task, Scaling.of(bundle), config, _class_weights(bundle, config))
        if config.freeze:
            rest(network)
        trainer = _trainer(folder, bundle.name, learner, team, progress, watch)
        if not (resume and (folder / files.CHECKPOINT).is_file()):
            check_transfer(network, bundle.task, config)
        with ExitStack() as stack:

            def begin() -> bool:
                """Make the folder this process's own, and say whether there is something left to train."""
                folder.mkdir(parents=True, exist_ok=True)  # nothing is written before all settings are known to be good
                stack.enter_context(locked(folder, "training"))
                history = _prepare(folder, bundle, learner, recipe, resume)
                is_over = bool(history.stopped(config.epochs, config.early_stopping))
                if watch is not None and history.rows and not is_over:
                    watch(history.values)
                return not is_over

            if team.first(begin):
                _train(folder, bundle, learner, trainer, recipe, team)
            return Result(**team.first(lambda: asdict(_finish(folder, bundle, learner, recipe))))


def fit_folds(
    bundle: DatasetBundle,
    config: TrainConfig,
    out: str | PathLike[str],
    *,
    resume: bool = False,
    progress: bool = True,
    recipe: Recipe | None = None,
) -> FoldResult:
    """Train a new network on every fold of a cross-validation, each in a run folder of its own below ``out``.

    Args:
        bundle: A dataset with folds.
        config: The settings, the same for all.
        out: Where ``fold0``, ``fold1`` and so on go, and ``result.json`` with the mean over folds.
        resume: Go on where it was left.
        progress: Show bars.
        recipe: That of your own network, if ``config.model`` is not one of the zoo.

    Raises:
        ValueError: As `fit` does; or the dataset has no folds, or one without test graphs.
    """
    if not bundle.folds:
        raise ValueError(f"bundle: {bundle.name} has no folds; use fit")
    for number, split in enumerate(bundle.folds):
        if not len(split.test):
            raise ValueError(
                f"bundle: fold {number} of {bundle.name} has no test graphs, so there is no mean over folds"
            )
    folder = Path(out)
    team = find_team()
    team.place.check(config.devices, config.nodes)

    def begin() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if not resume and any(folder.iterdir()):
            raise ValueError(f"{folder} is not empty; resume the run in it, or choose another folder")

    team.first(begin)
    results = [
        fit(bundle.fold(i), config, folder / f"fold{i}", resume=resume, progress=progress, recipe=recipe)
        for i in range(len(bundle.folds))
    ]
    result = FoldResult.of(results)
    team.first(lambda: files.save_json(result.to_json(), folder / files.RESULT))
    return result


def _own(recipe: Recipe) -> Recipe | None:
    """The recipe, if it is not one of the zoo, where settings that were stored say which."""
    return None if recipe.name in zoo.ZOO else recipe


def _check(bundle: DatasetBundle, config: TrainConfig) -> None:
    """Complain at once about what would fail later."""
    task = bundle.task
    if task.level == "pair":
        raise ValueError(f"bundle: {bundle.name} asks which graphs differ; there is nothing to learn")
    if task.metric not in METRICS[task.kind]:
        raise ValueError(f"bundle: metric {task.metric!r} does not suit {task.kind} targets")
    choose_loss(config.loss, task)
    if config.balance and task.kind == "regression":
        raise ValueError("balance: it is for classes, and these targets are numbers")
    if config.smoothing and task.kind == "regression":
        raise ValueError("smoothing: it is for classes, and these targets are numbers")
    sizes = {name: len(getattr(bundle, name)) for name in ("train", "validation", "test")}
    for name, size in sizes.items():
        if not size and name != "test":
            found = ", ".join(f"{number} {part}" for part, number in sizes.items())
            raise ValueError(
                f"bundle: {bundle.name} has no {name} graphs; its {len(bundle.graphs)} usable rows give {found}. "
                "Add rows, or choose yourself by the argument split: column:NAME or file:PATH"
            )
    y = bundle.validation.column("y")
    if math.isnan(score(task, Scaling.of(bundle), torch.zeros(len(y), out_channels(task)), y)[task.metric]):
        raise ValueError(
            f"bundle: {task.metric} of the validation targets is undefined; they are unknown, or all the same. Choose another "
            "split, such as random, column:NAME or file:PATH"
        )


def _class_weights(bundle: DatasetBundle, config: TrainConfig) -> list[Tensor] | None:
    return class_weights(bundle.task, bundle.train.column("y")) if config.balance else None


def _prepare(folder: Path, bundle: DatasetBundle, learner: Learner, recipe: Recipe, resume: bool) -> History:
    """Make the folder ready: that of a new run, or of one that goes on; and say what it has done."""
    config = learner.config
    for name in files.FILES:
        for draft in folder.glob(f".{name}.*"):  # of a process that was killed
            draft.unlink()
    history = History(bundle.task, config.select)
    if not is_unused(folder):
        if not resume:
            raise ValueError(f"{folder} is not empty; resume the run in it, or choose another folder")
        _check_same(folder, bundle, config, recipe)
        if (folder / files.CHECKPOINT).exists():
            checkpoint = _restore(history, folder, learner)
            if not history.stopped(config.epochs, config.early_stopping):
                steps = math.ceil(len(bundle.train) / config.batch_size)
                check_state(checkpoint, folder / files.CHECKPOINT, learner, len(history.rows), steps)
    if len(history.rows) > config.epochs:
        raise ValueError(f"epochs: {config.epochs}, but {folder} has trained {len(history.rows)}")
    config.save(folder / files.CONFIG)
    return history


def _restore(history: History, folder: Path, learner: Learner) -> dict[str, Any]:
    """Take the history from the checkpoint of a folder, and give all of that."""
    path = folder / files.CHECKPOINT
    checkpoint = read_checkpoint(path)
    history.restore(history_in(checkpoint, path, learner.task, learner.network.state_dict(), history.state().keys()))
    return checkpoint


def _check_same(folder: Path, bundle: DatasetBundle, config: TrainConfig, recipe: Recipe) -> None:
    if not (folder / files.CONFIG).exists():
        raise ValueError(f"{folder} is not empty, and holds no run to resume")
    old = read_stored(folder / files.CONFIG, _own(recipe))
    ignore = HARMLESS | ({"epochs"} if config.schedule != "cosine" else set())
    if changed := difference(old, config, ignore):
        raise ValueError(f"{folder}: cannot resume with other settings; {changed}")
    if (folder / files.ABOUT).exists():
        trained = files.read_json(folder / files.ABOUT).get("dataset")
        if not isinstance(trained, dict) or not {"name", "content"} <= trained.keys():
            raise ValueError(f"{folder / files.ABOUT}: {files.NO_MODEL}; it does not say what was trained on")
        if trained["content"] != fingerprint(bundle):
            raise ValueError(
                f"{folder}: cannot resume with other data; it was trained on {trained['name']} "
                f"{trained['content']!s:.12}, and {bundle.name} is {fingerprint(bundle)[:12]}"
            )


def _trainer(folder: Path, title: str, learner: Learner, team: Team, progress: bool, watch: Watch | None) -> Trainer:
    config = learner.config
    try:
        return Trainer(
            accelerator=config.accelerator,
            devices=config.devices,
            num_nodes=config.nodes,
            strategy=team.strategy(config.devices),
            precision=PRECISION[config.precision],
            max_epochs=config.epochs,
            gradient_clip_val=config.gradient_clip,
            callbacks=[Recorder(folder, learner, watch), *([Bar(title)] if progress else [])],
            plugins=[AtomicIO(), team.environment()],
            default_root_dir=folder,
            num_sanity_val_steps=0,
            use_distributed_sampler=False,  # see `Shares`
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
    except (MisconfigurationException, ValueError) as error:
        raise ValueError(f"accelerator {config.accelerator}, devices {config.devices}: {error}") from error


def _train(folder: Path, bundle: DatasetBundle, learner: Learner, trainer: Trainer, recipe: Recipe, team: Team) -> None:
    config = learner.config
    network = learner.network
    checkpoint = folder / files.CHECKPOINT
    resumed = team.first(checkpoint.exists)
    if resumed and not checkpoint.exists():
        raise ValueError(f"{checkpoint}: the first process sees it, this one does not; expected a disk of all nodes")
    transform, once = recipe.transforms(config.transform)
    complete = bundle if once is None else replace(bundle, graphs=once(bundle.graphs))
    batches = Batches(complete, config, transform)
    if not resumed:
        loaders = [
            Loader(part.graphs, config.batch_size, transform=part.transform, workers=config.workers)
            for part in batches.parts.values()
        ]
        training, validation = (Standardised(loader, bundle.task, learner.scaling) for loader in loaders)
        network.prepare(training, validation, transform)
        if config.init_from is not None:
            network.load_state_dict(taken_weights(network, bundle.task, config), strict=False)
        if team.is_first:
            files.save_json(files.describe(network, recipe, bundle, config, learner.scaling), folder / files.ABOUT)
    blamed = checkpoint if resumed and config.processes == 1 else None
    on_cpu = trainer.strategy.root_device.type == "cpu"
    with team.connected(on_cpu=on_cpu), _interruptible(), _blamed(blamed, trainer):
        trainer.fit(learner, datamodule=batches, ckpt_path=checkpoint if resumed else None)


@contextmanager
def _blamed(checkpoint: Path | None, trainer: Trainer) -> Iterator[None]:
    """What goes wrong before a resumed run begins to train is the checkpoint's fault, and is told as that."""
    try:
        yield
    except Exception as error:
        (recorder,) = (one for one in trainer.callbacks if isinstance(one, Recorder))  # type: ignore[attr-defined]
        if checkpoint is None or recorder.began or isinstance(error, OSError):
            raise
        words = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{checkpoint} is damaged: {words:.200}; {AGAIN}") from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """An interrupt stays one: Lightning would end the program, and ignore all further ones."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit:
        raise KeyboardInterrupt from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _finish(folder: Path, bundle: DatasetBundle, learner: Learner, recipe: Recipe) -> Result:
    """Judge the best epoch, and write what is left to write. The checkpoint is the truth; other files follow it."""
    config = learner.config
    history = History(bundle.task, config.select)
    _restore(history, folder, learner)
    if history.best_epoch < 0:
        raise ValueError(
            f"{folder}: training diverged; no validation metric was a number. Lower lr, or clip gradients, in another "
            "folder, or delete this one: there is nothing in it to go on with"
        )
    write_metrics(history.rows, folder / files.METRICS)
    files.save_weights(history.best_weights, folder / files.WEIGHTS, history.best_epoch)
    validation = history.best_metrics
    run = files.load_run(folder, recipe)
    if run.model.conclude(_validation_batches(run, bundle.validation)):
        files.save_weights(run.model.state_dict(), folder / files.WEIGHTS, history.best_epoch)
        validation = evaluate(run, bundle, "validation")
    calibrate(Ensemble(folder, (run,)), bundle)
    draw_curves(history.rows, bundle.task.metric, history.best_epoch, folder / files.CURVES)
    result = Result(
        dataset=bundle.name,
        metric=bundle.task.metric,
        best_epoch=history.best_epoch,
        epochs=len(history.rows),
        stopped=history.stopped(config.epochs, config.early_stopping),
        validation=plain(validation),
        test=plain(evaluate(run, bundle)) if len(bundle.test) else {},
        seed=config.seed,
        seconds=sum(row["seconds"] for row in history.rows),
        cpu_seconds=sum(row.get("cpu_seconds", 0.0) for row in history.rows),
    )
    files.save_json(result.to_json(), folder / files.RESULT)
    return result


def _validation_batches(run: files.Run, graphs: GraphStore) -> Standardised:
    """The validation graphs as a network sees them that is asked for its last word."""
    graphs = graphs if run.once is None else run.once(graphs)
    loader = Loader(graphs, BATCH, transform=Splitting(run.transform))
    return Standardised(loader, run.task, run.scaling, dtype=torch.float64)
