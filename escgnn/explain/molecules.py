"""The molecules of a file, each with what its prediction owes to what; a bad row is kept, and says why."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from escgnn.disk import Rejected, atomic, rejected
from escgnn.explain.gradients import STEPS, Integrated, integrated, masked_parts
from escgnn.explain.masking import MOST_ATOMS, masked
from escgnn.readers import GraphFile
from escgnn.store import GraphStore
from escgnn.training import Ensemble, Run, feature_set, given_graphs, predict, read_given, smiles_column

MOST_ROWS = 100  # on a page, unless more are asked for
LETTERS = 1 << 14  # of a chunk


@dataclass(frozen=True, eq=False)
class Explained:
    """One molecule and its explanation.

    Attributes:
        line: Where it stands in the file, from 1.
        smiles: The molecule.
        prediction: As `escgnn.training.predict` has it, ``(outputs,)``.
        masked: How much lower every output would be without each atom, ``(atoms, outputs)``.
        integrated: Integrated gradients; None if the network cannot be followed.
        parts: How much lower every output would be with a part of the encoding at its mean.
    """

    line: int
    smiles: str
    prediction: Tensor
    masked: Tensor
    integrated: Integrated | None
    parts: dict[str, Tensor]


@dataclass
class Explanation:
    """What came of a file.

    Attributes:
        path: The page.
        explained: How many molecules are on it.
        rejected: Rows that have no explanation, and why.
        left_out: Rows that were not looked at, because there are enough.
        word: Why there are no integrated gradients; nothing if there are.
    """

    path: Path
    explained: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    left_out: int = 0
    word: str = ""


def explain_molecules(
    run: Run | Ensemble,
    source: str | PathLike[str],
    found: Explanation,
    *,
    smiles: str | None = None,
    rows: int = MOST_ROWS,
    steps: int = STEPS,
) -> Iterator[Explained]:
    """The molecules of a file, one by one; ``found`` is filled on the way.

    Raises:
        ValueError: The file holds no molecules, or has no rows; or predictions are not of graphs.
    """
    file = GraphFile(source, smiles=smiles_column(run, source) if smiles is None else smiles)
    if file.format != "smiles":
        raise ValueError(f"{source} holds bare graphs; expected molecules, as SMILES, which can be drawn")
    seen = 0
    for chunk in file.rows(None, letters=LETTERS):
        seen += len(chunk.texts)
        if seen - len(chunk.texts) >= rows:
            found.left_out += len(chunk.texts)
            continue
        given = read_given(chunk, feature_set(run))
        graphs = given_graphs(run, given)
        place = 0
        for number, status in enumerate(given.status):
            text = given.texts[number]
            is_wanted = seen - len(chunk.texts) + number < rows
            found.left_out += not is_wanted
            if status == "ok":
                graph: GraphStore = graphs[[place]]
                place += 1
                try:
                    if is_wanted:
                        one = _explained(run, graph, given.lines[number], text, found, steps)
                        found.explained += 1
                        yield one
                except ValueError as error:
                    found.rejected.append(rejected(given.lines[number], text, str(error)))
            elif is_wanted:
                found.rejected.append(rejected(given.lines[number], text, status))
    if not seen:
        raise ValueError(f"{source} has no rows")


def _explained(
    run: Run | Ensemble, graph: GraphStore, line: int, text: str, found: Explanation, steps: int
) -> Explained:
    if graph.num_nodes_total > MOST_ATOMS:
        raise ValueError(f"a molecule of {graph.num_nodes_total:,} atoms; at most {MOST_ATOMS} are explained")
    taken_out = masked(run, graph)[0]
    gradients = None
    if not found.word:
        try:
            gradients = integrated(run, graph, steps)[0]
        except ValueError as error:
            found.word = str(error)
    parts = masked_parts(run, graph)[0]
    prediction = predict(run, graph)[0]
    if not torch.isfinite(prediction).all():
        raise ValueError("its prediction is not a number")
    return Explained(line, text, prediction, taken_out, gradients, parts)


def explain_file(
    run: Run | Ensemble,
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    smiles: str | None = None,
    rows: int = MOST_ROWS,
    steps: int = STEPS,
) -> Explanation:
    """Explain the molecules of a file on one page that needs nothing else: no network, no scripts.

    Args:
        run: What `load_run` or `load_ensemble` gives.
        source: A table with SMILES, or lines of SMILES.
        output: The .html file, written whole or not at all.
        smiles: Column with the SMILES, if it is neither called as in the training table nor smiles.
        rows: Most rows to look at, the first ones.
        steps: Points of the path of integrated gradients.

    Raises:
        ValueError: The file holds no molecules, the output is no page or would replace the file, or predictions are not of
            graphs.
        OSError: A file cannot be opened.
    """
    from escgnn.explain.page import page

    target = Path(output)
    if target.suffix.lower() != ".html" or target.resolve() == Path(source).resolve():
        raise ValueError(f"output: {output}; expected a file that ends in .html, and is not the input")
    if rows < 1:
        raise ValueError(f"rows: {rows}; expected a number from 1")
    found = Explanation(target)
    content = page(run, source, explain_molecules(run, source, found, smiles=smiles, rows=rows, steps=steps), found)
    with atomic(target) as draft:
        draft.write_text(content, encoding="utf-8")
    return found
