"""Explanations as one HTML page that needs nothing else: no network, no scripts."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from escgnn import depiction
from escgnn.disk import rejected
from escgnn.explain.molecules import Explained, Explanation
from escgnn.explain.outputs import names_of, units_of
from escgnn.hub import name_of
from escgnn.markup import Markup, join, table, tag
from escgnn.metrics import out_channels
from escgnn.report import document, scrolling
from escgnn.task import Task
from escgnn.training import Ensemble, Run

STYLE = f"""{depiction.STYLE}
.molecules{{display:flex;flex-wrap:wrap;gap:1.5rem 2rem;margin-bottom:1rem}}
.molecules figure{{flex:0 1 auto;min-width:min(100%,9rem);max-width:100%}}
.molecules svg{{zoom:1.5}}
.facts{{display:flex;flex-wrap:wrap;gap:0 3rem;align-items:start}}
.key i{{display:inline-block;width:.9em;height:.9em;border-radius:50%;vertical-align:-.1em;margin:0 .3em 0 .8em}}
.key .up{{background:var(--c1)}}
.key .down{{background:var(--c0)}}
"""
WORDS = {"nodes": "atoms", "edges": "bonds", "positions": "positions", "descriptors": "descriptors"}
MASKED = (
    "Taken out: how much lower the output would be if an atom were not there, with its bonds; everything is computed anew. Atoms "
    "that matter together need not add up."
)
INTEGRATED = (
    "Integrated gradients: what everything an atom says contributes on the way from a network that reads nothing to this "
    "prediction; bonds and the encoding count half at either end. All contributions add up to the difference between the two."
)


def page(run: Run | Ensemble, source: str | PathLike[str], molecules: Iterable[Explained], found: Explanation) -> str:
    """The whole page; molecules that cannot be drawn are added to the rejected ones."""
    articles = []
    for number, one in enumerate(molecules, 1):
        try:
            articles.append(_article(run.task, one, number))
        except ValueError as error:  # RDKit has no picture of it
            found.explained -= 1
            found.rejected.append(rejected(one.line, one.smiles, str(error)))
    lede = f"What {name_of(run.folder)} predicts for {Path(source).name}, and what each atom contributes."
    key = tag(
        "p", "An atom", tag("i", class_="up"), "raises the output,", tag("i", class_="down"), "lowers it.", class_="key"
    )
    notes = [tag("p", MASKED, class_="what"), tag("p", found.word or INTEGRATED, class_="what")]
    head = tag("header", tag("h1", "Why these predictions"), tag("p", lede, class_="lede"), key, *notes)
    return document("Why these predictions", join([head, *articles, _rest(found)]), STYLE)


def shown_outputs(task: Task, prediction: Tensor) -> list[int]:
    """The outputs to draw: every target, and of several classes the most likely."""
    chosen = []
    place = 0
    for single in task.singles:
        width = out_channels(single)
        best = int(prediction[place : place + width].argmax()) if single.kind == "multiclass" else 0
        chosen.append(place + best)
        place += width
    return chosen


def _article(task: Task, one: Explained, number: int) -> Markup:
    names = names_of(task)
    units = units_of(task)
    sections = []
    for place in shown_outputs(task, one.prediction):
        value = float(one.prediction[place])
        kind = "" if units[place] == "units of the target" else "probability "
        heading = tag("h3", f"{names[place]}: {kind}{value:.4g}")
        pictures = [_picture(one, "Taken out", one.masked[:, place])]
        if one.integrated is not None:
            pictures.append(_picture(one, "Integrated gradients", one.integrated.total[:, place]))
        numbers, fold = _sources(one, place)
        facts = tag("div", tag("div", *pictures, class_="molecules"), numbers, class_="facts")
        sections += [heading, tag("p", f"In {units[place]}.", class_="what"), facts, fold, _atoms(one, place)]
    return tag(
        "section",
        tag("h2", f"Line {one.line}", tag("code", one.smiles[:200], class_="label")),
        *sections,
        id_=f"m{number}",
    )


def _picture(one: Explained, title: str, values: Tensor) -> Markup:
    drawn = depiction.molecule(one.smiles, f"{title}: {one.smiles[:80]}", values.tolist())
    return tag("figure", tag("figcaption", title), drawn)


def _sources(one: Explained, place: int) -> tuple[Markup | None, Markup | None]:
    """What the encoding's parts, features and descriptors contribute, and where."""
    rows = []
    gradients = {} if one.integrated is None else one.integrated.by_source
    names = [*gradients, *(f"encoding/{part}" for part in one.parts if f"encoding/{part}" not in gradients)]
    for name in names:
        part = one.parts.get(name.removeprefix("encoding/")) if name.startswith("encoding/") else None
        along = gradients.get(name)
        cells = ["" if values is None else f"{float(values[place]):+.4g}" for values in (along, part)]
        rows.append([_name(name), *cells])
    if one.integrated is not None:
        rows.append(["not accounted for", f"{-float(one.integrated.gap[place]):+.2g}", ""])
        rows.append(["baseline", f"{float(one.integrated.baseline[place]):.4g}", ""])
        rows.append(["output", f"{float(one.integrated.output[place]):.4g}", ""])
    if not rows:
        return None, None
    grid = scrolling("What it is made of", table(("what", "gradients", "at its mean"), rows))
    pictures = []
    if one.integrated is not None:
        largest = max(float(values[:, place].abs().max()) for values in one.integrated.nodes.values())
        for name, values in one.integrated.nodes.items():
            drawn = depiction.molecule(
                one.smiles, f"{_name(name)}: {one.smiles[:80]}", values[:, place].tolist(), largest
            )
            pictures.append(tag("figure", tag("figcaption", _name(name)), drawn))
    fold = tag("details", tag("summary", "Where each contributes"), tag("div", *pictures, class_="molecules"))
    return grid, fold if pictures else None


def _atoms(one: Explained, place: int) -> Markup:
    """The numbers that the pictures show."""
    total = torch.full((len(one.masked),), torch.nan) if one.integrated is None else one.integrated.total[:, place]
    pairs = zip(one.masked[:, place].tolist(), total.tolist(), strict=True)
    rows = [[str(number), f"{out:+.4g}", f"{along:+.4g}"] for number, (out, along) in enumerate(pairs, 1)]
    grid = scrolling("Atoms", table(("atom", "taken out", "gradients"), rows))
    return tag("details", tag("summary", "Numbers of all atoms"), grid)


def _name(source: str) -> str:
    return WORDS.get(source, f"encoding, {source.removeprefix('encoding/')}")


def _rest(found: Explanation) -> Markup | None:
    """Rows that are not on the page, and why."""
    told = []
    if found.left_out:
        told.append(tag("p", f"{found.left_out:,} further rows were not looked at."))
    if found.rejected:
        lines = [tag("li", f"line {row.line}, ", tag("code", row.record), f": {row.reason}") for row in found.rejected]
        told += [tag("p", f"{len(found.rejected):,} rows have no explanation:"), tag("ul", *lines)]
    return tag("section", tag("h2", "What is not here"), *told, id_="rest") if told else None
