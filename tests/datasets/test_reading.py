import numpy as np
import pytest

from escgnn.datasets.reading import from_undirected


@pytest.mark.parametrize("node", [3, -1, 2**32 + 1, 2**63 - 1])
def test_a_node_that_does_not_exist_is_told(node):
    """Even one that 32 bits would turn into one that does."""
    with pytest.raises(ValueError, match=rf"column 0 is \(0, {node}\), but graph 0 has 3 nodes"):
        from_undirected([3], [1], [[0, node]])


def test_integers_of_every_size():
    for kind in (np.int16, np.uint8, np.int32, np.int64):
        assert from_undirected([3], [1], np.array([[0, 2]], kind))[0].edge_index.tolist() == [[0, 2], [2, 0]]
