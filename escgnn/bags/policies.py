"""Which subgraphs of a graph make its bag, by the names that ESAN and SUN give them: all of these keep all nodes.

Bevilacqua et al., Equivariant Subgraph Aggregation Networks, ICLR 2022; Frasca et al., Understanding and Extending
Subgraph GNNs by Rethinking their Symmetries, NeurIPS 2022.
"""

from collections.abc import Callable
from typing import Any

from escgnn.bags.guard import MAX_ROWS
from escgnn.bags.view import Bag, check_bag, node_bag
from escgnn.bags.whole import edge_deleted_bag, node_deleted_bag, whole_bag

WHOLE: dict[str, Callable[..., Bag]] = {
    "null": whole_bag,
    "NM": whole_bag,
    "ND": node_deleted_bag,
    "ED": edge_deleted_bag,
}
POLICIES = (*WHOLE, "EGO", "EGO+")
MARKED = ("NM", "EGO+")  # whose roots are told from other nodes


def is_cut(policy: str) -> bool:
    """Whether a bag has to be cut by `escgnn.transforms.RootedNodes` first."""
    return policy not in WHOLE


def policy_bag(policy: str, data: Any, *, max_rows: int = MAX_ROWS) -> Bag:
    """The bag of a batch by a policy; in all of them every subgraph has all nodes of its graph.

    ========  ==================================================================================
    ``null``  the graph as it is, once for every node, so that only weights can tell roots
    ``NM``    the same, for networks that mark the root
    ``ND``    once for every node, without the edges of that node
    ``ED``    once for every edge, without it; these subgraphs have no roots
    ``EGO``   once for every node, with the edges within some steps of it only
    ``EGO+``  the same, for networks that mark the root
    ========  ==================================================================================

    Args:
        policy: One of these.
        data: A graph or batch; for the last two one that `escgnn.transforms.RootedNodes` has cut, ``outside="keep"``.
        max_rows: A bag with more copies of nodes, or more edges between them, is refused: `BagTooLargeError`.

    Raises:
        ValueError: There is no such policy, or the balls lack the nodes outside.
    """
    if policy in WHOLE:
        return WHOLE[policy](data, max_rows=max_rows)
    if policy not in POLICIES:
        raise ValueError(f"policy: {policy!r}; expected one of {', '.join(POLICIES)}")
    bag = node_bag(data)
    ptr = getattr(data, "ptr", None)
    every = int(data.num_nodes) ** 2 if ptr is None else int(ptr.diff().square().sum())
    if bag.num_copies != every:
        raise ValueError(
            f"policy: {policy}, but the balls have {bag.num_copies:,} of {every:,} nodes; expected those of "
            'RootedNodes(hops, outside="keep")'
        )
    check_bag(bag, max_rows)
    return bag
