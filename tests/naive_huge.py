"""Slow, obvious twins of what `escgnn.huge` does with kernels: plain Python, numbers of any size, dictionaries and sets."""

import numpy as np

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def scramble(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def draw(key, size, count):
    """Different numbers below size, by Floyd's way, with a set."""
    chosen = set()
    for top in range(size - count, size):
        key = key + GOLDEN & WORD
        number = scramble(key) % (top + 1)
        chosen.add(top if number in chosen else number)
    return sorted(chosen)


def edge_ids(graph):
    """The id of each ordered pair of adjacent nodes of a networkx graph."""
    ids = {}
    for k, (u, v) in enumerate(sorted(sorted(edge) for edge in graph.edges)):
        ids[u, v] = 2 * k
        ids[v, u] = 2 * k + 1
    return ids


def sample(graph, nodes, fan_outs, seed):
    """Nodes, columns and ids of a sampled neighbourhood of a networkx graph."""
    keys = np.random.SeedSequence(seed).generate_state(len(fan_outs), np.uint64).tolist()
    ids = edge_ids(graph)
    n_id = list(nodes)
    frontier = list(nodes)
    columns = []
    e_id = []
    for key, fan_out in zip(keys, fan_outs, strict=True):
        new = []
        for node in frontier:
            around = sorted(graph[node])
            if 0 <= fan_out < len(around):
                start = scramble(key ^ scramble(node + GOLDEN & WORD))
                around = [around[place] for place in draw(start, len(around), fan_out)]
            for neighbour in around:
                if neighbour not in n_id:
                    n_id.append(neighbour)
                    new.append(neighbour)
                columns.append((n_id.index(neighbour), n_id.index(node)))
                e_id.append(ids[neighbour, node])
        frontier = new
    return n_id, columns, e_id


def packed(number):
    """A number seven bits a byte, lowest first."""
    digits = []
    while True:
        number, low = divmod(number, 128)
        digits.append(low)
        if not number:
            return bytes([*(digit + 128 for digit in digits[:-1]), digits[-1]])


def packed_row(bins, counts):
    """A row as bytes: its size, then steps between bins and counts."""
    steps = np.diff(bins, prepend=0).tolist()
    content = b"".join(packed(step) + packed(count) for step, count in zip(steps, counts, strict=True))
    return packed(len(content)) + content
