"""Atoms and bonds as the letters of a SMILES say them, without a word on chemistry.

RDKit decides whether a text is a molecule. Where it has kept every atom, they stand in the order of the text, and to read
the bonds off the text costs a hundredth of asking RDKit for each.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

END = 10  # a line feed, behind every text
MARKS = 100  # %99 is the largest mark of a ring with two digits
NO_RING = -1  # instead of a mark
# what a letter is: an atom, or one of these
UNKNOWN = 0
ATOM = 1
BRACKET = 2  # that an atom begins with
TWO_LETTERS = 3  # an atom that may go on: Cl and Br
DIGIT = 4
PERCENT = 5
OPEN = 6
CLOSE = 7
DOT = 8
BOND = 9


def _kinds() -> NDArray[np.uint8]:
    """What each letter is, ``(256,)``."""
    kinds = np.zeros(256, np.uint8)
    for kind, letters in (
        (ATOM, "cNnOoSsFPpIb*"),
        (BRACKET, "["),
        (TWO_LETTERS, "CB"),
        (DIGIT, "0123456789"),
        (PERCENT, "%"),
        (OPEN, "("),
        (CLOSE, ")"),
        (DOT, "."),
        (BOND, "-=#:/\\"),
    ):
        for letter in letters:
            kinds[ord(letter)] = kind
    return kinds


KINDS = _kinds()


@kernel
def read_bonds(
    letters: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    num_atoms: NDArray[np.int64],
    num_bonds: NDArray[np.int64],
    bonds: NDArray[np.int64],
    atoms: NDArray[np.int64],
) -> None:
    """Write the atoms and bonds of every text, one after another; -1 atoms where a letter or a bracket is not understood.

    In ``C1CC=1(O).N`` the fourth letter is atom 2, which is bonded to atom 1 and, as both have the mark 1, to atom 0; O to
    atom 2, where the bracket opened; N, behind a dot, to none. The bond of a ring stands where its second mark is and, as
    RDKit has it, runs from there to the first mark unless its symbol stood before that one: here it is 2, 0, "=", 1.

    Args:
        letters: The texts, each ended by a line feed.
        kinds: What each letter is, `KINDS`.
        num_atoms: Filled with the number of atoms of each, ``(texts,)``.
        num_bonds: Filled with the number of bonds of each, ``(texts,)``.
        bonds: Filled with the two atoms, the letter of the bond or 0, and the mark of its ring or -1; ``(letters, 4)``.
        atoms: Filled with the place of the first letter of each atom, ``(letters,)``.
    """
    first = np.empty(MARKS, np.int64)  # the atom with the first of two marks, or -1
    symbol = np.empty(MARKS, np.int64)  # the letter of a bond before that mark, or 0
    branch = np.empty(letters.size, np.int64)  # atoms where brackets opened
    place = 0
    filled = 0
    seen = 0  # atoms
    for text in range(num_atoms.size):
        first[:] = -1
        open_rings = 0
        depth = 0
        count = 0
        last = -1  # the atom that the next one is bonded to
        bond = 0  # letter
        begin = filled
        good = True
        while good and letters[place] != END:
            letter = letters[place]
            kind = kinds[letter]
            place += 1
            if kind in (ATOM, TWO_LETTERS, BRACKET):
                atoms[seen + count] = place - 1
                if kind == TWO_LETTERS and letters[place] == (ord("l") if letter == ord("C") else ord("r")):
                    place += 1
                if kind == BRACKET:
                    while letters[place] != ord("]") and letters[place] != END:
                        place += 1
                    good = letters[place] != END
                    place += good
                if last >= 0:
                    bonds[filled, 0] = last
                    bonds[filled, 1] = count
                    bonds[filled, 2] = bond
                    bonds[filled, 3] = NO_RING
                    filled += 1
                last = count
                count += 1
                bond = 0
            elif kind in (DIGIT, PERCENT):
                mark = int(letter) - ord("0")
                if kind == PERCENT:
                    good = kinds[letters[place]] == DIGIT and kinds[letters[place + 1]] == DIGIT
                    mark = 0
                    if good:
                        mark = 10 * (int(letters[place]) - ord("0")) + int(letters[place + 1]) - ord("0")
                        place += 2
                if last < 0 or first[mark] == last:
                    good = False
                elif first[mark] < 0:
                    first[mark] = last
                    symbol[mark] = bond
                    open_rings += 1
                else:
                    is_told_first = symbol[mark] != 0
                    bonds[filled, 0] = first[mark] if is_told_first else last
                    bonds[filled, 1] = last if is_told_first else first[mark]
                    bonds[filled, 2] = symbol[mark] if is_told_first else bond
                    bonds[filled, 3] = mark
                    filled += 1
                    first[mark] = -1
                    open_rings -= 1
                bond = 0
            elif kind == BOND:
                bond = int(letter)
            elif kind == OPEN:
                branch[depth] = last
                depth += 1
            elif kind == CLOSE and depth > 0:
                depth -= 1
                last = branch[depth]
            elif kind == DOT:
                last = -1
            else:
                good = False
        while letters[place] != END:
            place += 1
        place += 1
        if not good or open_rings or depth:
            filled = begin
            count = -1
        num_atoms[text] = count
        num_bonds[text] = filled - begin
        seen += max(count, 0)
