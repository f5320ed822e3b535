"""What all pages share: a document that needs nothing else, and boxes in which wide tables scroll."""

from escgnn.markup import Markup, tag
from escgnn.report.style import STYLE


def document(title: str, content: Markup, style: str = "") -> str:
    """A whole page: no network, no scripts; phone, desk and paper.

    Args:
        title: What the window says.
        content: All that is in it.
        style: Rules beside those of every page.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(STYLE + style)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', tag('main', content)), lang='en')}\n"


def scrolling(name: str, table: Markup) -> Markup:
    """A table in a box of its own, which scrolls, also by keyboard, so that the page need not."""
    return tag("div", table, class_="scroll", role="region", aria_label=name, tabindex=0)
