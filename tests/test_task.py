import pytest

from escgnn.task import Task


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("edge", "binary", "rocauc", "max"), "level: 'edge'; expected one of node, graph, pair"),
        (("node", "ranking", "mrr", "max"), "kind: 'ranking'; expected one of regression"),
        (("node", "binary", "rocauc", "up"), "direction: 'up'; expected one of min, max"),
        (("graph", "multiclass", "accuracy", "max"), "classes: 1; a multiclass task has at least 2"),
        (("graph", "binary", "accuracy", "max", (), 2), "classes: 2; a multiclass task"),
        (("graph", "multiclass", "accuracy", "max", ("y",), 3, ("a", "b")), "names: 2 of 3 classes"),
    ],
)
def test_tasks_make_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        Task(*arguments)
