"""The paper's benchmarks and a user's own data: one call, checked, and quick the second time.

>>> from escgnn import datasets
>>> bundle = datasets.load("counting-random", count=20)
>>> len(bundle.train), len(bundle.validation), len(bundle.test)
(6, 4, 10)
>>> bundle.task.level, bundle.task.metric, bundle.targets[:2]
('node', 'norm-mae', ('3-cycle', '4-cycle'))
"""

from escgnn.datasets.bundle import DatasetBundle, Feature, Moments, Split, Statistics
from escgnn.datasets.descriptors import NO_DESCRIPTORS, Descriptors, fingerprints
from escgnn.datasets.entry import Entry, RawFile, Size, raw_files
from escgnn.datasets.inventory import FileCheck, Listing, Verification, is_present, listing, verify
from escgnn.datasets.isomorphism import BREC_CATEGORIES
from escgnn.datasets.loading import defaults, entry_of, is_own_file, load, register
from escgnn.datasets.molecules import FEATURES, FeatureSet, Molecules, parse_molecules, read_smiles, smiles_to_graph
from escgnn.datasets.raw import DatasetError, Raw
from escgnn.datasets.reading import (
    categorical,
    damage_named,
    from_members,
    from_parsed,
    from_undirected,
    read_npz,
    read_numbers,
)
from escgnn.datasets.splits import (
    block_folds,
    grouped_folds,
    labelled_split,
    numbered_split,
    random_split,
    scaffold_split,
    stratified_folds,
)

__all__ = [
    "BREC_CATEGORIES",
    "FEATURES",
    "NO_DESCRIPTORS",
    "DatasetBundle",
    "DatasetError",
    "Descriptors",
    "Entry",
    "Feature",
    "FeatureSet",
    "FileCheck",
    "Listing",
    "Molecules",
    "Moments",
    "Raw",
    "RawFile",
    "Size",
    "Split",
    "Statistics",
    "Verification",
    "block_folds",
    "categorical",
    "damage_named",
    "defaults",
    "entry_of",
    "fingerprints",
    "from_members",
    "from_parsed",
    "from_undirected",
    "grouped_folds",
    "is_own_file",
    "is_present",
    "labelled_split",
    "listing",
    "load",
    "numbered_split",
    "parse_molecules",
    "random_split",
    "raw_files",
    "read_npz",
    "read_numbers",
    "read_smiles",
    "register",
    "scaffold_split",
    "smiles_to_graph",
    "stratified_folds",
    "verify",
]
