"""Pictures with matplotlib: graphs and their encodings, learning curves, and numbers beside each other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from matplotlib.figure import Figure

from escgnn.disk import atomic
from escgnn.encoding import Name, RootedEncoding
from escgnn.graphs import Graph, layout

PLAIN = "#9ecae1"
ROOT = "#e6550d"
OUTSIDE = "#eeeeee"


def save(figure: Figure, path: Path, dpi: int = 110) -> None:
    """Write a picture as PNG, whole or not at all."""
    with atomic(path) as draft:
        figure.savefig(draft, format="png", dpi=dpi)


def draw_graph(
    axes: Any, graph: Graph, *, roots: Sequence[int] = (), labels: Mapping[int, str] | None = None, title: str = ""
) -> None:
    """Draw one graph, its roots in another colour; nodes without a label, if any has one, are faint."""
    plain = graph.to_networkx()
    shown = dict.fromkeys(plain, "") if labels is None else labels
    colours = dict.fromkeys(plain, OUTSIDE)
    colours |= dict.fromkeys(shown, PLAIN)
    colours |= dict.fromkeys(roots, ROOT)
    places = dict(enumerate(layout(plain) * (1, -1)))  # y grows upwards on this paper
    size = 520 if labels else 120
    networkx.draw_networkx_edges(plain, places, ax=axes, edge_color="#888888")
    networkx.draw_networkx_nodes(
        plain, places, ax=axes, node_color=[colours[node] for node in plain], node_size=size, edgecolors="#444444"
    )
    networkx.draw_networkx_labels(plain, places, shown, ax=axes, font_size=9)
    axes.set_title(title, fontsize=11)
    axes.margins(0.15)
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_graphs(graphs: Sequence[tuple[str, Graph, Sequence[int]]]) -> Figure:
    """Graphs in two columns, each given by its title, itself and its roots; of one with roots the nodes are numbered."""
    columns = 2 if len(graphs) > 1 else 1
    rows = -(-len(graphs) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.4 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, graph, roots) in zip(panels, graphs, strict=False):
        numbers = {node: str(node) for node in range(graph.num_nodes)} if roots else None
        draw_graph(axes, graph, roots=roots, labels=numbers, title=title)
    return figure


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
    title = f"root ({u}, {v}), h = {encoding.hops}"
    draw_graph(panels[0], graph, roots=(u, v), labels=_distances(graph, u, v, encoding.radius), title=title)
    for i, (axes, (part, values)) in enumerate(zip(panels[1:], bars.items(), strict=True)):
        names = [" ".join(map(str, name)) for name, _ in values]
        places = np.arange(len(values))
        axes.bar(places, [count for _, count in values], color=f"C{i}", width=0.7)
        axes.set_xticks(places, names, rotation=90, fontsize=8, family="monospace")
        axes.set_title(part, fontsize=11)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _distances(graph: Graph, u: int, v: int, radius: int) -> dict[int, str]:
    """The distances to both roots of each node within the radius of one of them, such as ``"0,2"``."""
    plain = graph.to_networkx()
    to_u = networkx.single_source_shortest_path_length(plain, u)
    to_v = networkx.single_source_shortest_path_length(plain, v)
    reach = {w for w in {*to_u, *to_v} if min(to_u.get(w, np.inf), to_v.get(w, np.inf)) <= radius}
    return {w: f"{to_u.get(w, '∞')},{to_v.get(w, '∞')}" for w in reach}


def draw_curves(epochs: Sequence[Mapping[str, Any]], metric: str, best_epoch: int, path: Path) -> None:
    """Loss and validation metric by epoch, and the best epoch, as a PNG file.

    Args:
        epochs: Of each its number ``epoch``, its ``loss`` and its ``validation_{metric}``.
        metric: What the network is judged by.
        best_epoch: Number of the best one.
        path: The file.
    """
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), ("loss", f"validation_{metric}"), strict=True):
        axes.plot([row["epoch"] for row in epochs], [row[name] for row in epochs])
        axes.set(xlabel="epoch", title=name.replace("_", " "))
        axes.spines[["top", "right"]].set_visible(False)
    best = next(row[f"validation_{metric}"] for row in epochs if row["epoch"] == best_epoch)
    axes.plot(best_epoch, best, "o", label=f"{best:.4g} at epoch {best_epoch}")
    axes.legend(frameon=False)
    save(figure, path)


def draw_lines(x: Sequence[float], lines: Mapping[str, Sequence[float]], *, x_label: str, y_label: str) -> Figure:
    """Shares between 0 and 1 over a logarithmic axis, a line for each name."""
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, values in lines.items():
        axes.plot(x, values, marker="o", label=name)
    axes.set(xlabel=x_label, ylabel=y_label, xscale="log", ylim=(-0.03, 1.05))
    axes.set_xticks(x, [f"{value:g}" for value in x])
    axes.minorticks_off()
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_errors(
    columns: Sequence[str],
    rows: Mapping[str, Sequence[float | None]],
    *,
    styles: Mapping[str, tuple[str, str, float]],
    title: str,
    y_label: str,
    floor: float = 1e-5,
) -> Figure:
    """Errors of several systems beside each other, a mark for each column, over a logarithmic axis.

    Args:
        columns: What was predicted.
        rows: By the system's name, its error in each column; None where there is none.
        styles: By the system's name, matplotlib's marker, a colour and the size of the mark.
        title: Above the picture.
        y_label: What the errors are.
        floor: Whatever is smaller counts as exact, and is drawn there.
    """
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.set_xticks(range(len(columns)), columns)
    for row, errors in rows.items():
        marker, colour, size = styles[row]
        points = [(place, max(error, floor)) for place, error in enumerate(errors) if error is not None]
        axes.plot(*np.array(points).reshape(-1, 2).T, marker, color=colour, label=row, markersize=size)
    axes.set_yscale("log")
    axes.set(ylabel=y_label, ylim=(floor / 2, 1), title=title)
    ticks = [floor * 10**power for power in range(round(-np.log10(floor)) + 1)]
    axes.set_yticks(ticks, [f"≤ {floor:f}".rstrip("0"), *(f"{tick:.5f}".rstrip("0").rstrip(".") for tick in ticks[1:])])
    axes.tick_params("x", rotation=20)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    figure.legend(frameon=False, fontsize=8, ncols=5, loc="outside lower center")
    return figure
