"""Graph neural networks under one contract, `Network`; those of the zoo, and the structural embedding for any other."""

from escgnn.models.count_skip import CountSkip
from escgnn.models.esc_gnn import ESCGNN
from escgnn.models.exporting import export_program, size_of, to_onnx
from escgnn.models.frame import Frame, Network, Term
from escgnn.models.sizes import Bounded
from escgnn.models.wrapping import with_structure

__all__ = [
    "ESCGNN",
    "Bounded",
    "CountSkip",
    "Frame",
    "Network",
    "Term",
    "export_program",
    "size_of",
    "to_onnx",
    "with_structure",
]
