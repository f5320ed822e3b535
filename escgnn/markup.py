"""HTML and SVG from calls, in which every text is escaped unless it was made here."""

from collections.abc import Iterable, Sequence
from html import escape

VOID = frozenset({"meta", "br", "hr"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Markup:
    """An element with its children; strings are escaped, `Markup` is not, None is left out.

    An attribute's trailing underscore is dropped, others become hyphens. None and False leave it out, True is its bare name.

    >>> tag("p", "a < b", tag("em", "!"), class_="note", hidden=None)
    '<p class="note">a &lt; b<em>!</em></p>'
    """
    shown = [name]
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            shown.append(key)
        elif value is not None and value is not False:
            text = value if isinstance(value, str) else f"{value:.5g}"
            shown.append(f'{key}="{escape(text)}"')
    opened = f"<{' '.join(shown)}>"
    return Markup(opened if name in VOID else f"{opened}{join(children)}</{name}>")


def join(children: Iterable[str | None], between: str = "") -> Markup:
    """Elements and texts one after another, escaped where they are not HTML already.

    >>> join(["<", Markup("<br>")], ", ")
    '&lt;, <br>'
    """
    safe = [
        child if isinstance(child, Markup) else escape(child, quote=False) for child in children if child is not None
    ]
    return Markup(escape(between, quote=False).join(safe))


def table(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str | None = None) -> Markup:
    """A table of texts under a head; the first cell of a row names it.

    >>> table(["a", "b"], [["1", "2"]])[-64:]
    '<tbody><tr><th scope="row">1</th><td>2</td></tr></tbody></table>'
    """
    columns = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    lines = []
    for name, *cells in rows:
        lines.append(tag("tr", tag("th", name, scope="row"), *(tag("td", cell) for cell in cells)))
    title = None if caption is None else tag("caption", caption)
    return tag("table", title, columns, tag("tbody", *lines))


def drawing(
    points: Sequence[Sequence[float]], edges: Iterable[Sequence[int]], *, title: str, marked: Sequence[int] = ()
) -> Markup:
    """A graph as a small SVG that needs no script: points between 0 and 1, edges between them, some of them marked."""
    shapes = []
    for u, v in edges:
        (x1, y1), (x2, y2) = points[u], points[v]
        ends = {"x1": 200 * x1, "y1": 200 * y1, "x2": 200 * x2, "y2": 200 * y2}
        shapes.append(tag("line", stroke="#888", **ends))
    size = 6.0 if len(points) <= 50 else 3.0
    for node, (x, y) in enumerate(points):
        colour = "#e6550d" if node in marked else "#9ecae1"
        shapes.append(tag("circle", cx=200 * x, cy=200 * y, r=size, fill=colour, stroke="#444"))
    options = {"viewBox": "-10 -10 220 220", "width": "220", "height": "220", "role": "img", "aria-label": title}
    return tag("svg", tag("title", title), *shapes, **options)
