"""Weisfeiler-Leman tests written for reading: networkx graphs, and one dictionary of nested tuples for all of them.

Each function takes the graphs and, for each, a mapping from nodes to initial colours. It returns the stable colours of
each graph as a mapping from what was coloured, in order.
"""

from itertools import product

import networkx as nx

from tests import naive


def bag(values):
    return tuple(sorted(values))


def numbered(descriptions):
    book = {}
    return [{x: book.setdefault(seen, len(book)) for x, seen in each.items()} for each in descriptions]


def stable(descriptions, look):
    """Refine by what ``look(graph, item, colours)`` sees until the number of colours stays the same."""
    colours = numbered(descriptions)
    while True:
        finer = numbered([{x: (c[x], look(g, x, c)) for x in c} for g, c in enumerate(colours)])
        if len({c for each in finer for c in each.values()}) == len({c for each in colours for c in each.values()}):
            return colours
        colours = finer


def classes(colours):
    """Number of each graph's class, from its stable colours."""
    return [each["graph"] for each in numbered([{"graph": bag(each.values())} for each in colours])]


def one_wl(graphs, initial):
    return stable(initial, lambda g, v, c: bag(c[u] for u in graphs[g][v]))


def isomorphism_types(graph, initial, k):
    return {
        nodes: (
            tuple(initial[v] for v in nodes),
            tuple((u == v, graph.has_edge(u, v)) for u, v in product(nodes, repeat=2)),
        )
        for nodes in product(graph, repeat=k)
    }


def put(nodes, place, w):
    return (*nodes[:place], w, *nodes[place + 1 :])


def oblivious(graphs, initial, k):
    def look(g, nodes, c):
        return [bag(c[put(nodes, i, w)] for w in graphs[g]) for i in range(k)]

    types = [isomorphism_types(graph, colour, k) for graph, colour in zip(graphs, initial, strict=True)]
    return stable(types, lambda g, nodes, c: tuple(look(g, nodes, c)))


def folklore(graphs, initial, k):
    def look(g, nodes, c):
        return bag(tuple(c[put(nodes, i, w)] for i in range(k)) for w in graphs[g])

    types = [isomorphism_types(graph, colour, k) for graph, colour in zip(graphs, initial, strict=True)]
    return stable(types, look)


def esc(graphs, initial, encodings):
    def rows(graph, u, v, which):
        return tuple(bag(naive.row(graph, u, v, encoding).items()) for encoding in which)

    messages = [{(u, v): rows(graph, u, v, encodings) for u, v in graph.to_directed().edges} for graph in graphs]
    with_nodes = [encoding for encoding in encodings if encoding.nodes]
    first = [
        {v: (colour[v], rows(graph, v, v, with_nodes)) for v in graph}
        for graph, colour in zip(graphs, initial, strict=True)
    ]
    return stable(first, lambda g, v, c: bag((c[u], messages[g][u, v]) for u in graphs[g][v]))


def rooted(graphs, initial, k, m, hops, *, messages=False, marks=False):
    """The framework word for word, the term of the roots' own colours included; root marks instead of distances."""
    names, subgraphs, first = [], [], []
    for g, graph in enumerate(graphs):
        for roots in product(graph, repeat=k):
            if k == 2 and roots[0] != roots[1] and not graph.has_edge(*roots):
                continue
            sub = graph.subgraph({w for root in roots for w in nx.ego_graph(graph, root, hops)})
            distance = [nx.single_source_shortest_path_length(graph, root) for root in roots]
            labels = {
                w: (initial[g][w], *(w == root if marks else d[w] for root, d in zip(roots, distance, strict=True)))
                for w in sub
            }
            names.append((g, roots))
            subgraphs.append(sub)
            first.append(labels if m == 1 else isomorphism_types(sub, labels, m))

    def look(s, x, c):
        roots = names[s][1]
        if m == 1:
            return tuple(c[root] for root in roots), bag(c[u] for u in subgraphs[s][x])
        places = tuple(bag(c[put(x, i, w)] for w in subgraphs[s]) for i in range(m))
        return tuple(c[nodes] for nodes in product(roots, repeat=m)), places

    result = [{} for _ in graphs]
    for (g, roots), number in zip(names, classes(stable(first, look)), strict=True):
        result[g][roots] = number
    if not messages:
        return result

    def hear(g, v, c):
        return bag((c[u], result[g][u, v] if k == 2 else 0) for u in graphs[g][v])

    return stable([{v: result[g][(v,) * k] for v in graph} for g, graph in enumerate(graphs)], hear)


def balls(graph, hops):
    """The ball of every node: the induced subgraph, and how far its nodes are."""
    far = {v: nx.single_source_shortest_path_length(graph, v, cutoff=hops) for v in graph}
    return {v: (graph.subgraph(far[v]), far[v]) for v in graph}


def gin_ak(graphs, initial, hops, inner, plus):
    """Some rounds in the ball of every node, anew in every layer; nodes keep what is said of them, and nothing else is kept."""
    cut = [balls(graph, hops) for graph in graphs]

    def inside(colours):
        """Colours of all copies (root, node) after the rounds."""
        copies = []
        for each, colour in zip(cut, colours, strict=True):
            copies.append({(s, v): (colour[v], far[v] if plus else 0) for s, (ball, far) in each.items() for v in ball})
        now = numbered(copies)
        for _ in range(inner):
            looks = []
            for each, c in zip(cut, now, strict=True):
                looks.append({(s, v): (c[s, v], bag(c[s, u] for u in each[s][0][v])) for s, v in c})
            now = numbered(looks)
        return now

    colours = numbered(initial)
    while True:
        finer = []
        for each, colour, c in zip(cut, colours, inside(colours), strict=True):
            heard = {
                v: (colour[v], c[v, v], bag((c[v, u], each[v][1][u] if plus else 0) for u in each[v][0])) for v in each
            }
            if plus:
                heard = {v: (*seen, bag((c[s, v], each[s][1][v]) for s in each[v][0])) for v, seen in heard.items()}
            finer.append(heard)
        finer = numbered(finer)
        if len({c for each in finer for c in each.values()}) == len({c for each in colours for c in each.values()}):
            return colours
        colours = finer


def variants(graph, policy):
    """Subgraphs with all nodes, by name: that of a node, marked or without its edges, or of an edge, without it."""
    if policy == "ED":
        return {edge: (nx.restricted_view(graph, [], [edge]), None) for edge in graph.edges}
    if policy == "ND":
        return {v: (nx.restricted_view(graph, [], [*graph.edges(v)]), None) for v in graph}
    return {v: (graph, v) for v in graph}


def dss_gnn(graphs, initial, policy):
    """Copies (subgraph, node) hear from neighbours in their subgraph, and nodes from all their copies."""
    cut = [variants(graph, policy) for graph in graphs]
    first = [
        {(s, v): (colour[v], v == mark) for s, (_, mark) in each.items() for v in colour}
        for each, colour in zip(cut, initial, strict=True)
    ]

    def look(g, copy, c):
        s, v = copy
        of_node = {u: bag(c[t, u] for t in cut[g]) for u in (v, *graphs[g][v])}
        return bag(c[s, u] for u in cut[g][s][0][v]), of_node.pop(v), bag(of_node.values())

    colours = stable(first, look)
    return [{s: bag(c[s, v] for v in graphs[g]) for s in cut[g]} for g, c in enumerate(colours)]


def split_cells(graph, cells, waiting):
    """Refine an ordered partition, a list of lists: cells split by neighbours in a waiting cell, fewest first."""
    while waiting:
        splitter = waiting.pop(0)
        hits = {v: sum(w in splitter for w in graph[v]) for v in graph}
        finer = []
        for cell in cells:
            pieces = [[v for v in cell if hits[v] == number] for number in sorted({hits[v] for v in cell})]
            if len(pieces) > 1:
                largest = max(pieces, key=len)  # the first of them
                if cell in waiting:
                    waiting[waiting.index(cell)] = pieces[0]
                    waiting += pieces[1:]
                else:
                    waiting += [piece for piece in pieces if piece is not largest]
            finer += pieces
        cells = finer
    return cells


def search(graphs, initial, depth):
    """Every way to single nodes out, as a tree of nested tuples; then 1-WL over the graph."""

    def tree(graph, colour, cells, root, left):
        where = next(i for i, cell in enumerate(cells) if root in cell)
        alone, rest = [root], [v for v in cells[where] if v != root]
        waiting = [alone] if rest else []
        cells = split_cells(graph, [*cells[:where], alone, *([rest] if rest else []), *cells[where + 1 :]], waiting)
        names = {v: i for i, cell in enumerate(cells) for v in cell}
        seen = tuple((len(cell), colour[cell[0]], bag(names[w] for w in graph[cell[0]])) for cell in cells)
        several = [cell for cell in cells if len(cell) > 1] if left > 1 else []
        target = min(several, key=len, default=[])  # the first of them
        return seen, names[root], bag(tree(graph, colour, cells, v, left - 1) for v in target)

    first = []
    for graph, colour in zip(graphs, initial, strict=True):
        cells = [[v for v in graph if colour[v] == number] for number in sorted({*colour.values()})]
        cells = split_cells(graph, cells, [*cells])
        first.append({v: tree(graph, colour, cells, v, depth) for v in graph})
    return stable(first, lambda g, v, c: bag(c[u] for u in graphs[g][v]))
