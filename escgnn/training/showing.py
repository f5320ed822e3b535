"""Runs and results as notebooks show them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from escgnn.markup import table, tag

if TYPE_CHECKING:
    from escgnn.training.folder import FoldResult, Result, Run
    from escgnn.training.members import EnsembleResult


def result_html(result: "Result") -> str:
    """The metrics of a run, those of validation beside those of the test."""
    caption = (
        f"{result.dataset}: epoch {result.best_epoch} of {result.epochs} (stopped: {result.stopped}), seed {result.seed}, "
        f"{result.seconds:.0f} s"
    )
    return _metrics(result, caption)


def ensemble_result_html(result: "EnsembleResult") -> str:
    """The metrics of the mean of an ensemble's predictions."""
    return _metrics(result, f"{result.dataset}: {result.summary}")


def _metrics(result: "Result | EnsembleResult", caption: str) -> str:
    lines = []
    for name, value in result.validation.items():
        lines.append((name, _number(value), _number(result.test.get(name)) if result.test else ""))
    return table(("metric", "validation", "test"), lines, caption)


def folds_html(result: "FoldResult") -> str:
    """The test metric of every fold, and their mean."""
    lines = [(f"fold {number}", _number(fold.test.get(result.metric))) for number, fold in enumerate(result.folds)]
    lines.append(("mean and deviation", f"{result.mean:.4g} ± {result.std:.2g}"))
    return table(("fold", f"test {result.metric}"), lines, f"{result.dataset}, {len(result.folds)} folds")


def run_html(run: "Run") -> str:
    """What a run is: its network, what it reads and predicts, and where it was trained."""
    return members_html(str(run.folder), [run])


def members_html(folder: str, members: Sequence["Run"]) -> str:
    """The same of several that were trained alike."""
    run = members[0]
    weights = sum(weight.numel() for weight in run.model.parameters())
    epochs = ", ".join(str(member.epoch) for member in members)
    times = "" if len(members) == 1 else f"{len(members)} times "
    facts: Mapping[str, str] = {
        "folder": folder,
        "network": f"{times}{run.name}, {weights:,} weights of epoch {epochs}",
        "transform": "none" if run.transform is None else repr(run.transform),
        "reads": ", ".join(run.features) or "bare graphs",
        "predicts": f"{', '.join(run.task.targets)} ({run.task.level} {run.task.kind})",
        "trained on": str(run.dataset.get("name", "unknown")),
    }
    return tag("section", table(("run" if len(members) == 1 else "ensemble", ""), [*facts.items()]))


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"
