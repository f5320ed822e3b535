"""See what the library computes: the encoding of a graph, edge by edge, and two graphs under tests, round by round.

```python
from escgnn import explorer, graphs

explorer.view("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", hops=2)  # in a notebook; click an edge, point at a bin
explorer.view(graphs.petersen()).save("petersen.html")  # one file that needs nothing else
explorer.compare(graphs.rook(4), graphs.shrikhande())  # or compare("rook")
```

``escgnn explore`` is the same for what you type, paste or draw.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from escgnn.encoding import RootedEncoding
from escgnn.explorer import presets
from escgnn.explorer.comparison import compared, usual_tests
from escgnn.explorer.page import Page
from escgnn.explorer.prediction import Line, Prediction, predicted
from escgnn.explorer.reading import Subject, read, read_file
from escgnn.explorer.scene import Root, Scene
from escgnn.explorer.server import Server
from escgnn.wl import WLTest

if TYPE_CHECKING:
    from escgnn.training import Ensemble, Run

__all__ = [
    "Line",
    "Page",
    "Prediction",
    "Server",
    "Subject",
    "compare",
    "predicted",
    "presets",
    "read",
    "read_file",
    "view",
]


def view(
    graph: Any,
    hops: int | Sequence[int] = 2,
    parts: Sequence[str] = RootedEncoding().parts,
    *,
    roots: Sequence[Root] | None = None,
    title: str = "",
    run: "Run | Ensemble | Prediction | None" = None,
    **options: Any,
) -> Page:
    """A page on which every edge of a graph can be clicked: its rooted subgraph, histograms and counts.

    Args:
        graph: A SMILES, or whatever else `read` takes.
        hops: Radius of the rooted subgraphs, or several.
        parts: Histograms to show.
        roots: Which 2-tuples (u, v) can be looked at, equal and not adjacent ones too; every edge in both directions if None.
        title: Above the picture.
        run: A trained run, whose prediction is shown, too; or a prediction.
        options: Further ones of `escgnn.encoding.RootedEncoding`.

    >>> page = view("0-1 1-2 2-0 2-3", hops=1)
    >>> page.title, len(page.data["roots"])
    ('0-1 1-2 2-0 2-3', 8)

    Raises:
        ValueError: The graph cannot be read, is too large to be drawn, or has too many roots for a page.
    """
    subject = read(graph, title=title)
    scene = Scene(subject, RootedEncoding(hops, parts, **options))
    data = {**scene.about(), **scene.roots(scene.all_roots() if roots is None else roots)}
    if run is not None:
        prediction = run if isinstance(run, Prediction) else predicted(run, subject)
        data["prediction"] = prediction.plain()
    return Page("view", subject.title, data)


def compare(
    a: Any,
    b: Any = None,
    hops: int | Sequence[int] = 1,
    parts: Sequence[str] = RootedEncoding().parts,
    *,
    tests: Sequence[WLTest] | None = None,
    initial: Sequence[int] | None = None,
    **options: Any,
) -> Page:
    """A page with two graphs side by side, coloured by Weisfeiler-Leman tests, round by round.

    Args:
        a: A graph, as `view` takes it; or, without b, one of `presets.names`: ``"rook"``, ``"c15"``, ``"csl"``, ``"exp 3"``,
            ``"brec 17"``.
        b: The other graph.
        hops: Radius of ESC-WL, or several.
        parts: Histograms of ESC-WL.
        tests: Tests of `escgnn.wl` to show; 1-WL, 3-WL, that ESC-WL, and 1-WL with one and two nodes singled out if None.
        initial: Colours of the nodes to start with, those of a and then those of b.
        options: Further ones of `escgnn.encoding.RootedEncoding`.

    >>> page = compare("rook")
    >>> [(test["name"], test["told"] is not None) for test in page.data["tests"]][:3]
    [('1-WL', False), ('3-WL', False), ('ESC-WL, h = 1', True)]

    Raises:
        ValueError: A graph cannot be read or is too large to be drawn, or there is no such preset.
    """
    if b is None:
        first, second, given = presets.pair(a)
        initial = given if initial is None else initial
    else:
        first = read(a)
        second = read(b)
    chosen = usual_tests(RootedEncoding(hops, parts, **options)) if tests is None else tests
    return Page("compare", f"{first.title} and {second.title}", compared(first, second, chosen, initial))
