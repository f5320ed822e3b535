import gc
import multiprocessing
import threading
from itertools import chain

import pytest
import torch
from torch.utils.data import BatchSampler, DistributedSampler, SequentialSampler

from escgnn.loader import Loader
from escgnn.store import GraphStore
from escgnn.transforms import StructuralEncoding
from tests.test_store import assert_same, molecules

ENCODING = StructuralEncoding(2)
STORE = molecules(20)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def order(batches):
    """The numbers of the graphs of each batch, which are their targets."""
    return [batch.y.int().tolist() for batch in batches]


def assert_same_batches(a, b):
    assert len(a) == len(b)
    for one, other in zip(a, b, strict=True):
        assert_same(one, other)
        assert_same(one[one.num_graphs - 1], other[one.num_graphs - 1])


def explode(batch):
    if 7 in batch.y:
        raise ValueError("graph 7 explodes")
    return batch


def add_odd_things(batch):
    """Attributes that do not cross to another process as numpy arrays."""
    batch.half = torch.ones(3, dtype=torch.bfloat16)
    batch.learnt = torch.ones(3, requires_grad=True)
    batch.sparse = torch.eye(2).to_sparse()
    batch.empty = torch.empty(0, 4)
    batch.text = "text"
    return batch


def test_batches_in_order():
    loader = Loader(STORE, 8)
    assert len(loader) == 3
    assert order(loader) == [[*range(8)], [*range(8, 16)], [*range(16, 20)]]
    assert_same_batches(list(loader), [STORE.batch(range(8)), STORE.batch(range(8, 16)), STORE.batch(range(16, 20))])
    assert order(Loader(STORE, 8, drop_last=True)) == [[*range(8)], [*range(8, 16)]]
    assert order(Loader(STORE[[3, 1, 2]], 2)) == [[3, 1], [2]]


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_empty_store_has_no_batches(shuffle):
    loader = Loader(STORE[:0], shuffle=shuffle)
    assert len(loader) == 0
    assert list(loader) == []


def test_shuffling_is_reproducible_and_new_in_every_epoch():
    epochs = [order(epoch) for epoch in 3 * [Loader(STORE, 8, shuffle=True, seed=5)]]
    assert [len(batch) for batch in epochs[0]] == [8, 8, 4]
    assert all(sorted(chain(*epoch)) == [*range(20)] for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    again = Loader(STORE, 8, shuffle=True, seed=5)
    again.set_epoch(2)
    assert order(again) == epochs[2]
    assert again.epoch == 3
    again.set_epoch(0)
    assert order(again) == epochs[0]
    assert order(Loader(STORE, 8, shuffle=True, seed=6)) != epochs[0]
    assert order(Loader(STORE, 8, shuffle=True, seed=6)) != epochs[1], "seed and epoch do not add up"


def test_an_epoch_left_early_is_over():
    loader = Loader(STORE, 8, shuffle=True)
    expected = [order(loader) for _ in range(2)]
    again = Loader(STORE, 8, shuffle=True)
    next(iter(again))
    assert order(again) == expected[1]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_resumes_anywhere(shuffle, workers):
    straight = Loader(STORE, 3, shuffle=shuffle, seed=1)
    expected = [order(straight) for _ in range(4)]
    stopped = Loader(STORE, 3, shuffle=shuffle, seed=1, workers=workers)
    states = [stopped.state_dict()]
    for _ in range(2):
        for _ in stopped:
            states.append(stopped.state_dict())
    resumed = Loader(STORE, 3, shuffle=shuffle, seed=1, workers=workers)
    for i in (0, 4, 7, 9, 14):
        resumed.load_state_dict(states[i])
        assert resumed.state_dict() == states[i]
        assert order(resumed) == expected[i // 7][i % 7 :]
        assert order(resumed) == expected[i // 7 + 1]


def test_a_state_is_for_its_epoch():
    loader = Loader(STORE, 3, shuffle=True)
    expected = [order(loader) for _ in range(3)]
    loader.load_state_dict({"epoch": 0, "position": 4})
    loader.sampler.set_epoch(0)  # as Lightning does
    assert order(loader) == expected[0][4:]
    loader.load_state_dict({"epoch": 0, "position": 4})
    loader.set_epoch(2)
    assert loader.state_dict() == {"epoch": 2, "position": 0}
    assert order(loader) == expected[2]


@pytest.mark.parametrize(
    ("context", "workers", "transform"), [("fork", 2, None), ("fork", 2, ENCODING), ("spawn", 1, ENCODING)]
)
def test_workers_make_the_same_batches(context, workers, transform, tmp_path):
    STORE.save(tmp_path / "store")
    mapped = GraphStore.load(tmp_path / "store")
    expected = Loader(STORE, 3, shuffle=True, transform=transform)
    loader = Loader(mapped[:], 3, shuffle=True, transform=transform, workers=workers, multiprocessing_context=context)
    for _ in range(2):
        assert_same_batches(list(loader), list(expected))
    assert mapped._edge_index.is_shared() == (context == "spawn"), "spawned workers share the arrays, too"


def test_a_transform_that_cannot_be_sent_is_told():
    def local(batch):
        return batch

    with pytest.raises(ValueError, match=r"transform: it cannot be sent to workers \(.*local.*\); define its class"):
        next(iter(Loader(STORE, 3, transform=local, workers=1, multiprocessing_context="spawn")))
    forked = Loader(STORE, 3, transform=local, workers=1, multiprocessing_context="fork")
    assert_same_batches(list(forked), list(Loader(STORE, 3)))


def test_transforms_see_the_batch_and_leave_the_store_alone():
    encoded = list(Loader(STORE, 8, transform=ENCODING))
    assert_same_batches(encoded, [ENCODING(batch) for batch in Loader(STORE, 8)])
    assert "esc_len" not in STORE[0]


def test_odd_tensors_come_back_from_workers():
    (batch,) = Loader(STORE, workers=1, transform=add_odd_things)
    assert batch.half.dtype == torch.bfloat16
    assert batch.sparse.to_dense().tolist() == [[1, 0], [0, 1]]
    assert batch.learnt.tolist() == [1, 1, 1]
    assert batch.empty.shape == (0, 4)
    assert batch.text == "text"
    batch.y += 1  # nothing is read-only
    batch.edge_index -= 1


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_reach_the_caller(workers):
    loader = Loader(STORE, 3, transform=explode, workers=workers)
    seen = []
    with pytest.raises(ValueError, match=r"^graph 7 explodes$"):
        for batch in loader:
            seen.append(batch.num_graphs)
    assert seen == [3, 3]
    assert order(Loader(STORE[:6], 3, transform=explode, workers=workers)) == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="graph 7 explodes"):
        list(loader)


@pytest.mark.parametrize("workers", [0, 2])
def test_stopping_early_leaves_nothing_behind(workers):
    threads, processes = {*threading.enumerate()}, {*multiprocessing.active_children()}
    loader = Loader(STORE, 2, workers=workers)
    for _ in loader:
        break
    assert order(loader) == order(Loader(STORE, 2))
    del loader, _
    gc.collect()
    for thread in {*threading.enumerate()} - threads:
        thread.join(30)  # it is told to end, but may not have come to it
    assert {*threading.enumerate()} <= threads
    assert {*multiprocessing.active_children()} <= processes


def test_torchs_own_random_numbers_are_left_alone():
    torch.manual_seed(0)
    expected = torch.get_rng_state()
    for workers in (0, 1):
        list(Loader(STORE, 8, shuffle=True, workers=workers))
    assert torch.equal(torch.get_rng_state(), expected)


def test_other_samplers():
    assert order(Loader(STORE, 2, sampler=[5, 3, 3])) == [[5, 3], [3]]
    assert order(Loader(STORE, batch_sampler=[[1, 2], [0]])) == [[1, 2], [0]]
    halves = [Loader(STORE, 8, sampler=DistributedSampler(STORE, 2, rank, seed=3)) for rank in (0, 1)]
    first = [order(half) for half in halves]
    assert sorted(chain(*first[0], *first[1])) == [*range(20)]
    halves[0].set_epoch(1)
    assert halves[0].epoch == 1
    assert order(halves[0]) != first[0]


def test_can_be_made_again_from_its_attributes():
    """As Lightning does to put another sampler in."""
    loader = Loader(STORE, 8, shuffle=True, transform=ENCODING, seed=3, prefetch=4)
    names = ("dataset", "batch_size", "transform", "workers", "seed", "drop_last", "prefetch")
    arguments = {name: getattr(loader, name) for name in names}
    for change in (
        {"sampler": SequentialSampler(STORE), "batch_sampler": None},
        {"sampler": None, "batch_sampler": BatchSampler(SequentialSampler(STORE), 8, False), "batch_size": 1},
    ):
        again = Loader(**{**arguments, "shuffle": False, **change})
        assert_same_batches(list(again), list(Loader(STORE, 8, transform=ENCODING)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"shuffle": True, "sampler": [0]}, "shuffle: a sampler has an order of its own"),
        ({"seed": -1}, "seed: -1; expected an integer >= 0"),
        ({"batch_size": 0}, "batch_size"),
        ({"workers": -1}, "num_workers"),
        ({"sampler": [0], "batch_sampler": [[0]]}, "mutually exclusive"),
    ],
)
def test_options_that_make_no_sense(options, reason):
    with pytest.raises(ValueError, match=reason):
        Loader(STORE, **options)
