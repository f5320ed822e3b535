"""Pages of the explorer as their browser sees them, unpacked."""

import gzip
import json
import re
from base64 import b64decode
from typing import NamedTuple


class Unpacked(NamedTuple):
    """What a page holds: its frame, without what is packed, its style, its data as JSON, and its script."""

    frame: str
    style: str
    data: str
    script: str


def unpacked(html: str) -> Unpacked:
    """The pieces of a page."""
    (packed,) = re.findall(r'<script type="application/gzip" id="packed">([A-Za-z0-9+/=]*)</script>', html)
    pieces = json.loads(gzip.decompress(b64decode(packed)))
    assert [(name, attributes) for name, attributes, _ in pieces] == [
        ("style", {}),
        ("script", {"type": "application/json", "id": "data"}),
        ("script", {}),
    ]
    style, data, script = (text for *_, text in pieces)
    return Unpacked(html.replace(packed, ""), style, data, script)
