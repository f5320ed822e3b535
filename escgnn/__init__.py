"""Graph neural networks that provably count substructures at the cost of message passing."""

__version__ = "0.1.0"
