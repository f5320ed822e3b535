"""Rows of the parts that see what kind nodes and edges are of. Kernel: `escgnn.kernels.typed`."""

from functools import cached_property
from typing import Any

import numpy as np

from escgnn.encoding.bin import Bin
from escgnn.encoding.labels import Codes, edge_codes, pair_codes
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts.alike import Alike
from escgnn.encoding.parts.colours import label_colours
from escgnn.encoding.parts.histograms import Edge, Joint
from escgnn.encoding.parts.rings import Ring
from escgnn.encoding.rows import Rows
from escgnn.encoding.sources import Pass, Roots
from escgnn.encoding.tables import ball_table, edge_bins, pair_bins, swap_table
from escgnn.graphs import Graph, Types
from escgnn.kernels.encoding import Output
from escgnn.kernels.graphs import one_kind
from escgnn.kernels.typed import Environments, TypedLayout, encode_typed, refine


class TypedPass(Pass):
    """All typed parts at one radius, in one call of their kernel; without types all nodes, and all edges, are of one kind."""

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Those of the parts; which roots are clipped is told elsewhere."""
        return tuple(name for name in edge_bins(self.settings) if name.part != "clipped")

    @cached_property
    def pair_bins(self) -> tuple[Bin, ...]:
        """The same for roots anywhere."""
        return tuple(name for name in pair_bins(self.settings) if name.part != "clipped")

    @cached_property
    def edge_layout(self) -> TypedLayout:
        """What the kernel looks up for roots that are adjacent or equal."""
        return self._layout(edge_codes(self.settings.radius), self.bins)

    @cached_property
    def pair_layout(self) -> TypedLayout:
        """The same for roots anywhere."""
        return self._layout(pair_codes(self.settings.radius), self.pair_bins)

    def _layout(self, codes: Codes, bins: tuple[Bin, ...]) -> TypedLayout:
        settings = self.settings
        number = BinNumbers(bins)
        colours = np.array(number.of_part("colour"), np.int32)
        return TypedLayout(
            hops=settings.radius,
            max_nodes=np.iinfo(np.int64).max if settings.max_nodes is None else settings.max_nodes,
            ball=ball_table(settings, codes),
            joint=Joint().typed_table(settings, codes, number),
            edge=Edge().typed_table(settings, codes, number),
            colour=colours,
            label=label_colours(codes),
            ring=Ring().table(settings, number),
            alike=Alike().table(number),
            swap=np.append(swap_table(number), number.spare).astype(np.int32),
        )

    def shared(self, graph: Graph) -> tuple[Types, Environments]:
        """What kind nodes and edges are of, and the environments of nodes, which go over the whole graph."""
        bare = one_kind(graph.csr)
        types = graph.types or bare
        colour = alike = np.zeros(0, np.int64)
        if self.edge_layout.colour.size:
            colour = refine(graph.csr, types, self.settings.colour_rounds)
        if self.edge_layout.alike.size:
            kinds = types if self.settings.counts_by_types("alike") else bare
            alike = refine(graph.csr, kinds, self.settings.alike_rounds)
        return types, Environments(colour, alike)

    def encode(
        self, graph: Graph, roots: Roots, threads: int | None, *, anywhere: bool = False, shared: Any = None
    ) -> list[Rows]:
        """Blocks from the kernel, in memory that may be used again once they are given back."""
        layout = self.pair_layout if anywhere else self.edge_layout
        types, environments = shared or self.shared(graph)

        def fill(some: Roots, output: Output) -> int:
            return int(encode_typed(graph.csr, some, layout, types, environments, anywhere, output))

        return self.from_kernel(fill, layout.swap.size - 1, graph, roots, threads)
