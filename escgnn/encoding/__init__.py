"""The structural encoding of ESC-GNN on plain arrays.

`RootedEncoding` is the encoding, `PARTS` what it can be made of, `Rows` what it gives and `Bin` what its columns are called.
This unit needs no torch; `escgnn.transforms.StructuralEncoding` is the same for PyTorch Geometric. Names are loaded when
first used, so that `escgnn.encoding.settings`, from which the command line has its options, loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from escgnn.encoding.bin import Bin, Label, Name
    from escgnn.encoding.parts import PARTS, OwnPart, Part
    from escgnn.encoding.rooted import RootedEncoding
    from escgnn.encoding.rows import Rows
    from escgnn.encoding.settings import SUBGRAPHS, Settings
    from escgnn.encoding.types import types_of, with_types
    from escgnn.kernels.rows import LARGEST_COUNT

__all__ = [
    "LARGEST_COUNT",
    "PARTS",
    "SUBGRAPHS",
    "Bin",
    "Label",
    "Name",
    "OwnPart",
    "Part",
    "RootedEncoding",
    "Rows",
    "Settings",
    "types_of",
    "with_types",
]

_HOME = {
    "LARGEST_COUNT": "escgnn.kernels.rows",
    "PARTS": "escgnn.encoding.parts",
    "SUBGRAPHS": "escgnn.encoding.settings",
    "Bin": "escgnn.encoding.bin",
    "Label": "escgnn.encoding.bin",
    "Name": "escgnn.encoding.bin",
    "OwnPart": "escgnn.encoding.parts",
    "Part": "escgnn.encoding.parts",
    "RootedEncoding": "escgnn.encoding.rooted",
    "Rows": "escgnn.encoding.rows",
    "Settings": "escgnn.encoding.settings",
    "types_of": "escgnn.encoding.types",
    "with_types": "escgnn.encoding.types",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
