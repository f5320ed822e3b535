"""A bin is the tuple that people write, and its places have names."""

import copy
import json
import pickle

import pytest

from escgnn.encoding import PARTS, Bin, RootedEncoding, Settings

NAMES = [
    # name, radius, part, root, words, numbers
    (("degree", 3), None, "degree", None, (), (3,)),
    (("node", "v", 2), None, "node", "v", ("v",), (2,)),
    (("h12", "resistance", "u", 0), 12, "resistance", "u", ("u",), (0,)),
    (("h1", "wedge", "open", 0, 1, 1, 0, 2, 1), 1, "wedge", None, ("open",), (0, 1, 1, 0, 2, 1)),
    (("walk", 4), None, "walk", None, (), (4,)),
    (("h2", "clipped", 1), 2, "clipped", None, (), (1,)),
]


@pytest.mark.parametrize(("name", "radius", "part", "root", "words", "numbers"), NAMES)
def test_places_have_names(name, radius, part, root, words, numbers):
    found = Bin(*name)
    assert (found.radius, found.part, found.root, found.words, found.numbers) == (radius, part, root, words, numbers)
    assert found.label == name[1:] if radius is None else name[2:]
    assert found.at(None) is found
    if radius is None:
        assert found.at(7) == ("h7", *name) and found.at(7).radius == 7 and found.at(7).part == part


@pytest.mark.parametrize("name", [name for name, *_ in NAMES])
def test_it_is_the_tuple_that_people_write(name):
    found = Bin(*name)
    assert found == name and name == found and hash(found) == hash(name)
    assert {found: 1}[name] == 1 and {name: 1}[found] == 1
    assert repr(found) == repr(name) and json.dumps([found]) == json.dumps([name])
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert copied == name and type(copied) is Bin


def test_labels_are_numbers_two_by_two():
    assert Bin("edge", 0, 1, 1, 2).labels == ((0, 1), (1, 2))
    assert Bin("h3", "joint", 2, 1).labels == ((2, 1),)
    with pytest.raises(ValueError):
        _ = Bin("cycle", 3).labels


@pytest.mark.parametrize("hops", [2, (1, 2)])
def test_bins_of_encodings(hops):
    encoding = RootedEncoding(hops, PARTS, max_nodes=9)
    for name in (*encoding.bins, *encoding.pair_bins):
        assert type(name) is Bin and name.part in {*PARTS, "clipped"}
        assert (name.radius is None) == (isinstance(hops, int) or name.part in ("cycle", "ring", "alike"))


@pytest.mark.parametrize("part", PARTS)
def test_the_mirror_of_the_mirror_is_the_bin(part):
    encoding = RootedEncoding(2, (part,))
    for bins in (encoding.bins, encoding.pair_bins):
        images = [PARTS[part].mirror(name) for name in bins]
        if part == "colour":
            assert {*images} == {None}
        else:
            assert {*images} == {*bins}
            assert [PARTS[part].mirror(image) for image in images] == [*bins]


def test_parts_say_what_they_are():
    options = [option for part in PARTS.values() for option in part.options]
    assert {*options} < {*Settings.__dataclass_fields__} and len({*options}) == len(options)
    for name, part in PARTS.items():
        assert part.name == name and part.counts
