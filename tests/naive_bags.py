"""Bags of subgraphs, written for reading: networkx, dictionaries, one subgraph at a time.

A subgraph is a dictionary: its root, its nodes in ascending order, labels in the order of the nodes, and its edges as
(target, source, column of edge_index), in ascending order.
"""

import networkx as nx

from tests import naive

OUTSIDE = 255


def columns_between(graph, nodes):
    """Every column of edge_index with both ends among the nodes, loops and repeats included."""
    columns = enumerate(graph.edge_index.T.tolist())
    return sorted((v, u, column) for column, (u, v) in columns if {u, v} <= {*nodes})


def nodes_beside(graph, node):
    """All nodes of the graph that the node is in."""
    for first, last in zip(graph.ptr[:-1].tolist(), graph.ptr[1:].tolist(), strict=True):
        if first <= node < last:
            return list(range(first, last))
    raise AssertionError(node)


def hops_and_more(ego, start, nodes):
    """Distances inside the ego network, and 1 for nodes that two neighbours or more are closer than."""
    distance = nx.single_source_shortest_path_length(ego, start)
    hop = [distance.get(v, OUTSIDE) for v in nodes]
    closer = [sum(distance[u] < distance[v] for u in ego[v]) if v in ego else 0 for v in nodes]
    return hop, [int(number >= 2) for number in closer]


def resistance(ego, start, nodes):
    """Resistances inside the ego network, infinite outside."""
    known = naive.resistance(ego, start)
    return [known.get(v, float("inf")) for v in nodes]


def node_subgraphs(graph, hops, *, keep=False):
    """The ego network of every node."""
    plain = graph.to_networkx()
    result = []
    for root in plain:
        ego = nx.ego_graph(plain, root, hops)
        nodes = nodes_beside(graph, root) if keep else sorted(ego)
        hop, more = hops_and_more(ego, root, nodes)
        subgraph = {"root": root, "nodes": nodes, "hop": hop, "more": more, "edges": columns_between(graph, ego)}
        result.append({**subgraph, "resistance": resistance(ego, root, nodes)})
    return result


def pair_subgraphs(graph, hops):
    """The ego network of every node once for each neighbour, or for the node itself if there is none."""
    plain = graph.to_networkx()
    result = []
    for subgraph in node_subgraphs(graph, hops):
        root, nodes = subgraph["root"], subgraph["nodes"]
        ego = plain.subgraph(nodes)
        for mate in sorted(plain[root]) or [root]:
            hop, more = hops_and_more(ego, mate, nodes)
            seen = {"mate": mate, "mate_hop": hop, "mate_more": more, "mate_resistance": resistance(ego, mate, nodes)}
            result.append({**subgraph, **seen})
    return result


def whole_subgraphs(graph):
    """The whole graph for every node."""
    homes = [nodes_beside(graph, root) for root in range(graph.num_nodes)]
    return [{"root": v, "nodes": home, "edges": columns_between(graph, home)} for v, home in enumerate(homes)]


def node_deleted_subgraphs(graph):
    """The whole graph for every node, without the edges at it."""
    return [
        {**subgraph, "edges": [edge for edge in subgraph["edges"] if subgraph["root"] not in edge[:2]]}
        for subgraph in whole_subgraphs(graph)
    ]


def copied_subgraphs(graph, count):
    """Every graph some times."""
    result = []
    for first, last in zip(graph.ptr[:-1].tolist(), graph.ptr[1:].tolist(), strict=True):
        nodes = list(range(first, last))
        result += [{"nodes": nodes, "edges": columns_between(graph, nodes)}] * count
    return result


def edge_deleted_subgraphs(graph):
    """Every graph for each of its edges, without it; a graph without edges as it is."""
    result = []
    for whole in copied_subgraphs(graph, 1):
        pairs = sorted({(v, u) for u, v, _ in whole["edges"] if v < u})
        for pair in pairs or [None]:
            kept = [edge for edge in whole["edges"] if tuple(sorted(edge[:2])) != pair]
            result.append({"nodes": whole["nodes"], "edges": kept})
    return result


def decoded(bag, *labels):
    """The subgraphs of a `Bag` as dictionaries."""
    node = bag.node.tolist()
    edges = list(zip(*bag.edge_index.tolist(), bag.column.tolist(), strict=True))
    result = []
    start = 0
    for s, length in enumerate(bag.length.tolist()):
        mine = range(start, start + length)
        assert all((source in mine) == (target in mine) for source, target, _ in edges)
        inside = [(node[target], node[source], column) for source, target, column in edges if target in mine]
        subgraph = {"nodes": node[start : start + length], "edges": inside}
        if bag.root is not None:
            subgraph["root"] = int(bag.root[s])
            assert node[bag.centre[s]] == subgraph["root"]
            assert int(bag.centre[s]) in mine
        if bag.mate is not None:
            subgraph["mate"] = node[bag.mate[s]]
            assert int(bag.mate[s]) in mine
        for label in labels:
            subgraph[label] = getattr(bag, label)[start : start + length].tolist()
        result.append(subgraph)
        start += length
    assert start == len(node)
    return result
