"""How docstrings become Markdown, for mkdocstrings: formulas, which stand there as for Sphinx, and examples."""

import re
import textwrap
from typing import Any

from griffe import Docstring, Extension, Object

INLINE = re.compile(r":math:`([^`]*)`")
BLOCK = re.compile(r"^( *)\.\. math::\n((?:\1 +.*\n?)+)", re.M)
EXAMPLE = re.compile(r"^( *)>>> .*(?:\n *\S.*)*", re.M)  # up to the next empty line
COMMENT = re.compile(r"  # (.+)$")
WORDLESS = "<!-- its value says it -->"  # what has no docstring is not shown


def as_markdown(text: str) -> str:
    r"""A docstring with formulas and examples as pages have them.

    >>> as_markdown("The node :math:`u`.")
    'The node \\(u\\).'
    >>> as_markdown("Layers:\n\n.. math::\n    a + \n    b\n\nEnd.")
    'Layers:\n\n\\[\na + \nb\n\\]\n\nEnd.'
    >>> as_markdown(">>> 1\n1\n\nEnd.")
    '```pycon\n>>> 1\n1\n```\n\nEnd.'
    """

    def block(found: re.Match[str]) -> str:
        formula = textwrap.dedent(found[2]).strip()
        return textwrap.indent(f"\\[\n{formula}\n\\]\n", found[1])

    def example(found: re.Match[str]) -> str:
        return f"{found[1]}```pycon\n{found[0]}\n{found[1]}```"

    fenced = EXAMPLE.sub(example, BLOCK.sub(block, text))
    return INLINE.sub(lambda found: f"\\({found[1]}\\)", fenced)


class AsMarkdown(Extension):
    """Changes every docstring that is read; a constant has none, and gets the comment on its line."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change that of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
        elif obj.is_attribute and obj.parent is not None and obj.parent.is_module and len(obj.name) > 1:
            found = COMMENT.search(obj.lines[0] if obj.lines else "")
            obj.docstring = Docstring(f"{found[1][0].upper()}{found[1][1:]}." if found else WORDLESS, parent=obj)
