"""The datasets by name: their raw files, the public homes of these, the task, and the published size."""

from dataclasses import dataclass
from typing import NamedTuple

from escgnn.counting import TARGETS
from escgnn.datasets.checksums import CHECKSUMS
from escgnn.task import Task

GITHUB = "https://raw.githubusercontent.com"
ESC_GNN = f"{GITHUB}/pkuyzy/ESC-GNN/ade0a538e561cf46bd5805b412d96b9f9ba265cf/data/EXP"
GNN_RNI = f"{GITHUB}/ralphabb/GNN-RNI/43c69c06462d3a165ba2b532d76cbc045fc767d7/Data/EXP"
MLP_MIXER = f"{GITHUB}/XiaoxinHe/Graph-MLPMixer/48cd68f9e92a7ecbf15aea0baf22f6f338b2030e/dataset"
BENCHMARKING = f"{GITHUB}/graphdeeplearning/benchmarking-gnns/1068260d2d58cbe616d3d34de9a3c1fbf8332715/data"
BREC = f"{GITHUB}/GraphPKU/BREC/d45190961b86548c626e5bc29ded4c67f5fa4f24/customize/Data/raw"
OGB = "https://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download"
TU = "https://www.chrsmrrs.com/graphkerneldatasets"
MOLNET = "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/molnet_publish"
FIGSHARE = "https://ndownloader.figshare.com/files"

BREC_CATEGORIES = {  # by the name of their file
    "basic": "Basic",
    "regular": "Regular(simple)",
    "str": "Regular(strongly)",
    "extension": "Extension",
    "cfi": "CFI",
    "4vtx": "4-Vertex_Condition",
    "dr": "Distance_Regular",
}
QM9_TARGETS = ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "u0", "u298", "h298", "g298", "cv")

COUNTING = Task("node", "regression", "norm-mae", "min", TARGETS)
PAIRS = Task("pair", "binary", "separated", "max")
EXP = Task("graph", "binary", "accuracy", "max", ("satisfiable",))
ZINC = Task("graph", "regression", "mae", "min", ("penalised-logP",))
ZINC_CYCLES = Task("node", "regression", "norm-mae", "min", TARGETS[:4])
QM9 = Task("graph", "regression", "mae", "min", QM9_TARGETS)
MOLHIV = Task("graph", "binary", "rocauc", "max", ("HIV_active",))
MOLPCBA = Task("graph", "multilabel", "ap", "max", tuple(f"assay-{i}" for i in range(128)))

PICKLED = "its public copies are pickles, which can run code and are not opened here"
FROM_PYG = f"{PICKLED}; if you trust PyG's, escgnn.datasets.zinc.convert writes it in the format read here"


@dataclass(frozen=True)
class RawFile:
    """A file that a dataset is read from.

    Attributes:
        path: Where it stands below a data folder.
        url: Where it can be downloaded from: itself or, with ``member``, a zip archive that holds it.
        member: Its name in the archive.
        optional: Whether the dataset can be had without it.
    """

    path: str
    url: str = ""
    member: str = ""
    optional: bool = False

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def sha256(self) -> str | None:
        """Hash of the known copy. Archives are not checked as a whole: nobody here has seen their hashes."""
        return CHECKSUMS.get(self.path)


class Size(NamedTuple):
    """Number of graphs, and their average numbers of nodes and of undirected edges."""

    graphs: int
    nodes: float
    edges: float


@dataclass(frozen=True)
class Entry:
    """One dataset.

    Attributes:
        name: What `load` calls it.
        parser: Which function of `escgnn.datasets.loading.PARSERS` reads it.
        task: What is predicted and how it is judged.
        size: Published size.
        source: Where it comes from.
        files: What it is read from; a dataset without any is generated.
        advice: What to do where no public copy can be read without running code from it.
    """

    name: str
    parser: str
    task: Task
    size: Size
    source: str
    files: tuple[RawFile, ...] = ()
    advice: str = ""


def _files(folder: str, *names: str, home: str = "", optional: bool = False) -> tuple[RawFile, ...]:
    return tuple(RawFile(f"{folder}/{name}", home and f"{home}/{name}", optional=optional) for name in names)


def _zipped(folder: str, *names: str, url: str, inside: str = "") -> tuple[RawFile, ...]:
    return tuple(RawFile(f"{folder}/{name}", url, f"{inside}{name}") for name in names)


def _zinc(name: str, file: str, size: Size, task: Task = ZINC, parser: str = "zinc") -> Entry:
    source = "Dwivedi et al. 2023, benchmarking-gnns" + ", cycles counted" * (task is not ZINC)
    return Entry(name, parser, task, size, source, _files("zinc", file), FROM_PYG)


def _exp(name: str, file: str, size: Size, source: str, url: str = "", advice: str = "") -> Entry:
    return Entry(name, "exp", EXP, size, source, (RawFile(f"exp/{file}", url),), advice)


def _ogb(name: str, archive: str, size: Size, task: Task) -> Entry:
    tables = ("num-node-list", "num-edge-list", "node-feat", "edge", "edge-feat", "graph-label")
    names = [f"raw/{table}.csv.gz" for table in tables]
    names += [f"split/scaffold/{part}.csv.gz" for part in ("train", "valid", "test")]
    files = _zipped(name.replace("-", "_"), *names, url=f"{OGB}/{archive}.zip", inside=f"{archive}/")
    return Entry(name, "ogb", task, size, "Open Graph Benchmark, https://ogb.stanford.edu", files)


def _tu(name: str, prefix: str, size: Size, *extras: str, classes: int = 2) -> Entry:
    names = [f"{prefix}_{part}.txt" for part in ("A", "graph_indicator", "graph_labels", *extras)]
    files = _zipped(f"tu/{prefix}/raw", *names, url=f"{TU}/{prefix}.zip", inside=f"{prefix}/")
    if classes == 2:
        task = Task("graph", "binary", "accuracy", "max", ("class",))
    else:
        task = Task("graph", "multiclass", "accuracy", "max", ("class",), classes)
    return Entry(name, "tu", task, size, "TUDataset, https://chrsmrrs.github.io/datasets", files)


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(
            name="counting",
            parser="counting",
            task=COUNTING,
            size=Size(5000, 18.800, 31.339),
            source="Chen et al. 2020, dataset 2, as converted from subgraph23/homomorphism-expressivity",
            files=_files("count_synthetic", "randomgraph.npz"),
            advice=f"{PICKLED}; counting-random follows the same recipe and needs no file",
        ),
        Entry("counting-random", "counting_random", COUNTING, Size(5000, 18.8, 31.3), "generated: Chen et al. 2020"),
        _exp(
            "exp",
            "GRAPHSAT_standard_from_pkl.txt",
            Size(1200, 44.447, 55.108),
            "Abboud et al. 2021, the copy of GNN-AK, ESAN, SUN and KP-GNN",
            advice=f"{PICKLED}; exp-rni and exp-escgnn are text and download",
        ),
        _exp(
            "exp-escgnn",
            "GRAPHSAT_escgnn_repo.txt",
            Size(1200, 44.390, 55.073),
            "the copy of the ESC-GNN code",
            f"{ESC_GNN}/GRAPHSAT.txt",
        ),
        _exp(
            "exp-rni",
            "GRAPHSAT.txt",
            Size(1200, 48.702, 60.442),
            "Abboud et al. 2021, the text file of GNN-RNI",
            f"{GNN_RNI}/GRAPHSAT.txt",
        ),
        Entry(
            name="csl",
            parser="csl",
            task=Task("graph", "multiclass", "accuracy", "max", ("skip",), 10),
            size=Size(150, 41.0, 82.0),
            source="generated: Murphy et al. 2019; folds of benchmarking-gnns",
            files=_files(
                "csl",
                *("CSL_train.index", "CSL_val.index", "CSL_test.index"),
                home=f"{BENCHMARKING}/CSL",
                optional=True,
            )
            + _files("csl", "csl.npz", optional=True),
        ),
        Entry(
            name="sr25",
            parser="sr25",
            task=PAIRS,
            size=Size(15, 25.0, 150.0),
            source="strongly regular graphs (25, 12, 5, 6), as Graph-MLPMixer has them",
            files=_files("sr25", "sr251256.g6", home=f"{MLP_MIXER}/sr25/raw"),
        ),
        Entry(
            name="brec",
            parser="brec",
            task=PAIRS,
            size=Size(800, 34.755, 143.440),
            source="Wang and Zhang 2024, GraphPKU/BREC",
            files=_files("brec", *(f"{part}.npy" for part in BREC_CATEGORIES), home=BREC),
        ),
        _zinc("zinc-12k", "zinc12k.npz", Size(12000, 23.155, 24.915)),
        _zinc("zinc-250k", "zinc250k.npz", Size(249455, 23.151, 24.902)),
        _zinc("zinc-cycles", "zinc12k.npz", Size(12000, 23.155, 24.915), ZINC_CYCLES, "zinc_cycles"),
        Entry(
            name="qm9",
            parser="qm9",
            task=QM9,
            size=Size(130831, 18.0, 18.6),
            source="MoleculeNet's gdb9.sdf, as PyG reads it",
            files=(
                *_zipped("qm9", "gdb9.sdf", "gdb9.sdf.csv", url=f"{MOLNET}/qm9.zip"),
                RawFile("qm9/uncharacterized.txt", f"{FIGSHARE}/3195404"),
            ),
        ),
        Entry(
            name="qm9-20k",
            parser="qm9_20k",
            task=QM9,
            size=Size(20000, 18.075, 18.699),
            source="20,000 molecules of QM9 with hydrogens, from the valid and test files of Gilmer et al. 2017",
            files=_files("qm9", "qm9_graphs_20k.npz"),
            advice="this part of QM9 has no public home; qm9 is the whole and downloads",
        ),
        _ogb("ogbg-molhiv", "hiv", Size(41127, 25.510, 27.468), MOLHIV),
        _ogb("ogbg-molpcba", "pcba", Size(437929, 26.0, 28.1), MOLPCBA),
        _tu("mutag", "MUTAG", Size(188, 17.93, 19.79), "node_labels", "edge_labels"),
        _tu("ptc-mr", "PTC_MR", Size(344, 14.29, 14.69), "node_labels", "edge_labels"),
        _tu("proteins", "PROTEINS", Size(1113, 39.06, 72.82), "node_labels", "node_attributes"),
        _tu("enzymes", "ENZYMES", Size(600, 32.63, 62.14), "node_labels", "node_attributes", classes=6),
        _tu("imdb-b", "IMDB-BINARY", Size(1000, 19.77, 96.53)),
    )
}
