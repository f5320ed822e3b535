"""PyTorch Geometric transforms."""

from escgnn.transforms.structural import StructuralEncoding

__all__ = ["StructuralEncoding"]
