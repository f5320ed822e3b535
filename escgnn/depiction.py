"""Molecules as SVG in the colours of the page: atoms, bonds and, behind them, how much each atom counts for."""

import math
from collections.abc import Sequence
from typing import Any

from escgnn.markup import Markup, join, tag
from escgnn.readers import RDKIT_ERRORS, chemistry, parse, told_by_rdkit

UNIT = 26.0  # pixels of a bond
MARGIN = 16.0
SIDE = 0.13  # how far the second line of a double bond is from the first, in bonds
MOST_DRAWN = 500  # atoms
LEAST_SHARE = 0.04  # of the largest value; what is smaller is not coloured
STYLE = """
svg .bond{stroke:var(--ink);stroke-width:1.4;stroke-linecap:round;fill:none}
svg .soft{stroke-dasharray:2.5 2.5}
svg .atom{font:600 11px system-ui,sans-serif;text-anchor:middle;fill:var(--ink)}
svg .back{fill:var(--page)}
svg .more{fill:var(--c1)}
svg .less{fill:var(--c0)}
"""


def molecule(smiles: str, title: str, values: Sequence[float] | None = None, largest: float | None = None) -> Markup:
    """A molecule as an SVG picture that needs no script; STYLE says how it looks.

    Args:
        smiles: The molecule; what follows a space is taken for a name.
        title: What screen readers are told.
        values: A number for each atom, which a disc shows: its colour the sign, its strength the size. Pointing at an atom
            tells it.
        largest: The size that has the full strength; by default the largest of the values.

    Raises:
        ValueError: It is no molecule, or too large to be seen.
        ImportError: RDKit is not installed.
    """
    drawn = parse(smiles)
    size = drawn.GetNumAtoms()
    if size > MOST_DRAWN:
        raise ValueError(f"a molecule of {size:,} atoms; at most {MOST_DRAWN} are drawn")
    if values is not None and len(values) != size:
        raise ValueError(f"values: {len(values)} of {size} atoms")
    points = _points(drawn)
    shapes = [] if values is None else _discs(drawn, points, values, largest)
    shapes += [_bond(bond, points) for bond in drawn.GetBonds()]
    shapes += [_letters(atom, points) for atom in drawn.GetAtoms()]
    width = max(x for x, _ in points) + MARGIN
    height = max(y for _, y in points) + MARGIN
    return tag(
        "svg",
        tag("title", title),
        join(shapes),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=title,
        class_="molecule",
        style=f"max-width:{max(width, 60.0):.0f}px",
    )


def _points(drawn: Any) -> list[tuple[float, float]]:
    """Where atoms are, in pixels from the upper left corner."""
    chemistry()
    from rdkit.Chem import rdDepictor

    try:
        rdDepictor.Compute2DCoords(drawn)
    except RDKIT_ERRORS as error:
        raise ValueError(told_by_rdkit(error)) from None
    places = drawn.GetConformer().GetPositions()[:, :2] * (UNIT / 1.5)  # RDKit's bonds are 1.5 long
    left = places[:, 0].min() - MARGIN
    top = places[:, 1].max() + MARGIN
    return [(float(x - left), float(top - y)) for x, y in places]


def _discs(
    drawn: Any, points: Sequence[tuple[float, float]], values: Sequence[float], largest: float | None
) -> list[Markup]:
    finite = [abs(value) for value in values if math.isfinite(value)]
    full = max(finite, default=0.0) if largest is None else largest
    discs = []
    for atom, (x, y), value in zip(drawn.GetAtoms(), points, values, strict=True):
        told = tag("title", f"{atom.GetSymbol()} {atom.GetIdx() + 1}: {value:+.3g}")
        share = min(1.0, abs(value) / full) if full > 0 and math.isfinite(value) else 0.0
        strength = 0.75 * share if share >= LEAST_SHARE else 0.0
        kind = "more" if value > 0 else "less"
        discs.append(tag("circle", told, cx=x, cy=y, r=0.5 * UNIT, class_=kind, fill_opacity=strength))
    return discs


def _bond(bond: Any, points: Sequence[tuple[float, float]]) -> Markup:
    x1, y1 = points[bond.GetBeginAtomIdx()]
    x2, y2 = points[bond.GetEndAtomIdx()]
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    across = (UNIT * SIDE * (y1 - y2) / length, UNIT * SIDE * (x2 - x1) / length)
    order = bond.GetBondTypeAsDouble()
    sides = {1.0: [0.0], 1.5: [-0.6, 0.6], 2.0: [-0.6, 0.6], 3.0: [-1.0, 0.0, 1.0]}.get(order, [0.0])
    lines = []
    for number, side in enumerate(sides):
        dx = side * across[0]
        dy = side * across[1]
        is_soft = order == 1.5 and number == 1
        path = f"M{x1 + dx:.1f} {y1 + dy:.1f}L{x2 + dx:.1f} {y2 + dy:.1f}"
        lines.append(tag("path", d=path, class_="bond soft" if is_soft else "bond"))
    return join(lines)


def _letters(atom: Any, points: Sequence[tuple[float, float]]) -> Markup:
    """What stands at an atom; nothing at a carbon that is bound, has no charge and is no isotope."""
    charge = atom.GetFormalCharge()
    plain = atom.GetSymbol() == "C" and not charge and not atom.GetIsotope() and atom.GetDegree()
    if plain:
        return Markup("")
    hydrogens = atom.GetTotalNumHs()
    words = [str(atom.GetIsotope()) if atom.GetIsotope() else "", atom.GetSymbol()]
    words.append({0: "", 1: "H"}.get(hydrogens, f"H{hydrogens}"))
    words.append({0: "", 1: "+", -1: "\N{MINUS SIGN}"}.get(charge, f"{charge:+d}"))
    text = "".join(words)
    x, y = points[atom.GetIdx()]
    room = tag(
        "rect", x=x - 3.6 * len(text), y=y - 6, width=7.2 * len(text), height=12, rx=4, class_="back", opacity=0.7
    )
    return join([room, tag("text", text, x=x, y=y + 4, class_="atom")])
