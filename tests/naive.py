"""The encoding as SPEC'd, written for reading: networkx, dictionaries, one root at a time."""

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


flat = chain.from_iterable


def row(graph, u, v, encoding):
    """All counts of one 2-tuple, by bin; ``graph`` is a networkx graph."""
    radius = encoding.hops
    result = Counter()
    if encoding.max_nodes is not None:
        while len(subgraph(graph, u, v, radius, encoding.subgraph)) > encoding.max_nodes:
            radius -= 1
        if radius < encoding.hops:
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
        for nodes in combinations(rooted, 3):
            if all(rooted.has_edge(a, b) for a, b in combinations(nodes, 2)):
                result["triangle", *flat(sorted(label[w] for w in nodes))] += 1
    if "path" in encoding.parts:
        for x, y in rooted.edges:
            for w, z in product(set(rooted[x]) - {y}, set(rooted[y]) - {x}):
                if w != z:
                    nodes = [label[w], label[x], label[y], label[z]]
                    result["path", *flat(min(nodes, nodes[::-1]))] += 1
    if "resistance" in encoding.parts:
        last = max(b[2] for b in encoding.bins if b[0] == "resistance")
        for name, root in (("u", u), ("v", v)):
            for value in resistance(rooted, root).values():
                at = value / encoding.resistance_width + 1e-6
                result["resistance", name, last if at >= last else int(at)] += 1
    return dict(result)
