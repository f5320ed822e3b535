"""What is done to graphs before a network sees them: to each batch, as PyTorch Geometric transforms, or once to all."""

from escgnn.transforms.cells import Cells
from escgnn.transforms.directions import Directions
from escgnn.transforms.pairs import PairDistances, PairRows
from escgnn.transforms.patterns import PatternCounts
from escgnn.transforms.policies import ChoiceBags, PolicyBags
from escgnn.transforms.positions import Positions
from escgnn.transforms.rooted import RootedNodes, RootedPairs
from escgnn.transforms.spectra import WalkAndSpectrum
from escgnn.transforms.structural import StructuralEncoding
from escgnn.transforms.surroundings import Surroundings
from escgnn.transforms.triples import Triples
from escgnn.transforms.walks import ClosedWalks

__all__ = [
    "Cells",
    "ChoiceBags",
    "ClosedWalks",
    "Directions",
    "PairDistances",
    "PairRows",
    "PatternCounts",
    "PolicyBags",
    "Positions",
    "RootedNodes",
    "RootedPairs",
    "StructuralEncoding",
    "Surroundings",
    "Triples",
    "WalkAndSpectrum",
]
