"""The parts of the encoding, in one table. `escgnn.encoding.parts.part` says what a part is and which form to choose.

To add one, write ``parts/<name>.py`` and give it a row in `PARTS`; a compiled part also has its kernel in
``kernels/<name>.py``, the call of it in `escgnn.kernels.encoding.encode` and that of its tables in `escgnn.encoding.tables`.
From outside the package the row is an assignment: ``PARTS["mine"] = Mine()``.
"""

from collections.abc import Sequence

from escgnn.encoding.parts.alike import Alike
from escgnn.encoding.parts.colours import Colour
from escgnn.encoding.parts.cycles import Cycle
from escgnn.encoding.parts.histograms import Degree, Edge, Joint, Node
from escgnn.encoding.parts.motifs import Path, Triangle, Wedge
from escgnn.encoding.parts.part import OwnPart, Part
from escgnn.encoding.parts.resistance import Resistance
from escgnn.encoding.parts.rings import Ring
from escgnn.encoding.parts.walks import Walk

__all__ = ["PARTS", "OwnPart", "Part", "check_parts"]

PARTS: dict[str, Part] = {
    "degree": Degree(),
    "node": Node(),
    "joint": Joint(),
    "edge": Edge(),
    "resistance": Resistance(),
    "wedge": Wedge(),
    "triangle": Triangle(),
    "path": Path(),
    "walk": Walk(),
    "cycle": Cycle(),
    "ring": Ring(),
    "colour": Colour(),
    "alike": Alike(),
}


def check_parts(parts: Sequence[str]) -> None:
    """Complain about parts that do not exist, are named twice, or are none at all."""
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"parts: unknown part {part!r}; expected some of {', '.join(PARTS)}")
    if not parts or len({*parts}) < len(parts):
        raise ValueError(f"parts: {tuple(parts)!r}; expected one or more different parts")
