"""All bins of an encoding at one radius, and the tables by which the compiled kernel finds them."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from escgnn import limits
from escgnn.encoding.bin import Bin
from escgnn.encoding.labels import Codes, edge_codes, pair_codes
from escgnn.encoding.numbering import BinNumbers
from escgnn.encoding.parts import PARTS
from escgnn.encoding.parts.colours import Colour
from escgnn.encoding.parts.cycles import Cycle
from escgnn.encoding.parts.histograms import Degree, Edge, Joint, Node
from escgnn.encoding.parts.motifs import MOTIFS, motif_tables
from escgnn.encoding.parts.resistance import Resistance
from escgnn.encoding.parts.walks import Walk
from escgnn.encoding.settings import Settings
from escgnn.kernels.encoding import Layout, WalksCyclesColours
from escgnn.kernels.motifs import Motifs
from escgnn.kernels.resistance import ResistanceBins

Tables = tuple[Layout, ResistanceBins | None, Motifs | None, WalksCyclesColours | None]


def edge_bins(settings: Settings) -> tuple[Bin, ...]:
    """Every bin that roots which are adjacent or equal can have, part by part."""
    return limits.at_most_bins(_bins(settings, edge_codes(settings.radius)), "parts")


def pair_bins(settings: Settings) -> tuple[Bin, ...]:
    """The same, followed by the bins that only other roots can have."""
    return tuple(dict.fromkeys((*edge_bins(settings), *_bins(settings, pair_codes(settings.radius)))))


def _bins(settings: Settings, codes: Codes) -> Iterator[Bin]:
    _check_tables(settings, codes)
    labels = sorted(codes.values())
    for name in settings.parts:
        part = PARTS[name]
        cause = ", ".join(f"{option}={getattr(settings, option)}" for option in part.options)
        yield from limits.at_most_bins(part.bins(settings, labels), cause or f"{name} at hops={settings.radius}")
    if settings.max_nodes is not None:
        for radius in range(settings.radius):
            yield Bin("clipped", radius)


def _check_tables(settings: Settings, codes: Codes) -> None:
    """Refuse tables that would take too much memory: they grow with the square of the labels, those of motifs faster."""
    limits.check_entries((max(codes) + 1) ** 2, f"hops: {settings.radius}")
    if "edge" in settings.parts and settings.counts_by_types("edge"):
        entries = (max(codes) + 1) ** 2 * settings.edge_types
        limits.check_entries(entries, f"hops: {settings.radius} with edge_types={settings.edge_types}")
    for part, (kinds, nodes) in MOTIFS.items():
        if part in settings.parts:
            limits.check_entries(kinds * len(codes) ** nodes, f"hops: {settings.radius} with the part {part}")


def kernel_tables(settings: Settings, codes: Codes, bins: Sequence[Bin]) -> Tables:
    """The tables of all compiled parts; ``codes`` says what the kernel's codes mean."""
    number = BinNumbers(bins)
    return (
        _layout(settings, codes, number),
        Resistance().table(settings, number),
        motif_tables(settings, codes, number),
        _walks_cycles_colours(settings, codes, number),
    )


def _layout(settings: Settings, codes: Codes, number: BinNumbers) -> Layout:
    counts_paths = bool(MOTIFS.keys() & {*settings.parts})
    shift = np.zeros(number.spare + 1, np.int64 if counts_paths else np.uint32)
    for name, mine in number.by_part.items():
        if name in PARTS and PARTS[name].met_twice:
            shift[mine] = 1
    return Layout(
        hops=settings.radius,
        max_nodes=np.iinfo(np.int64).max if settings.max_nodes is None else settings.max_nodes,
        joint=Joint().table(codes, number),
        node=Node().table(codes, number),
        edge=Edge().table(codes, number),
        ball=ball_table(settings, codes),
        degree=Degree().table(settings, number),
        clipped=np.array([number.find("clipped", radius) for radius in range(settings.radius)], np.int32),
        # twice the number of edges fits in 32 bits, the number of paths may not
        shift=shift,
        swap=swap_table(number),
    )


def ball_table(settings: Settings, codes: Codes) -> NDArray[np.uint8]:
    """By radius and code, which balls hold the node, as bits: 1 that of u, 2 that of v; an edge needs a common one."""
    ball = np.zeros((settings.radius + 1, max(codes) + 1), np.uint8)
    for code, (a, b) in codes.items():
        for radius in range(settings.radius + 1):
            ball[radius, code] = 3 if settings.subgraph == "union" else (a <= radius) + 2 * (b <= radius)
    return ball


def swap_table(number: BinNumbers) -> NDArray[np.int32]:
    """Where bin b of (v, u) is found in the histogram of (u, v); what has no such bin is counted behind the spare one."""
    apart = number.spare
    swap = np.arange(number.spare, dtype=np.int32)
    for part, mine in number.by_part.items():
        if part in PARTS:
            mirror = PARTS[part].mirror
            for b in mine:
                twin = mirror(number.bins[b])
                if twin is None:
                    apart += 1
                    swap[b] = apart
                else:
                    swap[b] = number[twin]
    return swap


def _walks_cycles_colours(settings: Settings, codes: Codes, number: BinNumbers) -> WalksCyclesColours | None:
    """One value, so that one specialisation of the kernel serves all three; None if nobody asked for any."""
    if not {"walk", "cycle", "colour"} & {*settings.parts}:
        return None
    return WalksCyclesColours(
        walk=Walk().table(number), cycle=Cycle().table(number), colour=Colour().table(settings, codes, number)
    )
