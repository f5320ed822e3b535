"""Pictures of graphs and of their encodings, with matplotlib."""

from collections.abc import Sequence
from typing import Any

import networkx
import numpy as np
from matplotlib.figure import Figure

from escgnn.encoding import Name, RootedEncoding
from escgnn.graphs import Graph

PLAIN, ROOT, OUTSIDE = "#9ecae1", "#e6550d", "#eeeeee"


def draw_graph(
    axes: Any, graph: Graph, *, roots: Sequence[int] = (), labels: dict[int, str] | None = None, title: str = ""
) -> None:
    """Draw one graph, its roots in another colour; nodes without a label, if any has one, are faint."""
    plain = graph.to_networkx()
    shown = labels if labels is not None else dict.fromkeys(plain, "")
    colours = [ROOT if node in roots else PLAIN if node in shown else OUTSIDE for node in plain]
    start = networkx.planar_layout(plain) if networkx.is_planar(plain) else None  # no twists where none are needed
    layout = networkx.kamada_kawai_layout(plain, pos=start) if len(plain) > 1 else networkx.circular_layout(plain)
    size = 520 if labels else 120
    networkx.draw_networkx_edges(plain, layout, ax=axes, edge_color="#888888")
    networkx.draw_networkx_nodes(plain, layout, ax=axes, node_color=colours, node_size=size, edgecolors="#444444")
    networkx.draw_networkx_labels(plain, layout, shown, ax=axes, font_size=9)
    axes.set_title(title, fontsize=11)
    axes.margins(0.15)
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_root(graph: Graph, u: int, v: int, encoding: RootedEncoding) -> Figure:
    """The subgraph rooted at (u, v), every node with its label, beside the histograms of its parts."""
    rows = encoding.pairs(graph, [(u, v)])
    bars: dict[str, list[tuple[Name, int]]] = {}
    for b, count in zip(rows.bin.tolist(), rows.count.tolist(), strict=True):
        name = rows.bins[b]
        title = name.part if name.radius is None else f"h{name.radius} {name.part}"
        bars.setdefault(title, []).append((name.label, count))
    widths = [4.0, *(max(1.2, 0.4 * len(values)) for values in bars.values())]
    figure = Figure(figsize=(sum(widths) + 1, 3.2), layout="constrained")
    panels = figure.subplots(1, len(widths), width_ratios=widths)
    to_u, to_v = (networkx.single_source_shortest_path_length(graph.to_networkx(), root) for root in (u, v))
    reach = {w for w in {*to_u, *to_v} if min(to_u.get(w, np.inf), to_v.get(w, np.inf)) <= encoding.radius}
    labels = {w: f"{to_u.get(w, '∞')},{to_v.get(w, '∞')}" for w in reach}
    draw_graph(panels[0], graph, roots=(u, v), labels=labels, title=f"root ({u}, {v}), h = {encoding.hops}")
    for i, (axes, (part, values)) in enumerate(zip(panels[1:], bars.items(), strict=True)):
        names = [" ".join(map(str, name)) for name, _ in values]
        places = np.arange(len(values))
        axes.bar(places, [count for _, count in values], color=f"C{i}", width=0.7)
        axes.set_xticks(places, names, rotation=90, fontsize=8, family="monospace")
        axes.set_title(part, fontsize=11)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
