"""The paper's benchmarks and a user's own data: one call, checked, and quick the second time.

>>> from escgnn import datasets
>>> bundle = datasets.load("counting-random", count=20)
>>> len(bundle.train), len(bundle.validation), len(bundle.test)
(6, 4, 10)
>>> bundle.task.level, bundle.task.metric, bundle.targets[:2]
('node', 'norm-mae', ('3-cycle', '4-cycle'))
"""

from escgnn.datasets.bundle import DatasetBundle, Feature, Moments, Split, Statistics
from escgnn.datasets.inventory import FileCheck, Listing, Verification, listing, verify
from escgnn.datasets.loading import load
from escgnn.datasets.molecules import FEATURES, FeatureSet, Molecules, parse_molecules, read_smiles, smiles_to_graph
from escgnn.datasets.raw import DatasetError
from escgnn.datasets.reading import from_parsed
from escgnn.datasets.registry import BREC_CATEGORIES
from escgnn.datasets.statistics import SizeRow, SubstructureRow, size_table, substructure_table

__all__ = [
    "BREC_CATEGORIES",
    "FEATURES",
    "DatasetBundle",
    "DatasetError",
    "Feature",
    "FeatureSet",
    "FileCheck",
    "Listing",
    "Molecules",
    "Moments",
    "SizeRow",
    "Split",
    "Statistics",
    "SubstructureRow",
    "Verification",
    "from_parsed",
    "listing",
    "load",
    "parse_molecules",
    "read_smiles",
    "size_table",
    "smiles_to_graph",
    "substructure_table",
    "verify",
]
