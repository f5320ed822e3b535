"""Pages: one HTML file each, which needs nothing else, neither a network nor other files."""

import gzip
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
        as text. They are packed by gzip, and unpacked by the browser.
        """
        style = _static("explorer.css")
        script = "\n".join(_static(name) for name in SCRIPTS[self.kind])
        text = _json(self.data)
        if len(text) > MOST_BYTES:
            raise ValueError(
                f"roots: the page would take {len(text):,} bytes; choose some with roots=[(u, v), ...], a smaller radius or "
                "fewer parts, or look at the graph with escgnn explore, which computes what you click on"
            )
        start = _static("unpack.js")
        data = {"type": "application/json", "id": "data"}
        packed = _packed([["style", {}, style], ["script", data, text], ["script", {}, script]])
        reach = "; connect-src 'self'" if self.kind == "live" else ""
        scripts = f"script-src {_hash(start)} {_hash(script)}"
        policy = f"default-src 'none'; {scripts}; style-src {_hash(style)}; base-uri 'none'{reach}"
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title></head>\n"
            f'<body data-kind="{self.kind}"><main id="main"></main><noscript>This page is drawn by its own script.</noscript>'
            f'<script type="application/gzip" id="packed">{packed}</script>\n<script>{start}</script></body></html>\n'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with atomic(path) as draft:
            draft.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        frame = f'sandbox="allow-scripts" title="{escape(self.title)}" width="100%" height="{HEIGHT}"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame} style="border:0"></iframe>'


def _json(data: Mapping[str, Any]) -> str:
    """Plain values as JSON, with nothing between them."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)


def _packed(pieces: Sequence[Any]) -> str:
    """Elements of a page, each with its attributes and its text, as letters that no browser takes for anything else."""
    text = json.dumps(pieces, separators=(",", ":"), ensure_ascii=False)
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


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
