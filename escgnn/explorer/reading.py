"""What people type or hand over, as a graph that can be drawn: SMILES, graph6, edges by hand, or a graph of the library."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray

from escgnn.graphs import Graph, as_graph, decode_graph6, from_edges, layout
from escgnn.readers import GraphFile, bonds, parse

MOST_NODES = 400  # that can be told apart on a screen
MOST_EDGES = 2_000
MOST_LETTERS = 100_000  # of a text
MOST_NAME = 24  # letters of a node's name that are shown
KINDS = ("auto", "smiles", "graph6", "edges")
HEADERS = (">>graph6<<", ">>sparse6<<")
NUMBERS = re.compile(r"\d+(-\d+)?")
BETWEEN_ENDS = re.compile(r"\s*-\s*|\s+")


@dataclass(frozen=True, eq=False)
class Subject:
    """A graph with all that it takes to draw it.

    Attributes:
        graph: The graph.
        points: Where its nodes are, between 0 and 1, ``(nodes, 2)``.
        names: What stands in the nodes.
        orders: Of each undirected edge how often it is drawn: 1, 2 or 3, and 1.5 for an aromatic bond.
        title: What it is.
        smiles: The molecule, if it is one.
    """

    graph: Graph
    points: NDArray[np.float64]
    names: tuple[str, ...]
    orders: tuple[float, ...]
    title: str
    smiles: str = ""


def read(given: Any, kind: str = "auto", *, title: str = "") -> Subject:
    """The graph that is meant.

    Args:
        given: A text, or whatever `escgnn.graphs.as_graph` takes. A text is a SMILES, a line of graph6 or sparse6, or edges
            such as ``0-1 1-2`` or ``a b, b c``, a lone name being a node without edges.
        kind: What a text is: ``"smiles"``, ``"graph6"``, ``"edges"``, or ``"auto"``: edges if it looks like numbers two by
            two, else graph6 if it begins with its header, else SMILES, and graph6 if it is none.
        title: What to call it, instead of the text.

    >>> read("0-1 1-2").graph, read(">>graph6<<Cl").graph
    (Graph(nodes=3, edges=2), Graph(nodes=4, edges=4))

    Raises:
        ValueError: It cannot be read, or is too large to be drawn.
        ImportError: It may be a SMILES, and RDKit is not installed.
    """
    if isinstance(given, Subject):
        return given
    if not isinstance(given, str):
        return _plain(given, title)
    if kind not in KINDS:
        raise ValueError(f"kind: {kind!r}; expected one of {', '.join(KINDS)}")
    if not given.strip():
        raise ValueError("graph: the text is empty; expected a SMILES, graph6, or edges such as 0-1 1-2")
    if len(given) > MOST_LETTERS:
        raise ValueError(f"graph: a text of {len(given):,} letters; at most {MOST_LETTERS:,} are read")
    text = given.strip()
    title = title or _short(text, 60)
    if kind == "auto":
        kind = _guess(text)
    if kind == "smiles":
        return _molecule(text, title)
    return _edges(text, title) if kind == "edges" else _graph6(text, title)


def read_file(path: str | PathLike[str], row: int = 0) -> Subject:
    """One graph of a file, by its number among those that can be read.

    Raises:
        ValueError: There is no such graph, or it is too large to be drawn.
        OSError: The file cannot be opened.
    """
    file = GraphFile(path)
    place = row
    if file.format == "edges":
        for chunk in file:
            if place < chunk.graphs.num_graphs:
                return _plain(chunk.graphs.split()[place], f"{file.path.name}, {chunk.ids[place]}")
            place -= chunk.graphs.num_graphs
    else:
        for rows in file.rows():
            if place < len(rows.texts):
                if place in rows.trouble:
                    raise ValueError(f"{path}: {rows.trouble[place]}")
                return read(rows.texts[place], file.format)
            place -= len(rows.texts)
    raise ValueError(f"row: {row}; {path} has fewer graphs, and the first is 0")


def moved(subject: Subject, points: Sequence[Sequence[float]]) -> Subject:
    """The same graph, its nodes where somebody has put them."""
    given = np.asarray(points, float)
    if given.shape != subject.points.shape or not np.isfinite(given).all():
        raise ValueError(f"points: shape {given.shape}; expected two finite numbers for each of the nodes")
    return Subject(subject.graph, given.clip(0, 1), subject.names, subject.orders, subject.title, subject.smiles)


def _guess(text: str) -> str:
    if text.startswith(HEADERS):
        return "graph6"
    if all(NUMBERS.fullmatch(word) for word in re.split(r"[\s,;]+", text) if word):
        return "edges"
    try:
        parse(text)
    except ImportError:  # no molecules here, so it is none
        return "graph6"
    except ValueError:
        try:
            decode_graph6(text)
        except ValueError:
            return "smiles"  # whose complaint says more
        return "graph6"
    return "smiles"


def check_size(nodes: int, edges: int) -> None:
    """Complain about what nobody can look at.

    Raises:
        ValueError: It is too large.
    """
    if nodes > MOST_NODES or edges > MOST_EDGES:
        raise ValueError(
            f"graph: {nodes:,} nodes and {edges:,} edges; the explorer draws at most {MOST_NODES:,} and {MOST_EDGES:,}. "
            "Cut out a part of it, or use escgnn encode and escgnn count"
        )
    if not nodes:
        raise ValueError("graph: it has no nodes; expected at least one")


def _plain(given: Any, title: str) -> Subject:
    graph = as_graph(given)
    check_size(graph.num_nodes, graph.num_edges)
    names = tuple(map(str, range(graph.num_nodes)))
    if isinstance(given, networkx.Graph):
        names = tuple(_short(str(node), MOST_NAME) for node in given)
    return _drawn(graph, names, title or repr(graph))


def _drawn(graph: Graph, names: tuple[str, ...], title: str) -> Subject:
    check_size(graph.num_nodes, graph.num_edges)
    return Subject(graph, layout(graph.to_networkx()), names, (1.0,) * graph.num_edges, title)


def _graph6(text: str, title: str) -> Subject:
    nodes, edges = decode_graph6(text)
    check_size(nodes, len(edges))
    return _drawn(from_edges(edges, nodes), tuple(map(str, range(nodes))), title)


def _edges(text: str, title: str) -> Subject:
    """Pairs of names between commas, semicolons and line ends, or numbers joined by hyphens between spaces."""
    pieces = re.split(r"[,;\n]", text)
    if all("-" in word for word in text.replace(",", " ").replace(";", " ").split()):
        pieces = text.replace(",", " ").replace(";", " ").split()
    number: dict[str, int] = {}
    pairs = []
    for piece in filter(None, map(str.strip, pieces)):
        names = BETWEEN_ENDS.split(piece)
        if len(names) > 2 or not all(names):
            raise ValueError(f"edges: {_short(piece, 40)!r}; expected two names such as 0-1, with commas between edges")
        ends = [number.setdefault(name, len(number)) for name in names]
        if len(ends) == 2:
            pairs.append((ends[0], ends[1]))
    if all(name.isascii() and name.isdigit() for name in number):  # numbers keep their order
        order = sorted(number, key=int)
        place = {number[name]: new for new, name in enumerate(order)}
        pairs = [(place[u], place[v]) for u, v in pairs]
        number = {name: new for new, name in enumerate(order)}
    check_size(len(number), len({(min(pair), max(pair)) for pair in pairs}))
    graph = from_edges([pair for pair in pairs if pair[0] != pair[1]], len(number))
    return _drawn(graph, tuple(_short(name, MOST_NAME) for name in number), title)


def _molecule(text: str, title: str) -> Subject:
    molecule = parse(text)
    check_size(molecule.GetNumAtoms(), molecule.GetNumBonds())
    from rdkit.Chem import rdDepictor

    graph = from_edges(bonds(molecule), molecule.GetNumAtoms())
    rdDepictor.Compute2DCoords(molecule)
    places = np.asarray(molecule.GetConformer().GetPositions())[:, :2] * (1, -1)  # y grows downwards on a screen
    low, high = places.min(0), places.max(0)
    points = (places - (low + high) / 2) / max(float((high - low).max()), 1e-9) + 0.5
    kinds = (bond.GetBondTypeAsDouble() for bond in molecule.GetBonds())
    order = {(min(pair), max(pair)): kind for pair, kind in zip(bonds(molecule), kinds, strict=True)}
    return Subject(
        graph,
        points,
        tuple(_atom(atom) for atom in molecule.GetAtoms()),
        tuple(order[u, v] for u, v in graph.edges.tolist()),
        title,
        text.split()[0],
    )


def _atom(atom: Any) -> str:
    """The symbol, and the charge if there is one."""
    charge = atom.GetFormalCharge()
    if not charge:
        return str(atom.GetSymbol())
    size = "" if abs(charge) == 1 else str(abs(charge))
    return f"{atom.GetSymbol()}{size}{'+' if charge > 0 else '-'}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
