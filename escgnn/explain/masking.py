"""What a prediction owes to an atom: how it changes when the atom is taken out. It works for every network."""

from collections.abc import Sequence

import torch
from torch import Tensor

from escgnn.explain.outputs import members_of, said
from escgnn.store import GraphStore
from escgnn.training import Ensemble, Run, network_outputs

MOST_ATOMS = 500  # of a molecule; there are as many graphs as atoms, and each is encoded


def masked(run: Run | Ensemble, graphs: GraphStore, batch_size: int = 128) -> list[Tensor]:
    """Of each graph, how much lower every output would be without each of its nodes, ``(nodes, outputs)``.

    A node is taken out with its edges, and everything is computed anew, the encoding, too; descriptors of whole molecules stay
    as they are. Of a graph with one node nothing would be left, so its contribution is not a number.

    Raises:
        ValueError: A graph has too many nodes, or lacks what the network reads; or predictions are not of graphs.
    """
    members = members_of(run)
    found = []
    for number in range(len(graphs)):
        graph: GraphStore = graphs[[number]].compact()
        size = graph.num_nodes_total
        if size > MOST_ATOMS:
            raise ValueError(f"a graph of {size:,} nodes; at most {MOST_ATOMS} are taken out one by one")
        whole = outputs_of(members, graph, batch_size)  # (1, outputs)
        if size < 2:
            found.append(torch.full((size, whole.shape[1]), torch.nan, dtype=torch.float64))
        else:
            found.append(whole - outputs_of(members, without_each_node(graph), batch_size))  # (nodes, outputs)
    return found


def outputs_of(members: Sequence[Run], graphs: GraphStore, batch_size: int = 128) -> Tensor:
    """What is explained, the mean over members, (graphs, outputs)."""
    each = [said(run.task, run.scaling, network_outputs(run, graphs, batch_size)) for run in members]
    return torch.stack(each).mean(0)


def without_each_node(graph: GraphStore) -> GraphStore:
    """As many graphs as one graph has nodes, each of which lacks another, in their order; the edges of that node are gone.

    >>> path = GraphStore([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> [one.edge_index.tolist() for one in without_each_node(path)]
    [[[0, 1], [1, 0]], [[], []], [[0, 1], [1, 0]]]
    """
    data = graph[0]
    size = int(data.num_nodes)
    gone = torch.arange(size).unsqueeze(1)  # (nodes, 1), one graph each
    _, node = torch.nonzero(gone != torch.arange(size), as_tuple=True)  # (nodes * (nodes - 1),)
    touches = (data.edge_index.unsqueeze(0) == gone.unsqueeze(1)).any(1)  # (nodes, edges)
    owner, edge = torch.nonzero(~touches, as_tuple=True)
    ends = data.edge_index[:, edge]
    rows = {"node": node, "edge": edge, "graph": torch.zeros(size, dtype=torch.int64)}
    columns: dict[str, dict[str, Tensor]] = {"node": {}, "edge": {}, "graph": {}}
    for name, field in graph.fields.items():
        columns[field.level][name] = graph.column(name)[rows[field.level]]
    return GraphStore([size - 1] * size, (~touches).sum(1), ends - (ends > owner).long(), **columns)
