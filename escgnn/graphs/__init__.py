"""Graphs: one view of what people have, and the named families that tests, theory and benchmarks use.

>>> from escgnn import graphs
>>> graphs.as_graph("Cl")  # graph6
Graph(nodes=4, edges=4)
>>> graphs.rook(4), graphs.shrikhande()
(Graph(nodes=16, edges=48), Graph(nodes=16, edges=48))
"""

from escgnn.graphs.families import (
    COUNTING_RECIPE,
    barabasi_albert,
    circulant,
    complete,
    complete_bipartite,
    counting_random,
    cycle,
    empty,
    erdos_renyi,
    figure_1,
    grid,
    hypercube,
    molecule_like,
    path,
    petersen,
    random_regular,
    random_tree,
    rook,
    shrikhande,
    star,
)
from escgnn.graphs.graph6 import decode as decode_graph6
from escgnn.graphs.layout import layout
from escgnn.graphs.lean import LeanGraph
from escgnn.graphs.view import Graph, as_graph, disjoint_union, from_edge_index, from_edges, permute
from escgnn.kernels.graphs import Types

__all__ = [
    "COUNTING_RECIPE",
    "Graph",
    "LeanGraph",
    "Types",
    "as_graph",
    "barabasi_albert",
    "circulant",
    "complete",
    "complete_bipartite",
    "counting_random",
    "cycle",
    "decode_graph6",
    "disjoint_union",
    "empty",
    "erdos_renyi",
    "figure_1",
    "from_edge_index",
    "from_edges",
    "grid",
    "hypercube",
    "layout",
    "molecule_like",
    "path",
    "permute",
    "petersen",
    "random_regular",
    "random_tree",
    "rook",
    "shrikhande",
    "star",
]
