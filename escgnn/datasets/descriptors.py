"""Numbers that describe a whole molecule, by RDKit's generators or from the user's own columns; and fingerprints of bits."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.readers import chemistry, molecules, parse

SETS = ("morgan-count", "rdkit")
MORGAN_RADIUS = 2
MORGAN_BINS = 1024  # of the counts that a model reads
FINGERPRINT_BITS = 2048  # of the bits that similarity is measured by
MOST_ATOMS = 500  # of a molecule; RDKit's descriptors of a larger one take seconds, and are unknown
LARGEST = float(np.finfo(np.float32).max)

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class Descriptors:
    """Which numbers describe a molecule: counts of Morgan environments, RDKit's descriptors, columns, in this order.

    >>> Descriptors.chosen(["morgan-count", "assay"]).width
    1025

    Attributes:
        morgan: Bins that the environments of radius 2 are counted in; 0 for none.
        rdkit: Names of RDKit's descriptors; a later version may have others, so each is asked for by name.
        columns: Columns of the table.
    """

    morgan: int = 0
    rdkit: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @classmethod
    def chosen(cls, names: Sequence[str]) -> "Descriptors":
        """Those of the sets ``"morgan-count"`` and ``"rdkit"``, and of columns by their names."""
        twice = [name for place, name in enumerate(names) if name in names[:place]]
        if isinstance(names, str) or twice:
            raise ValueError(
                f"descriptors: {twice or names!r}; expected a list of {', '.join(SETS)} and columns, each once"
            )
        for name in names:
            near = difflib.get_close_matches(name.lower(), SETS, 1, cutoff=0.8)
            if near and name not in SETS:
                raise ValueError(f"descriptors: {name!r}; did you mean {near[0]!r}? A column needs another name")
        return cls(
            MORGAN_BINS if "morgan-count" in names else 0,
            tuple(sorted(_rdkit_functions())) if "rdkit" in names else (),
            tuple(name for name in names if name not in SETS),
        )

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "Descriptors":
        """Those that a file describes, as plain values."""
        plain: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        found = cls(**plain)
        names = (*found.rdkit, *found.columns)
        is_good = isinstance(found.morgan, int) and 0 <= found.morgan <= 1 << 16 and len(names) <= 1 << 16
        if not is_good or not all(isinstance(name, str) for name in names):
            raise ValueError(f"descriptors: {values!r:.80}; expected a number of bins, and names")
        return found

    @property
    def chosen_by(self) -> list[str]:
        """The names that `chosen` makes them of, with the same RDKit."""
        sets = zip(SETS, (self.morgan, self.rdkit), strict=True)
        return [*(name for name, wanted in sets if wanted), *self.columns]

    @property
    def width(self) -> int:
        """How many numbers there are."""
        return self.morgan + len(self.rdkit) + len(self.columns)

    @property
    def of_molecules(self) -> bool:
        """Whether some are computed from the molecule."""
        return bool(self.morgan or self.rdkit)

    @property
    def names(self) -> list[str]:
        """What each number is called."""
        return [*(f"morgan {place}" for place in range(self.morgan)), *self.rdkit, *self.columns]

    def of(self, texts: Sequence[str], cells: Mapping[str, Sequence[Any]] | None = None) -> Numbers:
        """The numbers of molecules, ``(molecules, width)``; what is unknown, or too large, is not a number.

        Args:
            texts: SMILES that can be read.
            cells: What the rows of the columns say, by column.

        Raises:
            ValueError: This RDKit does not have one of the descriptors.
            ImportError: RDKit is not installed.
        """
        found = np.full((len(texts), self.width), np.nan, np.float32)
        place = self.morgan + len(self.rdkit)
        if self.of_molecules:
            parsed = [parse(text) for text in texts]
            found[:, : self.morgan] = _morgan_counts(parsed, self.morgan)
            found[:, self.morgan : place] = _rdkit_values(parsed, self.rdkit)
        for number, column in enumerate(self.columns, place):
            found[:, number] = [_number(cell) for cell in (cells or {})[column]]
        return found


NO_DESCRIPTORS = Descriptors()


def fingerprints(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Morgan fingerprints of molecules as packed bits, ``(molecules, 256)``; texts that are no molecules have none set."""
    bits = np.zeros((len(texts), FINGERPRINT_BITS), np.uint8)
    generator = _morgan(FINGERPRINT_BITS)
    for number, molecule in molecules(texts, {}):
        bits[number] = generator.GetFingerprintAsNumPy(molecule)
    return np.packbits(bits, axis=1)


def _morgan(bins: int) -> Any:
    chemistry()  # complains if RDKit is not there
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=MORGAN_RADIUS, fpSize=bins)


def _morgan_counts(molecules: Sequence[Any], bins: int) -> Numbers:
    counts = np.empty((len(molecules), bins), np.float32)
    if bins:
        generator = _morgan(bins)
        for number, molecule in enumerate(molecules):
            counts[number] = generator.GetCountFingerprintAsNumPy(molecule)
    return counts


def _rdkit_functions() -> dict[str, Any]:
    """RDKit's descriptors by name."""
    chemistry()  # complains if RDKit is not there
    from rdkit.Chem import Descriptors as Known

    return dict(Known.descList)


def _rdkit_values(molecules: Sequence[Any], names: Sequence[str]) -> Numbers:
    found = np.full((len(molecules), len(names)), np.nan, np.float32)
    if not names:
        return found
    functions = _rdkit_functions()
    if missing := [name for name in names if name not in functions]:
        raise ValueError(
            f"descriptors: this RDKit has no {missing[0]!r}; use the version that the model was trained with"
        )
    _, rdBase = chemistry()
    with rdBase.BlockLogs():
        for row, molecule in enumerate(molecules):
            if molecule.GetNumAtoms() <= MOST_ATOMS:
                found[row] = [_described(functions[name], molecule) for name in names]
    return found


def _described(function: Any, molecule: Any) -> float:
    """What a descriptor says; not a number where it fails, as partial charges of metals do."""
    try:
        return _number(function(molecule))
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return math.nan


def _number(cell: Any) -> float:
    """A cell as a finite number of single precision, or not a number."""
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return value if abs(value) <= LARGEST else math.nan
