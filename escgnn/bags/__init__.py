"""Bags of subgraphs as networks see them.

A bag holds many subgraphs of each graph of a batch. `node_bag` and `pair_bag` read what `escgnn.transforms.RootedNodes`
and `RootedPairs` have cut; the others are made of the batch as it is. `Bag` has the moves between copies, nodes and
subgraphs, with a worked example.
"""

from escgnn.bags.guard import MAX_ROWS, BagTooLargeError, check_rows, rows_that_fit, split
from escgnn.bags.policies import MARKED, POLICIES, is_cut, policy_bag
from escgnn.bags.view import NODE_ARRAYS, PAIR_ARRAYS, Bag, check_bag, node_bag, pair_bag
from escgnn.bags.whole import copies_bag, edge_deleted_bag, graphs_bag, node_deleted_bag, whole_bag

__all__ = [
    "MARKED",
    "MAX_ROWS",
    "NODE_ARRAYS",
    "PAIR_ARRAYS",
    "POLICIES",
    "Bag",
    "BagTooLargeError",
    "check_bag",
    "check_rows",
    "copies_bag",
    "edge_deleted_bag",
    "graphs_bag",
    "is_cut",
    "node_bag",
    "node_deleted_bag",
    "pair_bag",
    "policy_bag",
    "rows_that_fit",
    "split",
    "whole_bag",
]
