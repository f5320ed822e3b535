"""What holds for every dataset, and for a toy that is added from outside the package, as docs/datasets.md says."""

import hashlib
import shutil
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pytest

from escgnn import datasets, graphs
from escgnn.datasets import DatasetBundle, Entry, Raw, RawFile, Size, damage_named, from_members, random_split
from escgnn.datasets.loading import DATASETS
from escgnn.datasets.raw import SUMS, accept, obtain
from escgnn.metrics import METRICS
from escgnn.task import Task
from escgnn.training import read_config
from tests.datasets.equality import assert_same

CYCLES = "20\n" + "".join(f"{nodes} {nodes % 2}\n" for nodes in range(3, 23))


def odd_cycles(raw: Raw, *, seed: int = 0) -> DatasetBundle:
    """Cycles, and whether their length is odd."""
    path = raw.paths["cycles.txt"]
    with damage_named(path):
        count, *lines = path.read_text().splitlines()
        rows = [(int(nodes), float(odd)) for nodes, odd in map(str.split, lines)]
        if len(rows) != int(count):
            raise ValueError(f"it holds {len(rows)} of {count} graphs")
        members = [(nodes, graphs.cycle(nodes).edges) for nodes, _ in rows]
        y = np.array([[odd] for _, odd in rows], np.float32)
    store = from_members(members).with_fields(graph={"y": y})
    return DatasetBundle(raw.entry.name, store, raw.entry.task, split=random_split(len(store), seed=seed))


TOY = Entry(
    name="odd-cycles",
    parse=odd_cycles,
    task=Task("graph", "binary", "accuracy", "max", ("odd",)),
    size=Size(20, 12.5, 12.5),
    source="written by a test",
    files=(RawFile("toy/cycles.txt", sha256=hashlib.sha256(CYCLES.encode()).hexdigest()),),
    advice="this toy has no public home; the test writes it",
    defaults={"model": {"layers": 2}, "epochs": 3},
)
UNSEEN = {"qm9", "ogbg-molpcba"}  # their files are not in the folder of raw data, and so their checksums are not known
NAMES = [*DATASETS, TOY.name]
PRESENT = [name for name in NAMES if name not in UNSEEN]
ONE_OF_EACH_PARSER = [
    *{DATASETS[name].parse: name for name in reversed([*DATASETS]) if name in PRESENT}.values(),
    TOY.name,
]
WITH_FILES = [name for name in PRESENT if name != "counting-random"]
NEEDING_FILES = [name for name in NAMES if name not in ("counting-random", "csl")]


@pytest.fixture(autouse=True, scope="module")
def toy_folder(tmp_path_factory):
    """The toy is registered, and its raw file written into a folder of raw data."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "toy").mkdir()
    (folder / "toy/cycles.txt").write_text(CYCLES)
    datasets.register(TOY)
    yield folder
    del DATASETS[TOY.name]


@pytest.fixture
def root(name, toy_folder, request):
    """A folder with the raw files of the dataset."""
    return toy_folder if name == TOY.name else request.getfixturevalue("benchmark_data")


@pytest.fixture
def entry(name):
    return datasets.entry_of(name)


@pytest.fixture
def copied(entry, root, tmp_path):
    """The raw files of the dataset, copied into a folder of their own."""
    for file in entry.files:
        (tmp_path / file.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / file.path, tmp_path / file.path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
class TestEntry:
    def test_is_listed_once(self, entry, toy_folder):
        (row,) = (row for row in datasets.listing(toy_folder) if row.name == entry.name)
        assert (row.size, row.task, row.source) == (entry.size, entry.task, entry.source)
        assert min(entry.size) > 0 and entry.source

    def test_says_what_is_asked(self, entry):
        if entry.task.level == "pair":
            assert not entry.task.targets
        else:
            assert entry.task.targets and entry.task.metric in METRICS[entry.task.kind]

    def test_files_are_known_and_can_be_had(self, entry):
        for file in entry.files:
            path = PurePosixPath(file.path)
            assert not path.is_absolute() and ".." not in path.parts and len(path.parts) > 1
            assert file.url.startswith("https://") or entry.advice or file.optional
            assert bool(file.sha256) == (entry.name not in UNSEEN)
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32

    def test_settings_are_good(self, entry):
        assert bool(entry.defaults) == (entry.task.level != "pair")
        single = from_members([(1, np.empty((0, 2), np.int64))])
        config = read_config(bundle=DatasetBundle(entry.name, single, entry.task))
        assert config.epochs == entry.defaults.get("epochs", 200)

    def test_unknown_options_are_refused(self, name):
        with pytest.raises(ValueError, match=f"sed: {name} has no such option; it has "):
            datasets.load(name, sed=1)


@pytest.mark.parametrize("name", NEEDING_FILES)
def test_a_missing_file_is_named_with_its_place(entry, empty_cache, tmp_path, monkeypatch):
    def no_network(url, timeout):
        raise OSError("no network")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.load(entry.name, root=tmp_path / "mine")
    text = str(caught.value)
    assert all(file.path in text for file in entry.needed)
    assert f"below {tmp_path / 'mine'} or {empty_cache / 'data'}" in text
    assert ("no network" in text) == all(file.url for file in entry.needed)
    assert "no network" in text or f"There is no download: {entry.advice}" in text


@pytest.mark.parametrize("name", PRESENT)
class TestData:
    def test_verifies(self, name, root):
        found = datasets.verify(name, root)
        assert found.good
        assert all(check.good and check.sha256 == check.known for check in found.files)

    def test_holds_what_it_promises(self, entry, root):
        bundle = datasets.load(entry.name, root)
        assert (bundle.name, bundle.task, bundle.source) == (entry.name, entry.task, entry.source)
        assert bundle.split or bundle.folds or bundle.pairs is not None
        assert len(bundle.categories) in (0, len(bundle.pairs if bundle.pairs is not None else ()))
        for split in (*bundle.folds, *([bundle.split] if bundle.split else [])):
            used = np.concatenate(split)
            assert len(np.unique(used)) == len(used) and all(subset.size for subset in split)
        if entry.task.level != "pair":
            y = bundle.graphs.column("y")
            rows = bundle.graphs.num_nodes_total if entry.task.level == "node" else len(bundle.graphs)
            assert y.shape == (rows, len(entry.task.targets))
            assert y.is_floating_point() == (entry.task.kind != "multiclass")
        for field, feature in bundle.features.items():
            column = bundle.graphs.column(field)
            if feature.kind == "dense":
                assert feature.sizes == column.shape[1:] and column.is_floating_point()
            else:
                assert column.min() >= 0 and (column.max(dim=0).values.numpy() < feature.sizes).all()


@pytest.mark.parametrize("name", ONE_OF_EACH_PARSER)
def test_what_is_cached_is_what_was_parsed(entry, root):
    bundle = datasets.load(entry.name, root)
    fresh = entry.parse(obtain(entry, root))
    assert_same(bundle, replace(fresh, source=entry.source, sha256=bundle.sha256))


@pytest.mark.parametrize("name", WITH_FILES)
class TestDamage:
    def test_a_changed_or_truncated_file_is_refused(self, name, entry, copied):
        path = copied / entry.files[-1].path
        good = path.read_bytes()
        for bad in (good[: len(good) // 2], good[:-3] + b"???", b""):
            path.write_bytes(bad)
            with pytest.raises(datasets.DatasetError, match=f"{path.name} is damaged, or another version: its sha256"):
                datasets.load(name, root=copied)
            assert not datasets.verify(name, copied).good

    def test_a_damaged_file_is_told_even_without_its_checksum(self, name, entry, copied):
        """As for a copy that the entry does not know: whatever the parser stumbles over, the error names the file."""
        files = [file for file in entry.files if "attributes" not in file.name]  # those are not read by default
        for file in files[:: 4 if name == "ogbg-molhiv" else 1]:
            good = (copied / file.path).read_bytes()
            harmed = [good[: len(good) // 2]]
            if len(good) < 100_000:
                harmed.append(good[:40] + b"\xff,?" + good[50:])
            for bad in harmed:
                (copied / file.path).write_bytes(bad)
                accept(copied, [file.path])
                with pytest.raises(datasets.DatasetError, match=f"{copied}.* is damaged"):
                    datasets.load(name, root=copied)
            (copied / file.path).write_bytes(good)
            (copied / SUMS).unlink()


def test_a_toy_is_loaded_by_name_with_its_options(toy_folder):
    one, two = (datasets.load("odd-cycles", toy_folder, seed=seed) for seed in (0, 1))
    assert repr(one) == "DatasetBundle(odd-cycles: 20 graphs, graph binary, accuracy)"
    assert not np.array_equal(one.split.train, two.split.train)
    assert read_config(bundle=one).epochs == 3
    with pytest.raises(ValueError, match="did you mean 'odd-cycles'"):
        datasets.load("odd-cycle")


def test_a_name_is_taken_once():
    datasets.register(TOY)  # the same again
    with pytest.raises(ValueError, match="name: 'odd-cycles' is another dataset already; expected a new name"):
        datasets.register(replace(TOY, version=2))
    with pytest.raises(ValueError, match="name: 'csl' is another"):
        datasets.register(replace(TOY, name="csl"))
    assert datasets.entry_of("odd-cycles") is TOY


def test_another_version_of_the_parser_does_not_read_what_the_first_cached(toy_folder, monkeypatch):
    def doubled(raw: Raw, *, seed: int = 0) -> DatasetBundle:
        bundle = odd_cycles(raw, seed=seed)
        return replace(bundle, graphs=bundle.graphs.with_fields(graph={"y": 2 * bundle.graphs.column("y").numpy()}))

    first = datasets.load(TOY.name, toy_folder)
    monkeypatch.setitem(DATASETS, TOY.name, replace(TOY, parse=doubled, version=2))
    second = datasets.load(TOY.name, toy_folder)
    assert second.graphs.column("y").equal(2 * first.graphs.column("y"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "name: ''; expected a word without slashes"),
        ({"name": "my/data"}, "name: 'my/data'; expected a word"),
        ({"advice": ""}, "advice: toy/cycles.txt of odd-cycles has no url; expected where to get it instead"),
        ({"files": (RawFile("a/b"), RawFile("c/b"))}, "files: 2 files of odd-cycles are called b"),
    ],
)
def test_an_entry_says_what_it_lacks(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TOY, **change)
