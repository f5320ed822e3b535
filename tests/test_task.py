import json
from dataclasses import asdict

import pytest

from escgnn.task import Task

NUMBER = Task("graph", "regression", "mae", "min", ("y",))
COLOUR = Task("graph", "multiclass", "accuracy", "max", ("colour",), 3, ("blue", "green", "red"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("edge", "binary", "rocauc", "max"), "level: 'edge'; expected one of node, graph, pair"),
        (("node", "ranking", "mrr", "max"), "kind: 'ranking'; expected one of regression"),
        (("node", "binary", "rocauc", "up"), "direction: 'up'; expected one of min, max"),
        (("graph", "multiclass", "accuracy", "max"), "classes: 1; a multiclass task has at least 2"),
        (("graph", "binary", "accuracy", "max", (), 2), "classes: 2; a multiclass task"),
        (("graph", "multiclass", "accuracy", "max", ("y",), 3, ("a", "b")), "names: 2 of 3 classes"),
        (("graph", "mixed", "relative", "min", ("y",)), "parts: 0; a mixed task has some"),
        (
            ("graph", "binary", "rocauc", "max", ("y",), 1, (), (NUMBER,)),
            "parts: 1; a mixed task has some, any other none",
        ),
        (("graph", "mixed", "relative", "min", ("z",), 1, (), (NUMBER,)), "targets: .*; expected those of the parts"),
        (("node", "mixed", "relative", "min", ("y",), 1, (), (NUMBER,)), "parts: .*; expected a task of one target"),
    ],
)
def test_tasks_make_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        Task(*arguments)


def test_runs_know_their_data_by_what_a_task_is_written_as():
    """It must not change: the hashes of old runs are made of it."""
    assert repr(COLOUR) == (
        "Task(level='graph', kind='multiclass', metric='accuracy', direction='max', targets=('colour',), classes=3)"
    )
    assert repr(COLOUR) in repr(Task.mixed([NUMBER, COLOUR]))


def test_tasks_come_back_from_a_file():
    for task in (COLOUR, Task.mixed([NUMBER, COLOUR])):
        assert Task.of(json.loads(json.dumps(asdict(task)))) == task
    old = asdict(COLOUR)
    del old["parts"]
    assert Task.of(old) == COLOUR


def test_a_task_target_by_target():
    both = Task("node", "multilabel", "rocauc", "max", ("a", "b"))
    assert [(one.kind, one.targets) for one in both.singles] == [("binary", ("a",)), ("binary", ("b",))]
    assert COLOUR.singles == (COLOUR,) and Task.mixed([NUMBER, COLOUR]).singles == (NUMBER, COLOUR)
