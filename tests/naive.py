"""The encoding as the paper defines it, written for reading: networkx, dictionaries, one root at a time."""

from collections import Counter
from itertools import chain, combinations, product

import networkx as nx
import numpy as np


def subgraph(graph, u, v, radius, mode):
    """The rooted subgraph: nodes within the radius of u or v, edges among them, or those within one ball."""
    ball_u, ball_v = nx.ego_graph(graph, u, radius), nx.ego_graph(graph, v, radius)
    return nx.compose(ball_u, ball_v) if mode == "balls" else graph.subgraph([*ball_u, *ball_v]).copy()


def resistance(graph, root):
    """Resistance distances from the root by the pseudo-inverse of the Laplacian; infinite where unconnected."""
    result = dict.fromkeys(graph, np.inf)
    component = sorted(nx.node_connected_component(graph, root))
    green = np.linalg.pinv(nx.laplacian_matrix(graph.subgraph(component), nodelist=component).toarray().astype(float))
    r = component.index(root)
    for i, node in enumerate(component):
        result[node] = green[i, i] + green[r, r] - 2 * green[i, r]
    return result


MOST = 2**31 - 1


def walks(graph, start, longest):
    """Walks from the start by number of edges, then by end: powers of the adjacency matrix, in integers of any size."""
    found = [Counter({start: 1})]
    for _ in range(longest):
        step = Counter()
        for node, number in found[-1].items():
            step.update(dict.fromkeys(graph[node], number))
        found.append(step)
    return found


def cycles(graph, u, v, longest):
    """Cycles by number of edges, one of them uv, or through u = v."""
    if u != v:
        return Counter(len(path) for path in nx.all_simple_paths(graph, u, v, cutoff=longest - 1))
    around = graph.subgraph({*graph} - {u})
    return Counter(
        len(path) + 1
        for a, b in combinations(graph[u], 2)
        for path in nx.all_simple_paths(around, a, b, cutoff=longest - 2)
    )


def mix(x):
    """The hash of colours: shifts and products modulo 2 ** 62."""
    for factor in (924437393, 1060642541, 786433001):
        x = (x ^ x >> 29) * factor % 2**62
    return x ^ x >> 31


def colours(graph, label, rounds):
    """Every node's colour after rounds of 1-WL."""
    colour = {w: mix(1 + 2**31 * a + b) for w, (a, b) in label.items()}
    for _ in range(rounds):
        colour = {w: mix((924437393 * colour[w] + sum(colour[x] for x in graph[w])) % 2**62) for w in graph}
    return colour


flat = chain.from_iterable


def row(graph, u, v, encoding):
    """All counts of one 2-tuple, by bin; ``graph`` is a networkx graph."""
    if isinstance(encoding.hops, int):
        return row_within(graph, u, v, encoding, encoding.hops)
    result = {}
    for radius in encoding.hops:
        for name, count in row_within(graph, u, v, encoding, radius).items():
            if name[0] == "cycle":
                result[name] = count
            elif encoding.parts != ("cycle",):
                result[f"h{radius}", *name] = count
    return result


def row_within(graph, u, v, encoding, hops):
    """The same for one radius."""
    radius = hops
    result = Counter()
    if encoding.max_nodes is not None:
        while len(subgraph(graph, u, v, radius, encoding.subgraph)) > encoding.max_nodes:
            radius -= 1
        if radius < hops:
            result["clipped", radius] = 1
    rooted = subgraph(graph, u, v, radius, encoding.subgraph)
    to_u, to_v = (nx.single_source_shortest_path_length(graph, root) for root in (u, v))
    label = {w: (min(to_u.get(w, radius + 1), radius + 1), min(to_v.get(w, radius + 1), radius + 1)) for w in rooted}
    if "degree" in encoding.parts:
        result.update(("degree", min(d, encoding.max_degree)) for _, d in rooted.degree)
    if "node" in encoding.parts:
        result.update(("node", "u", label[w][0]) for w in rooted)
        result.update(("node", "v", label[w][1]) for w in rooted)
    if "joint" in encoding.parts:
        result.update(("joint", *label[w]) for w in rooted)
    if "edge" in encoding.parts:
        for a, b in rooted.edges:
            first, second = sorted((label[a], label[b]))
            result["edge", *first, *second] += 1
    if "wedge" in encoding.parts:
        for y in rooted:
            for x, z in combinations(rooted[y], 2):
                ends = min((label[x], label[y], label[z]), (label[z], label[y], label[x]))
                result["wedge", "closed" if rooted.has_edge(x, z) else "open", *flat(ends)] += 1
    if "triangle" in encoding.parts:
        for x, y in rooted.edges:
            for z in nx.common_neighbors(rooted, x, y):
                if z > max(x, y):
                    result["triangle", *flat(sorted((label[x], label[y], label[z])))] += 1
    if "path" in encoding.parts:
        for x, y in rooted.edges:
            for w, z in product(set(rooted[x]) - {y}, set(rooted[y]) - {x}):
                if w != z:
                    nodes = [label[w], label[x], label[y], label[z]]
                    result["path", *flat(min(nodes, nodes[::-1]))] += 1
    if "resistance" in encoding.parts:
        last = int((hops + 1) / encoding.resistance_width + 1e-6)
        for name, root in (("u", u), ("v", v)):
            for value in resistance(rooted, root).values():
                at = value / encoding.resistance_width + 1e-6
                result["resistance", name, last if at >= last else int(at)] += 1
    if "walk" in encoding.parts:
        from_u, from_v = (walks(rooted, root, encoding.walk_length) for root in (u, v))
        for k in range(2, encoding.walk_length + 1):
            result["walk", k] = min(from_u[k][v], MOST)
            result["walk", "u", k] = min(from_u[k][u], MOST)
            result["walk", "v", k] = min(from_v[k][v], MOST)
    if "cycle" in encoding.parts:
        found = cycles(graph, u, v, encoding.cycle_length)
        result |= {("cycle", k): found[k] for k in range(3, encoding.cycle_length + 1)}
    if "colour" in encoding.parts:
        found = colours(rooted, label, encoding.colour_rounds).values()
        result.update(("colour", colour % encoding.colour_bins) for colour in found)
    return {name: count for name, count in result.items() if count}
