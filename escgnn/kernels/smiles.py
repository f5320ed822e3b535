"""Atoms and bonds as the letters of a SMILES say them, without a word on chemistry.

RDKit decides whether a text is a molecule. Where it has kept every atom, they stand in the order of the text, and to read
the bonds off the text costs a hundredth of asking RDKit for each.
"""

import numpy as np
from numpy.typing import NDArray

from escgnn.kernels import kernel

END = 10  # a line feed, behind every text
MARKS = 100  # %99 is the largest mark of a ring with two digits
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
) -> None:
    """Write the atoms and bonds of every text, one after another; -1 atoms where a letter or a bracket is not understood.

    In ``C1CC=1(O).N`` the fourth letter is atom 2, which is bonded to atom 1 and, as both have the mark 1, to atom 0; O to
    atom 2, where the bracket opened; N, behind a dot, to none.

    Args:
        letters: The texts, each ended by a line feed.
        kinds: What each letter is, `KINDS`.
        num_atoms: Filled with the number of atoms of each, ``(texts,)``.
        num_bonds: Filled with the number of bonds of each, ``(texts,)``.
        bonds: Filled with the two atoms of each bond, the earlier one first, ``(letters, 2)``.
    """
    first = np.empty(MARKS, np.int64)  # the atom with the first of two marks, or -1
    branch = np.empty(letters.size, np.int64)  # atoms where brackets opened
    place = 0
    filled = 0
    for text in range(num_atoms.size):
        first[:] = -1
        open_rings = 0
        depth = 0
        count = 0
        last = -1  # the atom that the next one is bonded to
        begin = filled
        good = True
        while good and letters[place] != END:
            letter = letters[place]
            kind = kinds[letter]
            place += 1
            if kind in (ATOM, TWO_LETTERS, BRACKET):
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
                    filled += 1
                last = count
                count += 1
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
                    open_rings += 1
                else:
                    bonds[filled, 0] = min(first[mark], last)
                    bonds[filled, 1] = max(first[mark], last)
                    filled += 1
                    first[mark] = -1
                    open_rings -= 1
            elif kind == OPEN:
                branch[depth] = last
                depth += 1
            elif kind == CLOSE and depth > 0:
                depth -= 1
                last = branch[depth]
            elif kind == DOT:
                last = -1
            elif kind != BOND:
                good = False
        while letters[place] != END:
            place += 1
        place += 1
        if not good or open_rings or depth:
            filled = begin
            count = -1
        num_atoms[text] = count
        num_bonds[text] = filled - begin
