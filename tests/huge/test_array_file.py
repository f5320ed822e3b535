"""What opening a file checks."""

import json
import struct
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from escgnn.huge.array_file import MAGIC, PAGE, PREFIX, VERSION, check_arrays, open_arrays, writing

NUMBERS = np.arange(100, dtype=np.int64)
DTYPES = {"numbers": np.int64, "letters": np.uint8}


@pytest.fixture
def path(tmp_path):
    with writing(tmp_path / "arrays", "toy") as file:
        file.append("letters", np.frombuffer(b"abc", np.uint8))
        file.append("numbers", NUMBERS[:30])
        file.append("numbers", NUMBERS[30:])
        file.append("nothing", np.empty(0, np.int32))
        file.facts = {"name": "x"}
    return tmp_path / "arrays"


def with_page(path, **changes):
    """The same file with another first page, its own checksum right."""
    content = path.read_bytes()
    _, version, length, _ = PREFIX.unpack(content[: PREFIX.size])
    page = json.loads(content[PREFIX.size : PREFIX.size + length])
    for place, value in changes.items():
        *names, last = place.split("__")
        inner = page
        for name in names:
            inner = inner[name]
        inner[last] = value
    text = json.dumps(page).encode()
    start = PREFIX.pack(MAGIC, version, len(text), zlib.crc32(text)) + text
    path.write_bytes(start.ljust(PAGE, b"\0") + content[PAGE:])
    return path


def test_what_is_written_is_opened(path):
    arrays, facts = open_arrays(path, "toy", DTYPES)
    assert facts == {"name": "x"}
    assert_array_equal(arrays["numbers"], NUMBERS)
    assert arrays["letters"].tobytes() == b"abc"
    assert arrays["nothing"].shape == (0,)
    assert all(array.ctypes.data % 64 == 0 for array in arrays.values())
    check_arrays(path)


def test_the_file_stays_as_it_is(path):
    arrays, _ = open_arrays(path, "toy", DTYPES)
    arrays["numbers"][:] = 0
    assert_array_equal(open_arrays(path, "toy", DTYPES).arrays["numbers"], NUMBERS)


def test_a_block_that_fails_writes_nothing(tmp_path):
    with pytest.raises(RuntimeError), writing(tmp_path / "arrays", "toy") as file:
        file.append("numbers", NUMBERS)
        raise RuntimeError
    assert not [*tmp_path.iterdir()]


def test_facts_that_do_not_fit_a_page_are_refused(tmp_path):
    with (
        pytest.raises(ValueError, match=r"facts: .* bytes of JSON; expected at most"),
        writing(tmp_path / "a", "toy") as file,
    ):
        file.facts = {"name": "x" * PAGE}
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "no file of arrays of escgnn"),
        (lambda content: b"PAR1" + content[4:], "no file of arrays of escgnn"),
        (lambda content: content[:10], "is damaged: it ends within its first page"),
        (lambda content: content[:8] + struct.pack("<I", VERSION + 1) + content[12:], "format version 2; expected 1"),
        (lambda content: content[:60] + b"?" + content[61:], "is damaged: its first page is not what was written"),
        (lambda content: content[:100], "is damaged: its first page is not"),
        (lambda content: content[:-1], "is damaged: it has .* bytes; expected"),
        (lambda content: content + b"more", "is damaged: it has .* bytes; expected"),
    ],
)
def test_damage_is_told(path, change, message):
    path.write_bytes(change(path.read_bytes()))
    for look in (lambda: open_arrays(path, "toy", DTYPES), lambda: check_arrays(path)):
        with pytest.raises(ValueError, match=message):
            look()


def test_another_kind_is_told(path):
    with pytest.raises(ValueError, match="holds a toy; expected a graph"):
        open_arrays(path, "graph", DTYPES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrays__numbers__length": 110}, "numbers does not lie within the file"),
        ({"arrays__numbers__place": 8}, "numbers does not lie within the file"),
        ({"arrays__numbers__place": 1 << 40}, "numbers does not lie within the file"),
        ({"arrays__numbers__length": -5}, "numbers does not lie within the file"),
        ({"arrays__numbers__dtype": "<i4"}, "has no array numbers of int64"),
        ({"arrays__other": {"dtype": "|u1", "length": 0, "place": 0, "crc": 0}, "kind": "other"}, "holds a other"),
    ],
)
def test_arrays_stay_within_the_file(path, changes, message):
    with pytest.raises(ValueError, match=message):
        open_arrays(with_page(path, **changes), "toy", DTYPES)


def test_a_missing_array_is_told(path):
    with pytest.raises(ValueError, match="has no array more of float64"):
        open_arrays(path, "toy", {"more": np.float64})


def test_checking_finds_a_changed_number(path):
    content = bytearray(path.read_bytes())
    content[PAGE + 64 + 8] ^= 1  # the second number
    path.write_bytes(content)
    open_arrays(path, "toy", DTYPES)
    with pytest.raises(ValueError, match="is damaged: numbers is not what was written"):
        check_arrays(path)
