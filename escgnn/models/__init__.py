"""Graph neural networks whose messages carry the structural encoding."""

from escgnn.models.count_skip import CountSkip
from escgnn.models.esc_gnn import ESCGNN
from escgnn.models.wrapping import with_structure

__all__ = ["ESCGNN", "CountSkip", "with_structure"]
