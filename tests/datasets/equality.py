import numpy as np
import torch


def assert_same(one, two):
    """Two bundles are equal in all that they hold."""
    assert (one.name, one.task, one.features, one.categories) == (two.name, two.task, two.features, two.categories)
    assert (one.source, one.sha256, one.rejected) == (two.source, two.sha256, two.rejected)
    assert one.graphs.fields == two.graphs.fields
    assert np.array_equal(one.graphs.view().edge_index, two.graphs.view().edge_index)
    assert all(torch.equal(one.graphs.column(name), two.graphs.column(name)) for name in one.graphs.fields)
    for a, b in zip((one.split, *one.folds), (two.split, *two.folds), strict=True):
        assert a is b is None or all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert one.pairs is two.pairs is None or np.array_equal(one.pairs, two.pairs)
