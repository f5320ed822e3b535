"""A run in words for those who did not train it: a Markdown card, as model hubs show it."""

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from escgnn.hub import name_of
from escgnn.review.measuring import COVERAGE, Review


def card(review: Review, *, baseline: str | PathLike[str] | None = None) -> str:
    """The card: data, split, seeds, scores, baseline and coverage where they are known, and limits.

    Args:
        review: What `review` gives.
        baseline: Folder of a baseline, whose ``result.json`` has scores by name.

    Raises:
        ValueError: The baseline's file is missing or damaged.
    """
    run = review.run
    lines = ["---", "library_name: escgnn", "tags: [graph-neural-network, molecules]", "---", ""]
    lines += [f"# {name_of(run.folder)}", ""]
    lines += [
        f"Predicts {', '.join(f'`{one.targets[0]}` ({one.kind})' for one in run.task.singles)} of a molecular graph."
    ]
    lines += ["", "```python", "from escgnn import training", "", 'run = training.load_ensemble("hf://USER/NAME")']
    lines += ['training.predict_file(run, "molecules.csv", "predicted.csv")', "```", ""]
    lines += _data(review)
    lines += _scores(review)
    if baseline is not None:
        lines += _baseline(Path(baseline))
    if review.coverage:
        held = [f"- `{name}`: {share:.1%}" for name, share in review.coverage.items()]
        lines += [f"## Coverage of intervals of {COVERAGE:.0%}", "", *held, ""]
    lines += _limits(review)
    return "\n".join(lines).rstrip() + "\n"


def _data(review: Review) -> list[str]:
    run = review.run
    seeds = sorted({member.get("seed") for member in review.result.get("members", [review.result])} - {None})
    rows = [
        ("data", str(run.dataset.get("name", "unknown"))),
        ("sha256 of the data", str(run.dataset.get("sha256", "") or "unknown")),
        ("training, validation, test rows", _split(review)),
        ("network", f"{run.members[0].name}, {run.size} of it" if run.size > 1 else run.members[0].name),
        ("transform", f"`{run.transform!r}`" if run.transform is not None else "none"),
        ("seeds", ", ".join(map(str, seeds)) or "unknown"),
        ("commit", str(review.made.get("commit") or "unknown")),
    ]
    return ["## Data and training", "", *_table(("", ""), rows), ""]


def _split(review: Review) -> str:
    split = review.run.split
    return "unknown" if split is None else ", ".join(f"{len(part):,}" for part in split)


def _scores(review: Review) -> list[str]:
    if review.metrics:
        rows = [(name, f"{one.value:.4g}", f"{one.low:.4g} to {one.high:.4g}") for name, one in review.metrics.items()]
        head = ("metric", f"{review.subset}, {review.rows:,} rows", "95 % by bootstrap")
        return ["## Scores", "", *_table(head, rows), ""]
    found: Mapping[str, Any] = review.result.get("test") or {}
    rows_stored = [(name, "undefined" if value is None else f"{value:.4g}") for name, value in found.items()]
    if not rows_stored:
        return ["## Scores", "", "It has not been judged on test rows.", ""]
    return ["## Scores", "", *_table(("metric", "test"), rows_stored), ""]


def _baseline(folder: Path) -> list[str]:
    path = folder / "result.json"
    try:
        found = json.loads(path.read_text())
        rows = [
            (name, _score(scores.get("validation")), _score(scores.get("test")))
            for name, scores in found["scores"].items()
        ]
        verdict = str(found.get("verdict", ""))
        metric = str(found["metric"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"baseline: {path} is not the result of a baseline; {error}") from error
    return [
        f"## Beside trees on fingerprints ({metric})",
        "",
        *_table(("", "validation", "test"), rows),
        "",
        verdict,
        "",
    ]


def _score(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else "unknown"


def _limits(review: Review) -> list[str]:
    words = [
        "It knows molecules like those it was trained on; rows that are far from them, which "
        "`predict --similarity` tells, may be wrong without looking so.",
        "Validation rows chose the epoch, so their scores are a little too good; test rows did not.",
        "A scaffold split asks for more than a random one; compare scores of the same split only.",
    ]
    bands = (
        [band for place, _ in enumerate(review.run.task.singles) for band in review.bands(place)] if review.rows else []
    )
    if len(bands) > 1:
        words.append(
            f"Mean error at a similarity of {bands[0].low:g} to {bands[0].high:g}: {bands[0].error:.4g} "
            f"({bands[0].rows:,} rows); of {bands[-1].low:g} to {bands[-1].high:g}: {bands[-1].error:.4g}."
        )
    return ["## Limits", "", *(f"- {line}" for line in words), ""]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    titles = [*head]
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for row in rows:
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |")
    return lines
