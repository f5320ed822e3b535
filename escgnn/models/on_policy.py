"""What networks have in common whose subgraphs keep all nodes: the bag of a policy, marks, and how nodes are read out."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor, nn
from torch_geometric.data import Batch

from escgnn.bags import MARKED, NODE_ARRAYS, Bag, graphs_bag, is_cut, policy_bag, rows_that_fit
from escgnn.models.frame import Frame, check_shared


class OnPolicy(Frame):
    """A network on the bag of a policy: derive from it, and write `vectors`.

    Every subgraph has all nodes of its graph. So a graph's mean over the nodes of each subgraph and then over subgraphs is
    the mean over nodes of what is read out of each: the mean of its own subgraph or, if subgraphs have no roots (``ED``),
    of its copies. That is what tasks of nodes and edges see, too, of which the papers do not speak.

    Attributes:
        policies: Those it is defined for.
    """

    policies: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Refuse values that mean nothing."""
        check_shared(settings, {"policy": cls.policies})

    def add_features(self, hidden: int) -> None:
        """Make the encoders of nodes, of edges where these are read out (convolutions have their own), and of marks."""
        super().add_features(hidden)
        if self.settings["level"] != "edge":
            self.edges = None
        self.position = None
        self.policy: str = self.settings["policy"]
        self.mark = nn.Embedding(2, hidden) if self.policy in MARKED else None

    def add_read_out(self, width: int, edge_width: int, hidden: int) -> None:
        """Make the last step, a perceptron with twice the width inside, as the authors have it."""
        super().add_read_out(width, edge_width if self.edges is not None else 0, 2 * hidden)

    @property
    def reads(self) -> frozenset[str]:
        """The attributes of a batch that the network reads."""
        return super().reads | (NODE_ARRAYS if is_cut(self.policy) else frozenset())

    @property
    def cannot_export(self) -> str:
        """Why it cannot be a program of its own."""
        return f"{type(self).__name__} cannot be exported, as the sizes of its tensors depend on those of the graphs"

    def vectors(self, x: Tensor, bag: Bag, graphs: Bag, edge_attr: Tensor | None) -> Tensor:
        """Vectors of all copies after the last round, (M, hidden).

        Args:
            x: Those they begin with, (M, hidden).
            bag: The subgraphs.
            graphs: The graphs themselves, as a bag of one subgraph each.
            edge_attr: Features of the graphs' edges, (E, columns); None if they have none.
        """
        raise NotImplementedError(f"{type(self).__name__}: write vectors")

    def forward_tensors(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Predictions from plain tensors by name, those that `reads` lists."""
        batch = Batch(**tensors)
        max_rows = rows_that_fit(self.settings["hidden"], self.settings["max_rows"])
        bag = policy_bag(self.policy, batch, max_rows=max_rows)
        x = bag.lift(self.node_vectors(tensors))  # (M, hidden)
        if self.mark is not None:
            x = x + self.mark(bag.identity)  # (M, hidden)
        x = self.vectors(x, bag, graphs_bag(batch), tensors.get("edge_attr"))  # (M, hidden)
        h = bag.to_nodes(x, "mean") if bag.root is None else bag.to_subgraphs(x, "mean")  # (N, hidden)
        edge = self.edge_vectors(tensors)  # (E, hidden)
        return self._read_out(h, tensors["edge_index"], edge, tensors["batch"], bag.num_graphs)
