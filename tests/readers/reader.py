"""A file read into plain values, for comparing."""

from escgnn.disk import Rejected
from escgnn.readers import GraphFile


def read(path, **options):
    """Every graph as (id, node ids, edges between node ids), and every reject as (line, reason)."""
    rejects: list[Rejected] = []
    file = GraphFile(path, on_reject=rejects.append, **options)
    graphs = []
    for chunk in file:
        assert chunk.graphs.num_graphs == len(chunk.ids) and chunk.graphs.num_nodes == len(chunk.node_ids)
        ptr = chunk.graphs.ptr
        for place, (member, name) in enumerate(zip(chunk.graphs.split(), chunk.ids.to_pylist(), strict=True)):
            nodes = chunk.node_ids[ptr[place] : ptr[place + 1]]
            graphs.append((name, nodes.tolist(), nodes[member.edges].tolist()))
    assert file.rejected == len(rejects) and file.bytes_read == file.total_bytes
    return graphs, [(row.line, row.reason) for row in rejects]
