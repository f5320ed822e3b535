"""PyTorch Geometric transforms."""

from escgnn.transforms.rooted import RootedNodes, RootedPairs
from escgnn.transforms.structural import StructuralEncoding

__all__ = ["RootedNodes", "RootedPairs", "StructuralEncoding"]
