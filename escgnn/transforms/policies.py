"""The bags of networks that choose among policies: some have to be cut, the others are made inside the network."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torch_geometric.transforms import BaseTransform

from escgnn.bags import MAX_ROWS, POLICIES, is_cut
from escgnn.transforms.rooted import RootedNodes


class PolicyBags(BaseTransform):
    """Cuts what a policy of DSS-GNN or SUN needs and the network cannot make by itself: the balls of ``EGO`` and ``EGO+``.

    For all other policies, see `escgnn.bags.policy_bag`, it leaves the graphs as they are.

    Args:
        policy: ``"null"``, ``"NM"``, ``"ND"``, ``"ED"``, ``"EGO"`` or ``"EGO+"``.
        hops: Radius of the balls; not read by other policies.
        max_rows: A batch with more copies of nodes, or more edges between them, is refused: `BagTooLargeError`.

    Adds:
        What `RootedNodes` adds, for the balls; nothing for other policies.

    >>> PolicyBags("ED").adds, sorted(PolicyBags("EGO", hops=3).adds)[:2]
    (frozenset(), ['bag_column', 'bag_hop'])
    """

    outside: ClassVar[Mapping[str, str | None]] = {name: "keep" if is_cut(name) else None for name in POLICIES}

    def __init__(self, policy: str = "EGO+", *, hops: int = 2, max_rows: int = MAX_ROWS) -> None:
        if policy not in self.outside:
            raise ValueError(f"policy: {policy!r}; expected one of {', '.join(self.outside)}")
        self.policy = policy
        self.hops = hops
        self.max_rows = max_rows
        outside = self.outside[policy]
        balls = RootedNodes(hops, outside=outside or "drop", max_rows=max_rows)  # in any case, so settings are checked
        self.balls = None if outside is None else balls

    @property
    def adds(self) -> frozenset[str]:
        """The names of what it adds."""
        return frozenset() if self.balls is None else self.balls.adds

    def forward(self, data: Any) -> Any:
        """Attach the arrays; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        return data if self.balls is None else self.balls(data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.policy!r}, hops={self.hops}, max_rows={self.max_rows})"


class ChoiceBags(PolicyBags):
    """Cuts what OSAN chooses among: balls for ``khop`` and ``dual``, and nothing for the others.

    Args:
        policy: ``"node"``, ``"edge"``, ``"khop"``, ``"dual"``, ``"mst"`` or ``"ordered"``.
        hops: Radius of the balls.
        max_rows: As in `PolicyBags`.
    """

    outside: ClassVar[Mapping[str, str | None]] = {
        **dict.fromkeys(("node", "edge", "mst", "ordered")),
        **dict.fromkeys(("khop", "dual"), "drop"),
    }

    def __init__(self, policy: str = "node", *, hops: int = 3, max_rows: int = MAX_ROWS) -> None:
        super().__init__(policy, hops=hops, max_rows=max_rows)
