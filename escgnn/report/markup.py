"""HTML and SVG from calls, in which every text is escaped unless it was made here."""

from collections.abc import Iterable
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
