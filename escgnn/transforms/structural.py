"""The structural encoding as a PyTorch Geometric transform, for one graph or a whole batch."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import BaseTransform

from escgnn.encoding import RootedEncoding, Rows


class StructuralEncoding(RootedEncoding, BaseTransform):
    r"""Attaches the structural embedding :math:`s_{uv}` of ESC-GNN to every edge.

    For the :math:`h`-hop subgraph rooted at :math:`(u, v)` it counts nodes by degree, nodes by distance to each root,
    and edges by :math:`(f(a), f(b))` with :math:`f(a) = (d(a, u), d(a, v))` (Yan et al., An Efficient Subgraph GNN
    with Provable Substructure Counting Power, KDD 2024).

    Works on a single graph and on a whole batch with one call: components do not see each other. Inside a
    ``DataLoader`` worker it uses one thread, elsewhere ``NUMBA_NUM_THREADS``; the result is the same.

    Args:
        hops: Radius :math:`h`, at least 1; or several, such as ``(1, 2, 3)``, for the encodings of each, one after the
            other.
        parts: Histograms to keep, in this order: ``"degree"``, ``"node"``, ``"joint"``, ``"edge"``,
            ``"resistance"``; beyond the paper ``"wedge"``, ``"triangle"``, ``"path"``, ``"walk"``, ``"cycle"``, ``"ring"``,
            ``"colour"``, ``"alike"`` (see `RootedEncoding`). Dropping one gives a row of ``tab:count_ab``.
        subgraph: ``"union"`` keeps every edge between nodes of the subgraph, ``"balls"`` those within one of the two
            balls, as the authors' code does: for comparison with published numbers only.
        max_degree: Degrees from here on share the last bin.
        resistance_width: Width of a resistance bin; the last one is open.
        nodes: Encode the 2-tuples :math:`(v, v)`, too.
        max_nodes: A root whose subgraph would have more nodes is encoded at the largest radius k that fits, exactly,
            and counts 1 in the bin ``("clipped", k)``.
        walk_length: Edges of the longest walks, at least 2.
        cycle_length: Nodes of the longest cycles, from 3 to 8.
        colour_rounds: Rounds of 1-WL, at least 0.
        colour_bins: Number of hashed colours, at least 1.
        ring_length: Nodes of the longest rings, from 3 to 16.
        ring_bins: Number of hashed rings of each length, if there are types.
        alike_rounds: Rounds of 1-WL after which nodes may still look alike, at least 0.
        types: Attributes of the data that hold types, integers from 0 on, such as ``("x", "edge_attr")``, by which some parts
            count then (see `RootedEncoding`).
        typed: The parts that count by types; by default all that can.
        node_types: Types of nodes that ``"joint"`` tells apart; from here on they begin anew.
        edge_types: The same for edges.

    Adds:
        esc_len ``(E,)``, esc_bin ``(nnz,)``, esc_count ``(nnz,)``: one sparse row per column of ``edge_index``. A
        loop's row is that of (v, v). With ``nodes=True`` the same for every node: esc_node_len ``(N,)``,
        esc_node_bin, esc_node_count. All int32; lengths concatenate, so PyG batches them as they are.

    >>> from torch_geometric.data import Data
    >>> square = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]]), num_nodes=4)
    >>> encoding = StructuralEncoding(hops=1, parts=("edge",))
    >>> encoding(square)
    Data(edge_index=[2, 8], num_nodes=4, esc_len=[8], esc_bin=[32], esc_count=[32])
    >>> encoding.row(square, 0, 1)["edge", 1, 2, 2, 1]
    1
    """

    keepable = True

    @property
    def adds(self) -> frozenset[str]:
        """Names of what it adds."""
        prefixes = ("esc", "esc_node") if self.nodes else ("esc",)
        return frozenset(f"{prefix}_{part}" for prefix in prefixes for part in ("len", "bin", "count"))

    @property
    def node_tuples(self) -> bool:
        """Whether nodes have rows, too: what a network calls the option ``nodes``."""
        return self.nodes

    def forward(self, data: Any) -> Any:
        """Attach the rows; `__call__` has made a shallow copy, so the caller's object stays as it was."""
        if not isinstance(data, Data):
            raise TypeError(f"data: cannot encode {type(data).__name__}; expected a PyG Data or Batch")
        graph = self.view(data)
        threads = 1 if torch.utils.data.get_worker_info() else None
        self._attach(data, "esc", self.rows(graph, threads=threads), "edge_index")
        if self.nodes:
            data.num_nodes = graph.num_nodes  # or PyG would take the length of an attribute called "..node.." for it
            self._attach(data, "esc_node", self.node_rows(graph, threads=threads), "batch")
        return data

    def _attach(self, data: Data, prefix: str, rows: Rows, owner: str) -> None:
        """Store rows on the data's device; in a batch also say which belong to which graph, for ``to_data_list``."""
        device = data.edge_index.device
        data[f"{prefix}_len"] = torch.from_numpy(rows.length).to(device)  # (E,) or (N,)
        data[f"{prefix}_bin"] = torch.from_numpy(rows.bin).to(device)  # (nnz,)
        data[f"{prefix}_count"] = torch.from_numpy(rows.count).to(device)  # (nnz,)
        slices = getattr(data, "_slice_dict", None)
        if isinstance(data, Batch) and slices is not None:
            per_row = slices["edge_index"] if owner == "edge_index" else data.ptr.cpu()
            nonzeros = torch.from_numpy(np.concatenate([[0], rows.length.cumsum(dtype=np.int64)])[per_row.numpy()])
            added: dict[str, Tensor] = {
                f"{prefix}_len": per_row,
                f"{prefix}_bin": nonzeros,
                f"{prefix}_count": nonzeros,
            }
            data._slice_dict = {**slices, **added}
            data._inc_dict = {**data._inc_dict, **dict.fromkeys(added)}
