"""The encoding by its definition, written for reading: networkx, dictionaries, one root at a time, one function a part."""

from collections import Counter
from dataclasses import dataclass
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
    place = {node: i for i, node in enumerate(component)}
    laplacian = np.zeros((len(component), len(component)))
    for node in component:
        laplacian[place[node], place[node]] = graph.degree(node)
        laplacian[place[node], [place[other] for other in graph[node]]] = -1
    green = np.linalg.pinv(laplacian)
    r = place[root]
    for i, node in enumerate(component):
        result[node] = green[i, i] + green[r, r] - 2 * green[i, r]
    return result


LARGEST_COUNT = 2**31 - 1


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


def rings(graph, longest):
    """Sets of nodes that a cycle joins, and nothing else: all subsets are tried."""
    matrix = nx.to_numpy_array(graph, nodelist=range(len(graph)))
    found = set()
    for size in range(3, longest + 1):
        for nodes in combinations(range(len(graph)), size):
            inside = matrix[np.ix_(nodes, nodes)]
            if (inside.sum(0) == 2).all() and nx.is_connected(graph.subgraph(nodes)):
                found.add(nodes)
    return found


def rings_through(graph, u, v, longest):
    """Rings, each as its nodes in order, with the edge uv, which need not be there, or through u = v; and the graph with it."""
    closed = graph.copy()
    if u != v and not graph.has_edge(u, v):
        closed.add_edge(u, v, type=0)
    found = {}
    for end in [v] if u != v else graph[u]:
        for path in induced_paths(closed, [u], end, longest):
            found[frozenset(path)] = path
    return closed, list(found.values())


def induced_paths(graph, path, end, longest):
    """Paths that go on like this to a neighbour of their first node, of three nodes or more, that no other edge cuts short."""
    for x in graph[path[-1]]:
        beside = sum(graph.has_edge(x, y) for y in path)
        if x == end and len(path) > 1 and beside == 2:
            yield [*path, x]
        elif x != end and x not in path and beside == 1 and len(path) + 1 < longest:
            yield from induced_paths(graph, [*path, x], end, longest)


def ring_hash(graph, nodes):
    """A number for the types around a ring: that of the least of all ways to read them."""
    readings = []
    for turn in (nodes, nodes[::-1]):
        for i in range(len(turn)):
            around = turn[i:] + turn[:i]
            steps = zip(around, around[1:] + around[:1], strict=True)
            readings.append(
                [number for a, b in steps for number in (graph.nodes[a]["type"], graph.edges[a, b]["type"])]
            )
    found = 0
    for number in min(readings):
        found = (924437393 * found + number + 1) % 2**62
    return mix(found)


def environments(graph, rounds):
    """Every node's number for the types around it, so many steps far."""
    colour = {w: mix(graph.nodes[w]["type"]) for w in graph}
    for _ in range(rounds):
        heard = {}
        for w in graph:
            messages = [mix((colour[x] + 1060642541 * (1 + graph.edges[w, x]["type"])) % 2**62) for x in graph[w]]
            heard[w] = mix((924437393 * colour[w] + sum(messages)) % 2**62)
        colour = heard
    return colour


def by_cycles(graph):
    """The graph with types that know cycles: of edges on them, only that; of nodes, that, and of what types their edges are."""
    bridges = {frozenset(edge) for edge in nx.bridges(graph)}
    untyped = nx.create_empty_copy(graph)
    nx.set_node_attributes(untyped, 0, "type")
    untyped.add_edges_from(graph.edges(data=True))
    own_edges = environments(untyped, 1)
    found = nx.Graph()
    for w, kind in graph.nodes(data="type"):
        on_any = any(frozenset((w, x)) not in bridges for x in graph[w])
        number = 0
        for value in (kind, own_edges[w], int(on_any)):
            number = mix((924437393 * number + value + 1) % 2**62)
        found.add_node(w, type=number)
    for u, v, kind in graph.edges(data="type"):
        found.add_edge(u, v, type=kind + 1 if frozenset((u, v)) in bridges else 0)
    return found


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


@dataclass
class Rooted:
    """What a part may look at: the whole graph, the subgraph rooted at (u, v) and the labels of its nodes."""

    graph: nx.Graph
    u: int
    v: int
    hops: int
    inside: nx.Graph
    label: dict


def degree(rooted, encoding):
    return Counter(("degree", min(d, encoding.max_degree)) for _, d in rooted.inside.degree)


def node(rooted, encoding):
    by_u = Counter(("node", "u", a) for a, _ in rooted.label.values())
    by_v = Counter(("node", "v", b) for _, b in rooted.label.values())
    return by_u + by_v


def joint(rooted, encoding):
    types = rooted.graph.nodes(data="type")
    kind = dict.fromkeys(rooted.label, ())
    if encoding.counts_by_types("joint"):
        kind = {w: (f"t{types[w] % encoding.node_types}",) for w in rooted.label}
    return Counter(("joint", *label, *kind[w]) for w, label in rooted.label.items())


def edge(rooted, encoding):
    found = Counter()
    for a, b in rooted.inside.edges:
        kind = ()
        if encoding.counts_by_types("edge"):
            kind = (f"t{rooted.graph.edges[a, b]['type'] % encoding.edge_types}",)
        found["edge", *flat(sorted((rooted.label[a], rooted.label[b]))), *kind] += 1
    return found


def wedge(rooted, encoding):
    found = Counter()
    for y in rooted.inside:
        for x, z in combinations(rooted.inside[y], 2):
            labels = [rooted.label[x], rooted.label[y], rooted.label[z]]
            kind = "closed" if rooted.inside.has_edge(x, z) else "open"
            found["wedge", kind, *flat(min(labels, labels[::-1]))] += 1
    return found


def triangle(rooted, encoding):
    found = Counter()
    for x, y in rooted.inside.edges:
        for z in nx.common_neighbors(rooted.inside, x, y):
            if z > max(x, y):
                labels = sorted((rooted.label[x], rooted.label[y], rooted.label[z]))
                found["triangle", *flat(labels)] += 1
    return found


def path(rooted, encoding):
    found = Counter()
    for x, y in rooted.inside.edges:
        for w, z in product(set(rooted.inside[x]) - {y}, set(rooted.inside[y]) - {x}):
            if w != z:
                labels = [rooted.label[w], rooted.label[x], rooted.label[y], rooted.label[z]]
                found["path", *flat(min(labels, labels[::-1]))] += 1
    return found


def resistance_bins(rooted, encoding):
    last = int((rooted.hops + 1) / encoding.resistance_width + 1e-6)
    found = Counter()
    for name, root in (("u", rooted.u), ("v", rooted.v)):
        for value in resistance(rooted.inside, root).values():
            at = value / encoding.resistance_width + 1e-6
            found["resistance", name, last if at >= last else int(at)] += 1
    return found


def walk(rooted, encoding):
    from_u, from_v = (walks(rooted.inside, root, encoding.walk_length) for root in (rooted.u, rooted.v))
    found = Counter()
    for k in range(2, encoding.walk_length + 1):
        found["walk", k] = min(from_u[k][rooted.v], LARGEST_COUNT)
        found["walk", "u", k] = min(from_u[k][rooted.u], LARGEST_COUNT)
        found["walk", "v", k] = min(from_v[k][rooted.v], LARGEST_COUNT)
    return found


def cycle(rooted, encoding):
    found = cycles(rooted.graph, rooted.u, rooted.v, encoding.cycle_length)
    return Counter({("cycle", k): found[k] for k in range(3, encoding.cycle_length + 1)})


def ring(rooted, encoding):
    graph, found = rings_through(rooted.graph, rooted.u, rooted.v, encoding.ring_length)
    if encoding.counts_by_types("ring"):
        return Counter(("ring", len(nodes), ring_hash(graph, nodes) % encoding.ring_bins) for nodes in found)
    return Counter(("ring", len(nodes)) for nodes in found)


def colour(rooted, encoding):
    if encoding.counts_by_types("colour"):
        around = environments(rooted.graph, encoding.colour_rounds)
        seen = {w: mix((around[w] + mix(1 + 2**31 * a + b)) % 2**62) for w, (a, b) in rooted.label.items()}
        return Counter(("colour", number % encoding.colour_bins) for number in seen.values())
    found = colours(rooted.inside, rooted.label, encoding.colour_rounds)
    return Counter(("colour", number % encoding.colour_bins) for number in found.values())


def alike(rooted, encoding):
    """By colours that are numbers of what they stand for, so that nothing is hashed."""
    graph = rooted.graph
    is_typed = encoding.counts_by_types("alike")
    colour = {w: graph.nodes[w]["type"] if is_typed else 0 for w in graph}
    for _ in range(encoding.alike_rounds):
        heard = {}
        for w in graph:
            messages = sorted((graph.edges[w, x]["type"] if is_typed else 0, colour[x]) for x in graph[w])
            heard[w] = (colour[w], *messages)
        number = {one: i for i, one in enumerate({*heard.values()})}
        colour = {w: number[one] for w, one in heard.items()}
    found = Counter()
    for name, like, beside in (("u", rooted.u, rooted.v), ("v", rooted.v, rooted.u)):
        found["alike", name] = sum(w != like and colour[w] == colour[like] for w in graph[beside])
    return found


TWINS = {
    "degree": degree,
    "node": node,
    "joint": joint,
    "edge": edge,
    "resistance": resistance_bins,
    "wedge": wedge,
    "triangle": triangle,
    "path": path,
    "walk": walk,
    "cycle": cycle,
    "ring": ring,
    "colour": colour,
    "alike": alike,
}
EVERYWHERE = {"cycle", "ring", "alike"}  # parts that are the same at every radius


def row(graph, u, v, encoding):
    """All counts of one 2-tuple, by bin; ``graph`` is a networkx graph."""
    if isinstance(encoding.hops, int):
        return row_within(graph, u, v, encoding, encoding.hops)
    result = {}
    for radius in encoding.hops:
        for name, count in row_within(graph, u, v, encoding, radius).items():
            if name[0] in EVERYWHERE:
                result[name] = count
            elif not {*encoding.parts} <= EVERYWHERE:
                result[f"h{radius}", *name] = count
    return result


def row_within(graph, u, v, encoding, hops):
    """The same for one radius, or the largest below it at which the subgraph is not too large."""
    radius = hops
    if encoding.max_nodes is not None:
        while len(subgraph(graph, u, v, radius, encoding.subgraph)) > encoding.max_nodes:
            radius -= 1
    inside = subgraph(graph, u, v, radius, encoding.subgraph)
    to_u, to_v = (nx.single_source_shortest_path_length(graph, root) for root in (u, v))
    label = {w: (min(to_u.get(w, radius + 1), radius + 1), min(to_v.get(w, radius + 1), radius + 1)) for w in inside}
    rooted = Rooted(graph, u, v, hops, inside, label)
    result = Counter()
    for part in encoding.parts:
        result.update(TWINS[part](rooted, encoding))
    if radius < hops:
        result["clipped", radius] = 1
    return {name: count for name, count in result.items() if count}
