"""Numbers that describe a whole molecule, by RDKit's generators or from the user's own columns; and fingerprints of bits."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.readers import chemistry, molecules

MORGAN_RADIUS = 2
BINS = {  # of the counts that a model reads, by field of `Descriptors`
    "morgan": 1024,
    "feature_morgan": 1024,
    "atom_pairs": 1024,
    "maccs": 167,  # its keys, of which the first is never there
}
COUNTED = {
    "morgan-count": "morgan",
    "feature-morgan-count": "feature_morgan",
    "atom-pair-count": "atom_pairs",
    "maccs": "maccs",
}
SETS = (*COUNTED, "rdkit")
FINGERPRINT_BITS = 2048  # of the bits that similarity is measured by
MOST_ATOMS = 500  # of a molecule; RDKit's descriptors of a larger one take seconds, and are unknown
LARGEST = float(np.finfo(np.float32).max)

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class Descriptors:
    """Which numbers describe a molecule: fingerprints, RDKit's descriptors, columns, in this order.

    >>> Descriptors.chosen(["morgan-count", "assay"]).width
    1025

    Attributes:
        morgan: Bins that the environments of radius 2 are counted in; 0 for none.
        feature_morgan: The same of environments in which atoms are donors, acceptors, aromatic, halogens, acids or bases.
        atom_pairs: Bins that pairs of atoms are counted in, by kind and distance.
        maccs: MACCS keys, 167 of them.
        rdkit: Names of RDKit's descriptors; a later version may have others, so each is asked for by name.
        columns: Columns of the table.
    """

    morgan: int = 0
    feature_morgan: int = 0
    atom_pairs: int = 0
    maccs: int = 0
    rdkit: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @classmethod
    def chosen(cls, names: Sequence[str]) -> "Descriptors":
        """Those of the sets in `SETS`, such as ``"morgan-count"`` and ``"rdkit"``, and of columns by their names."""
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
            **{field: BINS[field] for name, field in COUNTED.items() if name in names},
            rdkit=tuple(sorted(_rdkit_functions())) if "rdkit" in names else (),
            columns=tuple(name for name in names if name not in SETS),
        )

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "Descriptors":
        """Those that a file describes, as plain values."""
        plain: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        found = cls(**plain)
        names = (*found.rdkit, *found.columns)
        bins = [getattr(found, field) for field in BINS]
        is_good = all(isinstance(one, int) and 0 <= one <= 1 << 16 for one in bins)
        is_good = is_good and found.maccs in (0, BINS["maccs"]) and len(names) <= 1 << 16
        if not is_good or not all(isinstance(name, str) for name in names):
            raise ValueError(f"descriptors: {values!r:.80}; expected a number of bins, and names")
        return found

    @property
    def chosen_by(self) -> list[str]:
        """The names that `chosen` makes them of, with the same RDKit."""
        sets = [name for name, field in COUNTED.items() if getattr(self, field)]
        return [*sets, *(["rdkit"] if self.rdkit else []), *self.columns]

    @property
    def counted(self) -> dict[str, int]:
        """The bins of each fingerprint that there is, by field."""
        return {field: getattr(self, field) for field in BINS if getattr(self, field)}

    @property
    def width(self) -> int:
        """How many numbers there are."""
        return sum(self.counted.values()) + len(self.rdkit) + len(self.columns)

    @property
    def of_molecules(self) -> bool:
        """Whether some are computed from the molecule."""
        return bool(self.counted or self.rdkit)

    @property
    def names(self) -> list[str]:
        """What each number is called."""
        bins = [f"{field.replace('_', ' ')} {place}" for field, most in self.counted.items() for place in range(most)]
        return [*bins, *self.rdkit, *self.columns]

    def of(self, texts: Sequence[str], cells: Mapping[str, Sequence[Any]] | None = None) -> Numbers:
        """The numbers of molecules, ``(molecules, width)``; what is unknown, or too large, is not a number.

        Args:
            texts: SMILES; of those that cannot be read all is unknown but columns.
            cells: What the rows of the columns say, by column.

        Raises:
            ValueError: This RDKit does not have one of the descriptors.
            ImportError: RDKit is not installed.
        """
        found = np.full((len(texts), self.width), np.nan, np.float32)
        if self.of_molecules:
            parsed = dict(molecules(texts, {}))
            whole = [*parsed.values()]
            counts = [_counts(field, whole, bins) for field, bins in self.counted.items()]
            numbers = np.concatenate([*counts, _rdkit_values(whole, self.rdkit)], 1)
            found[[*parsed], : numbers.shape[1]] = numbers
        for number, column in enumerate(self.columns, self.width - len(self.columns)):
            found[:, number] = [_number(cell) for cell in (cells or {})[column]]
        return found


NO_DESCRIPTORS = Descriptors()


def fingerprints(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Morgan fingerprints of molecules as packed bits, ``(molecules, 256)``; texts that are no molecules have none set."""
    bits = np.zeros((len(texts), FINGERPRINT_BITS), np.uint8)
    generator = _generator("morgan", FINGERPRINT_BITS)
    for number, molecule in molecules(texts, {}):
        bits[number] = generator.GetFingerprintAsNumPy(molecule)
    return np.packbits(bits, axis=1)


def _generator(field: str, bins: int) -> Any:
    """RDKit's generator of a fingerprint other than `maccs`, which has none."""
    chemistry()  # complains if RDKit is not there
    from rdkit.Chem import rdFingerprintGenerator

    if field == "atom_pairs":
        return rdFingerprintGenerator.GetAtomPairGenerator(fpSize=bins)
    kinds = rdFingerprintGenerator.GetMorganFeatureAtomInvGen() if field == "feature_morgan" else None
    return rdFingerprintGenerator.GetMorganGenerator(MORGAN_RADIUS, fpSize=bins, atomInvariantsGenerator=kinds)


def _counts(field: str, molecules: Sequence[Any], bins: int) -> Numbers:
    """The counts of a fingerprint, ``(molecules, bins)``."""
    counts = np.empty((len(molecules), bins), np.float32)
    if field == "maccs":
        return _maccs(molecules, counts)
    generator = _generator(field, bins)
    for number, molecule in enumerate(molecules):
        counts[number] = generator.GetCountFingerprintAsNumPy(molecule)
    return counts


def _maccs(molecules: Sequence[Any], keys: Numbers) -> Numbers:
    chemistry()
    from rdkit.Chem.rdMolDescriptors import GetMACCSKeysFingerprint
    from rdkit.DataStructs import ConvertToNumpyArray

    for row, molecule in zip(keys, molecules, strict=True):
        ConvertToNumpyArray(GetMACCSKeysFingerprint(molecule), row)
    return keys


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
