"""Pages: one HTML file each, which needs nothing else, neither a network nor other files."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

from escgnn.disk import atomic

MOST_BYTES = 8_000_000  # of a page
HEIGHT = 720  # pixels in a notebook
SCRIPTS = {  # beside that for drawing graphs
    "view": ("graph.js", "view.js", "start.js"),
    "compare": ("graph.js", "compare.js", "start.js"),
    "live": ("graph.js", "view.js", "compare.js", "editor.js", "live.js", "start.js"),
}


@dataclass(frozen=True, eq=False)
class Page:
    """A page to look at: notebooks show it, and `save` writes it.

    Attributes:
        kind: Which panels it has: ``"view"``, ``"compare"`` or ``"live"``.
        title: What it shows.
        data: What it shows, as plain values.
    """

    kind: str
    title: str
    data: Mapping[str, Any]

    @property
    def html(self) -> str:
        """The whole page.

        Its own script and style are the only ones that a browser will take, by their hashes; whatever the data holds is shown
        as text.
        """
        style = _static("explorer.css")
        script = "\n".join(_static(name) for name in SCRIPTS[self.kind])
        text = _json(self.data)
        if len(text) > MOST_BYTES:
            raise ValueError(
                f"roots: the page would take {len(text):,} bytes; choose some with roots=[(u, v), ...], a smaller radius or "
                "fewer parts, or look at the graph with escgnn explore, which computes what you click on"
            )
        reach = "; connect-src 'self'" if self.kind == "live" else ""
        policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'{reach}"
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{style}</style></head>\n"
            f'<body data-kind="{self.kind}"><main id="main"></main>'
            f'<script type="application/json" id="data">{text}</script>\n<script>{script}</script></body></html>\n'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with atomic(path) as draft:
            draft.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        frame = f'sandbox="allow-scripts" title="{escape(self.title)}" width="100%" height="{HEIGHT}"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame} style="border:0"></iframe>'


def _json(data: Mapping[str, Any]) -> str:
    """Plain values as JSON that can stand in HTML: nothing in it looks like a tag."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, Sequence):
        return [*value]
    return value.item()  # a number of numpy


@cache
def _static(name: str) -> str:
    """A file of the package without indents and lines that are comments, which nobody reads in a page."""
    lines = files("escgnn.explorer").joinpath("static", name).read_text(encoding="utf-8").splitlines()
    bare = (line.strip() for line in lines)
    return "\n".join(line for line in bare if line and not line.startswith(("//", "/*")))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
