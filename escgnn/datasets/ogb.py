"""The molecules of the Open Graph Benchmark, from its raw tables: one row per node, edge or graph, without a header."""

from collections.abc import Mapping, Sequence

import numpy as np

from escgnn.datasets.bundle import DatasetBundle, Split
from escgnn.datasets.entry import Entry, Size, raw_files
from escgnn.datasets.molecules import OGB_FEATURES
from escgnn.datasets.raw import DatasetError, Raw
from escgnn.datasets.reading import damage_named, from_undirected, read_numbers
from escgnn.datasets.sheets import read_sheet
from escgnn.task import Task

HOME = "https://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download"
MOLHIV_TASK = Task("graph", "binary", "rocauc", "max", ("HIV_active",))
MOLPCBA_TASK = Task("graph", "multilabel", "ap", "max", tuple(f"assay-{i}" for i in range(128)))
DEFAULTS = {
    "encoding": {"hops": 3},
    "model": {"hidden": 128, "virtual_node": True, "pool": "mean", "dropout": 0.5},
    "epochs": 100,
}
MOLHIV_FILES = {
    "raw/num-node-list.csv.gz": "a9bce9fed52e08950692ed54ff689a2c1dda72a7d42c1ebea93dfdc0fcdd1aa7",
    "raw/num-edge-list.csv.gz": "e080d9bc6ab3c7db7aaf6c39246f536b482766e24e667f169b94adf34650bc0a",
    "raw/node-feat.csv.gz": "56706fa2b513c654216eef33674ceaf6d07698b37470a7b93c48a216b73de526",
    "raw/edge.csv.gz": "e5f247c4a0b5103b95f4ddb1e6c49e9fb63e6004bdafc5067dfab86d486f5b5d",
    "raw/edge-feat.csv.gz": "463d29e229732da2e3b8afd19cf3f2f097763c1b537ceceac3bb057f6c509d38",
    "raw/graph-label.csv.gz": "4f9c1b37ad9ffe6c7911b191eb8cf43be4375ce145cbaa7af24d4a99a588e8e9",
    "split/scaffold/train.csv.gz": "5c433e35f0011c588c28f7b6defa174a116beccf680f91267c4ecd4081c19e8d",
    "split/scaffold/valid.csv.gz": "6e6566dc22d48cfc55fcfba4a13e7f8b402d9b36663b8920ad019ae1d2975a22",
    "split/scaffold/test.csv.gz": "484f8ddd2035f62a120352a0ff3b31104639cb5f55766402d2afd769c75684a6",
}
SMILES = "mapping/mol.csv.gz"  # a table with a header, which the graphs can be had without
SMILES_SUMS: dict[str, str | None] = {
    "ogbg-molhiv": "3c01ae5d1f959314e9cc65138d99ce7f248bf240feb7ba2340149d168ffec8cb",
    "ogbg-molpcba": None,
}
MOLPCBA_FILES = dict.fromkeys(MOLHIV_FILES)  # nobody here has seen their checksums


def ogb(raw: Raw, *, descriptors: Sequence[str] = ()) -> DatasetBundle:
    """An ``ogbg-mol*`` dataset and its scaffold split.

    Args:
        raw: The files.
        descriptors: Numbers beside the graph; see `DatasetBundle.described`.
    """
    texts = _smiles(raw)
    if descriptors and not texts:
        raise DatasetError(
            f"descriptors: {raw.entry.name} is here without the SMILES that they are made of; put {SMILES} of its archive "
            f"into {raw.paths['edge.csv.gz'].parent.parent}"
        )
    tables = {
        name: read_numbers(raw.paths[f"{name}.csv.gz"])
        for name in ("num-node-list", "num-edge-list", "node-feat", "edge", "edge-feat")
    }
    y = read_numbers(raw.paths["graph-label.csv.gz"], np.float32)
    with damage_named(raw.paths["edge.csv.gz"].parent):
        graphs = from_undirected(
            tables["num-node-list"][:, 0],
            tables["num-edge-list"][:, 0],
            tables["edge"],
            node={"x": tables["node-feat"]},
            edge={"edge_attr": tables["edge-feat"]},
            graph={"y": y},
        )
    split = Split(*(read_numbers(raw.paths[f"{subset}.csv.gz"])[:, 0] for subset in ("train", "valid", "test")))
    if texts and len(texts) != len(graphs):
        raise DatasetError(f"{raw.paths['mol.csv.gz']} has {len(texts)} molecules for {len(graphs)} graphs")
    bundle = DatasetBundle(raw.entry.name, graphs, raw.entry.task, OGB_FEATURES, split, texts=texts)
    return bundle.described(descriptors) if descriptors else bundle


def _smiles(raw: Raw) -> tuple[str, ...]:
    """The SMILES of all molecules, if their file is there."""
    path = raw.paths.get("mol.csv.gz")
    if path is None:
        return ()
    sheet = read_sheet(path, ["smiles"], path.read_bytes())
    return tuple(sheet.cells["smiles"])


def _entry(name: str, archive: str, task: Task, size: Size, checksums: Mapping[str, str | None]) -> Entry:
    folder = name.replace("-", "_")
    address = f"{HOME}/{archive}.zip"
    smiles = {SMILES: SMILES_SUMS[name]}
    files = (
        *raw_files(folder, checksums, archive=address, inside=f"{archive}/"),
        *raw_files(folder, smiles, archive=address, inside=f"{archive}/", optional=True),
    )
    return Entry(
        name=name,
        parse=ogb,
        task=task,
        size=size,
        source="Open Graph Benchmark, https://ogb.stanford.edu",
        files=files,
        defaults=DEFAULTS,
        version=2,
    )


ENTRIES = (
    _entry("ogbg-molhiv", "hiv", MOLHIV_TASK, Size(41127, 25.510, 27.468), MOLHIV_FILES),
    _entry("ogbg-molpcba", "pcba", MOLPCBA_TASK, Size(437929, 26.0, 28.1), MOLPCBA_FILES),
)
