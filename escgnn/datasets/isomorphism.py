"""Graphs that are hard to tell apart: EXP, CSL, SR25 and BREC."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from escgnn.datasets.bundle import DatasetBundle, Feature, Split
from escgnn.datasets.entry import PICKLED, Entry, RawFile, Size, raw_files
from escgnn.datasets.raw import DatasetError, Raw
from escgnn.datasets.reading import categorical, damage_named, from_members, from_undirected, read_npz
from escgnn.datasets.splits import block_folds, stratified_folds
from escgnn.graphs import circulant, decode_graph6, permute
from escgnn.task import Task

EXP_FOLDS = 10
CSL_SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)
CSL_NODES = 41
CSL_COPIES = 15
CSL_FOLDS = 5
BREC_CATEGORIES = {  # by the name of their file
    "basic": "Basic",
    "regular": "Regular(simple)",
    "str": "Regular(strongly)",
    "extension": "Extension",
    "cfi": "CFI",
    "4vtx": "4-Vertex_Condition",
    "dr": "Distance_Regular",
}

GITHUB = "https://raw.githubusercontent.com"
ESC_GNN = f"{GITHUB}/pkuyzy/ESC-GNN/ade0a538e561cf46bd5805b412d96b9f9ba265cf/data/EXP"
GNN_RNI = f"{GITHUB}/ralphabb/GNN-RNI/43c69c06462d3a165ba2b532d76cbc045fc767d7/Data/EXP"
MLP_MIXER = f"{GITHUB}/XiaoxinHe/Graph-MLPMixer/48cd68f9e92a7ecbf15aea0baf22f6f338b2030e/dataset"
BENCHMARKING = f"{GITHUB}/graphdeeplearning/benchmarking-gnns/1068260d2d58cbe616d3d34de9a3c1fbf8332715/data"
BREC = f"{GITHUB}/GraphPKU/BREC/d45190961b86548c626e5bc29ded4c67f5fa4f24/customize/Data/raw"

EXP_TASK = Task("graph", "binary", "accuracy", "max", ("satisfiable",))
CSL_TASK = Task("graph", "multiclass", "accuracy", "max", ("skip",), 10)
PAIRS_TASK = Task("pair", "binary", "separated", "max")
DEFAULTS = {"encoding": {"hops": 3}, "model": {"layers": 4}, "batch_size": 32, "epochs": 100}


def exp(raw: Raw) -> DatasetBundle:
    """Pairs of formulas as graphs, one satisfiable and one not, that 1-WL cannot tell apart.

    Graphs 2i and 2i + 1 are a pair. The folds are those of the authors (Abboud et al. 2021), which the ESC-GNN code uses
    too: ten consecutive blocks. Pairs stay together, so every fold has as many graphs of either class.
    """
    (path,) = raw.paths.values()
    with damage_named(path):
        lines = [[int(word) for word in line.split()] for line in path.read_text().splitlines() if line.strip()]
        members: list[tuple[int, NDArray[np.int64]]] = []
        types: list[int] = []
        labels: list[int] = []
        at = 1
        for _ in range(lines[0][0]):
            num_nodes, label = lines[at]
            nodes = lines[at + 1 : at + 1 + num_nodes]
            if len(nodes) < num_nodes or any(len(node) != 2 + node[1] for node in nodes):
                raise ValueError(f"graph {len(labels)} ends early")
            edges = [(u, v) for u, (_, _, *neighbours) in enumerate(nodes) for v in neighbours if u < v]
            members.append((num_nodes, np.array(edges, np.int64).reshape(-1, 2)))
            types += [node[0] for node in nodes]
            labels.append(label)
            at += 1 + num_nodes
        graphs = from_members(members).with_fields(
            node={"x": categorical(types)}, graph={"y": np.array(labels, np.float32)[:, None]}
        )
    return DatasetBundle(
        raw.entry.name,
        graphs,
        raw.entry.task,
        {"x": Feature("categorical", (2,))},
        folds=block_folds(len(graphs), EXP_FOLDS),
        pairs=_couples(len(graphs)),
    )


def csl(raw: Raw, *, seed: int = 0) -> DatasetBundle:
    """Circular skip links: ten classes of 4-regular graphs on 41 nodes, 15 renamed copies of each.

    The graphs are constructed. If the published file is there, every graph of it must have the spectrum of its
    class, and if the published folds are there they are used; else folds are stratified.

    Args:
        raw: The files, all of them optional.
        seed: For the renaming and for folds that are not published.
    """
    rng = np.random.default_rng(seed)
    originals = [circulant(CSL_NODES, 1, skip) for skip in CSL_SKIPS]
    copies = [permute(graph, rng.permutation(CSL_NODES)) for graph in originals for _ in range(CSL_COPIES)]
    y = np.repeat(np.arange(len(CSL_SKIPS)), CSL_COPIES)
    if "csl.npz" in raw.paths:
        _check_csl(raw.paths["csl.npz"], [graph.edges for graph in originals], y)
    graphs = from_members([(graph.num_nodes, graph.edges) for graph in copies]).with_fields(graph={"y": y[:, None]})
    subsets = [path for name, path in raw.paths.items() if name.endswith(".index")]
    has_published_folds = len(subsets) == len(Split._fields)
    folds = _read_folds(subsets, y.size) if has_published_folds else stratified_folds(y, CSL_FOLDS, seed)
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, folds=folds)


def sr25(raw: Raw) -> DatasetBundle:
    """The 15 strongly regular graphs with parameters (25, 12, 5, 6), and all 105 pairs of them."""
    (path,) = raw.paths.values()
    with damage_named(path):
        graphs = from_members([decode_graph6(line) for line in path.read_text().split()])
    pairs = np.array(list(combinations(range(len(graphs)), 2)), np.int64)
    return DatasetBundle(raw.entry.name, graphs, raw.entry.task, pairs=pairs)


def brec(raw: Raw) -> DatasetBundle:
    """400 pairs of graphs in seven categories, in the order of the benchmark; graphs 2i and 2i + 1 are pair i."""
    members: list[tuple[int, NDArray[np.int64]]] = []
    categories: list[str] = []
    for stem, category in BREC_CATEGORIES.items():
        path = raw.paths[f"{stem}.npy"]
        with damage_named(path):
            lines = np.load(path, allow_pickle=False).ravel().tolist()
            members += [decode_graph6(line) for line in lines]
            categories += [category] * (len(lines) // 2)
    graphs = from_members(members)
    return DatasetBundle(
        raw.entry.name, graphs, raw.entry.task, pairs=_couples(len(graphs)), categories=tuple(categories)
    )


def _couples(count: int) -> NDArray[np.int64]:
    """Graphs 2i and 2i + 1, ``(pairs, 2)``."""
    return np.arange(count - count % 2).reshape(-1, 2)


def _read_folds(paths: list[Path], count: int) -> tuple[Split, ...]:
    """The folds of files for training, validation and test graphs, each with a line for every fold."""
    subsets = []
    for path in paths:
        with damage_named(path):
            subsets.append([np.array(line.split(","), np.int64) for line in path.read_text().split()])
    with damage_named(paths[0].parent):
        folds = tuple(Split(*fold) for fold in zip(*subsets, strict=True))
        if any(not np.array_equal(np.sort(np.concatenate(fold)), np.arange(count)) for fold in folds):
            raise ValueError("a fold does not hold every graph once")
    return folds


def _check_csl(path: Path, edges: list[NDArray[np.int64]], y: NDArray[np.int64]) -> None:
    arrays = read_npz(path)
    with damage_named(path):
        published = from_undirected(arrays["num_nodes"], arrays["num_edges"], arrays["edges"])
        expected = np.array([_spectrum(pairs) for pairs in edges])[arrays["y"]]
        found = np.array([_spectrum(data.edge_index.numpy().T) for data in published])
        same = np.array_equal(arrays["y"], y) and np.allclose(found, expected, atol=1e-6)
    if not same:
        raise DatasetError(f"{path} does not hold the graphs of CSL: a spectrum differs from that of its class")


def _spectrum(edges: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
    u, v = edges.T
    adjacency = np.zeros((CSL_NODES, CSL_NODES))
    adjacency[u, v] = 1
    adjacency[v, u] = 1
    return np.linalg.eigvalsh(adjacency)


ENTRIES = (
    Entry(
        name="exp",
        parse=exp,
        task=EXP_TASK,
        size=Size(1200, 44.447, 55.108),
        source="Abboud et al. 2021, the copy of GNN-AK, ESAN, SUN and KP-GNN",
        files=(
            RawFile(
                "exp/GRAPHSAT_standard_from_pkl.txt",
                sha256="6a0cffd9a2d864f71663025495d2d057c76dbed55bc348d3ce705b3636a3cba0",
            ),
        ),
        advice=f"{PICKLED}; exp-rni and exp-escgnn are text and download",
        defaults=DEFAULTS,
    ),
    Entry(
        name="exp-escgnn",
        parse=exp,
        task=EXP_TASK,
        size=Size(1200, 44.390, 55.073),
        source="the copy of the ESC-GNN code",
        files=(
            RawFile(
                "exp/GRAPHSAT_escgnn_repo.txt",
                url=f"{ESC_GNN}/GRAPHSAT.txt",
                sha256="925be22bb3820cdb2e54d4b94dc537ac6db7cb36c7489f04da2455ced0f745cb",
            ),
        ),
        defaults=DEFAULTS,
    ),
    Entry(
        name="exp-rni",
        parse=exp,
        task=EXP_TASK,
        size=Size(1200, 48.702, 60.442),
        source="Abboud et al. 2021, the text file of GNN-RNI",
        files=(
            RawFile(
                "exp/GRAPHSAT.txt",
                url=f"{GNN_RNI}/GRAPHSAT.txt",
                sha256="16f24a5ad96400b2d53eb5cd2843fb2006e50ed67821f6c4abe5ae23100bf899",
            ),
        ),
        defaults=DEFAULTS,
    ),
    Entry(
        name="csl",
        parse=csl,
        task=CSL_TASK,
        size=Size(150, 41.0, 82.0),
        source="generated: Murphy et al. 2019; folds of benchmarking-gnns",
        files=(
            *raw_files(
                "csl",
                {
                    "CSL_train.index": "c951d98c8fae5aed3b2faf0fbcb64adcc60dd754329b556f8886cb934e919edd",
                    "CSL_val.index": "dbb5b5cd8a413a5c3268b36530301fc1620a873c6ba71d08e4fd51e93f010d83",
                    "CSL_test.index": "e52e55cb8c57d2f4f140638ae127231d8f7c72e6bcbe62dd05682dc33f13235b",
                },
                home=f"{BENCHMARKING}/CSL",
                optional=True,
            ),
            RawFile(
                "csl/csl.npz",
                sha256="5ac0ae2aa69a683dc262b4f5c8ea15e7c59d5391a8311e13d61c15c90563313b",
                optional=True,
            ),
        ),
        defaults={**DEFAULTS, "encoding": {"hops": 4}},
    ),
    Entry(
        name="sr25",
        parse=sr25,
        task=PAIRS_TASK,
        size=Size(15, 25.0, 150.0),
        source="strongly regular graphs (25, 12, 5, 6), as Graph-MLPMixer has them",
        files=(
            RawFile(
                "sr25/sr251256.g6",
                url=f"{MLP_MIXER}/sr25/raw/sr251256.g6",
                sha256="f55f86eb48cd61c3315c62341cc3a8c59289c58504edb3ab859d7ef2068b9aa4",
            ),
        ),
    ),
    Entry(
        name="brec",
        parse=brec,
        task=PAIRS_TASK,
        size=Size(800, 34.755, 143.440),
        source="Wang and Zhang 2024, GraphPKU/BREC",
        files=raw_files(
            "brec",
            {
                "basic.npy": "adef7f761b803026b515d94172399f5db72fe73859b0e489a1edfaa5874aeec2",
                "regular.npy": "e9e85ff2003f50676e2a2ac7ef70b8ad919598c3042aaf8f5f6f43184bfdc663",
                "str.npy": "6de58d99b80b7ace4529d17cf8fe3d000b496b3c2a7ab7f59fe3f28f61746d6f",
                "extension.npy": "9b76b59842f997a502a83724daba033d793c5fbc9c2aa758834beb78d2309d4a",
                "cfi.npy": "e8d56d7c0a22768da8dfdcaae800bc8dc815fb10b1bf1b52dc7893ed68c4e92f",
                "4vtx.npy": "a9e593c485f3fa08d3db967d7c545a4f5cf7f417f016c9a77a5c1cc646786cea",
                "dr.npy": "11b861e1439ddee4c58fa04b523e874c25fdbb4ba867f3ac9104711cb3739d89",
            },
            home=BREC,
        ),
    ),
)
