"""The contract of engines: whoever does the work, the same results in the same order, and nothing left by halves.

Every row of `ENGINES` is tested here, and `Backwards`, which is no part of the package, as anybody may write one.
"""

import multiprocessing
import os
import pickle
import sys
from functools import partial
from itertools import count, islice

import pyarrow.parquet as pq
import pytest

from escgnn.datasets import load
from escgnn.encoding import RootedEncoding
from escgnn.engines import ENGINES, LocalEngine, RayEngine, WorkerLostError, named_engine
from escgnn.engines.local import THREADS
from escgnn.jobs import count_file, encode_file, run, stream
from escgnn.readers import GraphFile
from escgnn.readers import rows as reading
from escgnn.training import fit, load_run, predict_file
from tests.jobs.toys import Die, DieOnce, Failing, Repeat, Wait, variables
from tests.training import tiny


class Backwards:
    """Takes three items at a time and works on the last one first; nothing is shared, as if it were done elsewhere."""

    def __init__(self, workers=0):
        self.workers = workers

    def map(self, function, items, *, lost=None, in_order=True):
        """Results in the order of the items, whether that is wanted or not; nobody dies here."""
        items = iter(items)
        while some := [*islice(items, 3)]:
            outcomes = [_send(function, item) for item in reversed(some)]
            for results, error in reversed(outcomes):
                yield from results
                if error is not None:
                    raise error


def _send(function, item):
    """What comes back: results, or none and an error."""
    sent, given = pickle.loads(pickle.dumps((function, item)))
    try:
        return pickle.loads(pickle.dumps([*sent(given)])), None
    except ArithmeticError as error:
        return [], error


ALL = {**ENGINES, "backwards": Backwards}
EVERY = [f"{name} {workers}" for name in ALL for workers in (0, 2) if f"{name} {workers}" != "ray 0"]


@pytest.fixture(scope="module")
def cluster():
    """A Ray cluster of this machine, which takes seconds to start, for all tests that need one."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'escgnn[ray]'")
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": variables})
    yield
    ray.shutdown()


def made(request):
    name, workers = request.param.split()
    if name == "ray":
        request.getfixturevalue("cluster")
    return ALL[name](int(workers))


@pytest.fixture(params=EVERY)
def engine(request):
    """Every engine, without and with workers; Ray always has some."""
    return made(request)


@pytest.fixture(params=[f"{name} 1" for name in ALL])
def elsewhere(request):
    """Every engine with a worker; a process of its own takes seconds to load what real jobs need."""
    return made(request)


def test_results_come_in_the_order_of_the_items(engine):
    assert [*engine.map(Repeat(), range(20))] == [number for number in range(20) for _ in range(number % 3)]
    assert [*engine.map(Repeat(), [])] == []


def test_items_are_taken_as_they_are_needed(engine):
    taken = []

    def numbers():
        for number in count():
            taken.append(number)
            yield number

    results = engine.map(Repeat(), numbers())
    assert [*islice(results, 4)] == [1, 2, 2, 4]
    assert len(taken) <= 12, "some are ahead, but not many"
    results.close()
    assert not multiprocessing.active_children()


def test_results_may_come_as_they_are_there(engine):
    assert sorted(engine.map(Repeat(), range(20), in_order=False)) == [
        number for number in range(20) for _ in range(number % 3)
    ]


def test_a_slow_item_does_not_let_results_pile_up():
    """Of endless items only some are taken while the first is worked on."""
    taken = []
    results = LocalEngine(2).map(Wait(0.5), (taken.append(number) or number for number in count()))
    assert next(results) == 0
    assert len(taken) <= 10
    results.close()


@pytest.mark.parametrize("name", ["local 1", "local 2", "ray 2"])
def test_a_worker_that_dies_is_replaced(name, request, tmp_path):
    """What it worked on, and what waited behind that, is done by another; behind a single one something always waits."""
    request.param = name
    engine = made(request)
    work = DieOnce(tmp_path)
    assert [*engine.map(work, range(8))] == [*range(8)]
    assert (tmp_path / "3").exists()
    (tmp_path / "3").unlink()
    assert sorted(engine.map(work, range(8), in_order=False)) == [*range(8)]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("name", ["local 2", "ray 2"])
def test_an_item_that_ends_every_worker_is_lost_alone(name, request):
    request.param = name
    engine = made(request)
    found = [*engine.map(Die(3), range(6), lost=lambda item, reason: [(item, reason)], in_order=False)]
    (lost,) = (one for one in found if isinstance(one, tuple))
    assert lost[0] == 3 and "3 workers died of it" in lost[1]
    assert sorted(one for one in found if not isinstance(one, tuple)) == [0, 1, 2, 4, 5]
    results = engine.map(Die(3), range(6))
    assert [*islice(results, 3)] == [0, 1, 2]
    with pytest.raises(WorkerLostError, match="item 3: 3 workers died of it"):
        next(results)
    assert not multiprocessing.active_children()


def test_engines_are_known_by_name():
    assert isinstance(named_engine("ray", 3, "auto"), RayEngine)
    assert named_engine("local", 2).workers == 2
    with pytest.raises(ValueError, match="engine: 'spark'; expected one of local, ray"):
        named_engine("spark")
    with pytest.raises(ValueError, match="address: 'auto', but the engine local has none"):
        named_engine("local", 2, "auto")


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'escgnn\[ray\]'"):
        next(RayEngine(1).map(Repeat(), [1]))


def test_the_first_item_that_fails_tells(engine):
    results = engine.map(Repeat(fails_at=5), count())
    assert [*islice(results, 4)] == [1, 2, 2, 4]
    with pytest.raises(ArithmeticError, match="5 is too much"):
        next(results)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("error", [ArithmeticError, KeyboardInterrupt])
def test_nothing_is_written_by_halves(engine, tmp_path, error):
    """A job that fails, and a command that is interrupted."""
    (tmp_path / "in.g6").write_text("Bw\n")
    (tmp_path / "out.csv").write_text("what was there")
    (tmp_path / "out.rejected.csv").write_text("line,record,reason\n")

    def progress(*_):
        if error is KeyboardInterrupt:
            raise KeyboardInterrupt

    with pytest.raises(error):
        run(Failing(), tmp_path / "in.g6", tmp_path / "out.csv", engine=engine, progress=progress)
    assert (tmp_path / "out.csv").read_text() == "what was there"
    assert (tmp_path / "out.rejected.csv").read_text() == "line,record,reason\n"
    assert {path.name for path in tmp_path.iterdir()} == {"in.g6", "out.csv", "out.rejected.csv"}
    assert not multiprocessing.active_children()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    rows = [f"{'C' * n}{end},{n}" for n in range(1, 9) for end in ("O", "N", "")]
    (folder / "in.csv").write_text("smiles,y\n" + "\n".join(rows))
    fit(load(folder / "in.csv", targets=["y"]), tiny.change(epochs=1), folder / "run", progress=False)
    return load_run(folder / "run")


def test_encode_count_and_predict(elsewhere, trained, tmp_path, monkeypatch):
    """Byte for byte what this process alone gives, bad rows and all, for many chunks."""
    monkeypatch.setattr(stream, "GraphFile", partial(GraphFile, chunk_size=60))
    monkeypatch.setattr(reading, "ROWS", 16)
    molecules = [f"{i},{'C' * (1 + i % 7)}{'(' if i % 5 == 0 else ''}" for i in range(70)]
    source = tmp_path / "in.csv"
    source.write_text("id,smiles\n" + "\n".join([*molecules, "71,C,more"]))
    encoding = RootedEncoding((1, 2), nodes=True)
    summaries = []
    written = []
    for who in (LocalEngine(), elsewhere):
        folder = tmp_path / type(who).__name__ / str(len(written))
        folder.mkdir(parents=True)
        encoded = encode_file(source, folder / "encoded.parquet", encoding, engine=who)
        counted = count_file(source, folder / "counted.csv", "3-path", per="edge", engine=who)
        predicted = predict_file(trained, source, folder / "predicted.csv", engine=who)
        assert encoded.rejected == counted.rejected == predicted.rows - predicted.predicted == 15
        done = (encoded, counted, predicted)
        summaries.append([(s.graphs, s.edges, s.rows, s.rejected, s.totals, s.problems) for s in done])
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert summaries[0] == summaries[1]
    assert written[0] == written[1]
    assert {*written[0]} == {
        *("encoded.parquet", "encoded.rejected.csv", "counted.csv", "counted.rejected.csv", "predicted.csv")
    }
    assert pq.read_metadata(folder / "encoded.parquet").num_row_groups > 2


def test_workers_are_counted():
    with pytest.raises(ValueError, match="workers: -1; expected 0 or more"):
        LocalEngine(-1)


def test_workers_share_the_cores(monkeypatch):
    """From their beginning: libraries look when they are loaded. What somebody has said stays."""
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    before = dict(os.environ)
    assert [*LocalEngine(2).map(variables, [THREADS])] == ["3", "1"]
    assert dict(os.environ) == before


def test_what_cannot_be_sent_to_workers_is_told():
    def local(item):
        return [item]

    with pytest.raises(ValueError, match=r"workers: 2; what they are to run .*local object.*top of a module"):
        next(LocalEngine(2).map(local, [1, 2]))
    assert [*LocalEngine().map(local, [1, 2])] == [1, 2]
