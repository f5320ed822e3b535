"""Processes that torchrun or srun has started, on one machine or several."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from escgnn.training import fit, fit_folds, read_json, team
from escgnn.training.team import Place, Team
from tests.training import launched, tiny
from tests.training.test_fitting import rows
from tests.training.tiny import change

TORCHRUN = {
    "RANK": "3",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "node7",
    "MASTER_PORT": "29400",
    "TORCHELASTIC_RESTART_COUNT": "2",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
}
JOB = {"SLURM_JOB_ID": "81234", "SLURM_NTASKS": "6", "SLURM_PROCID": "0", "SLURM_JOB_NUM_NODES": "2"}  # its own script
SRUN = {
    **JOB,
    "SLURM_PROCID": "4",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "6",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NODELIST": "gpu[07-08,12]",
}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def places(world=2):
    port = free_port()
    return [Place("torchrun", rank, world, 0, 1, "127.0.0.1", port) for rank in range(world)]


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({}, Place()),
        (TORCHRUN, Place("torchrun", 3, 4, 1, 2, "node7", 29400, 2, True)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, Place("torchrun", 1, 2, 0, 0, "localhost", 29500)),
        (SRUN, Place("srun", 4, 6, 1, 3, "gpu07", 15000 + 2340)),
        ({**SRUN, "MASTER_ADDR": "head", "MASTER_PORT": "99"}, Place("srun", 4, 6, 1, 3, "head", 99)),
        (JOB, Place()),
        ({**SRUN, "SLURM_STEP_NUM_TASKS": "1"}, Place()),
        ({**SRUN, **TORCHRUN}, Place("torchrun", 3, 4, 1, 2, "node7", 29400, 2, True)),
    ],
    ids=["nothing", "torchrun", "by hand", "srun", "address", "script of a job", "one task", "torchrun in srun"],
)
def test_variables_say_which_process_it_is(variables, place):
    assert Place.of(variables) == place


def test_variables_that_say_nothing():
    with pytest.raises(ValueError, match="MASTER_PORT: 'any' in the environment; expected a number"):
        Place.of({**TORCHRUN, "MASTER_PORT": "any"})
    with pytest.raises(ValueError, match="SLURM_PROCID: None in the environment"):
        Place.of({name: value for name, value in SRUN.items() if name != "SLURM_PROCID"})


def test_as_many_processes_as_devices_of_all_nodes():
    Place.of(TORCHRUN).check(2, 2)
    Place.of(SRUN).check(3, 2)
    Place.of({"RANK": "1", "WORLD_SIZE": "4"}).check(2, 2)
    Place().check(4, 1)  # which will be started


@pytest.mark.parametrize(
    ("place", "devices", "nodes", "words"),
    [
        (Place(), 1, 2, "nodes: 2, but this process was started alone; start it on every node with torchrun or srun"),
        (Place.of(TORCHRUN), 1, 1, r"torchrun has started 4 processes, 2 on this node.*set devices=2 and nodes=2"),
        (Place.of(TORCHRUN), 1, 4, "set devices=2 and nodes=2, or start 1 on each of 4"),
        (Place.of(SRUN), 2, 2, r"srun has started 6 processes, 3 on this node.*set devices=3 and nodes=2"),
        (Place("torchrun", local_world=1), 1, 2, "torchrun has started 1 process, 1 on this node"),
        (Place("torchrun", local_world=1), 2, 1, "devices: 2, nodes: 1; but torchrun has started 1 process"),
    ],
)
def test_other_processes_than_the_settings_speak_of(place, devices, nodes, words):
    with pytest.raises(ValueError, match=words):
        place.check(devices, nodes)


def test_nothing_is_written_by_a_process_that_was_started_alone(tmp_path):
    for train, bundle in ((fit, tiny.bundle()), (fit_folds, tiny.bundle(folds=2))):
        with pytest.raises(ValueError, match="nodes: 2, but this process was started alone"):
            train(bundle, change(nodes=2), tmp_path / "run")
    assert not any(tmp_path.iterdir())


def together(work, world=3):
    """What happens to each of some processes, here threads, that do the same."""
    with ThreadPoolExecutor(world) as pool:
        return [job.exception() or job.result() for job in [pool.submit(work, Team(one)) for one in places(world)]]


def test_all_get_what_the_first_one_finds():
    def work(one):
        number = one.first(lambda: one.place.rank + 5)
        return [number, one.first(lambda: {"none": None, "rank": one.place.rank})]

    assert together(work) == [[5, {"none": None, "rank": 0}]] * 3


def test_all_fail_as_the_first_one_does():
    def work(one):
        def fail():
            raise OSError("the disk of process 0 is full")

        one.first(fail)

    first, *others = together(work)
    assert type(first) is OSError
    assert [str(error) for error in others] == ["the disk of process 0 is full"] * 2
    assert {type(error) for error in others} == {ValueError}


def test_the_first_one_waits_until_all_have_heard():
    """The store ends with it."""
    heard = []

    def work(one):
        one.first(lambda: None)
        heard.append(one.place.rank)

    together(work, 2)
    assert {*heard} == {0, 1}


def test_one_that_never_comes_is_named(monkeypatch):
    monkeypatch.setattr(team, "JOIN", 0.3)
    first = places(3)[0]
    with pytest.raises(ValueError, match=r"1 of 3 processes are there after 0.3 s; missing: 1, 2. Start every one"):
        Team(first).first(lambda: None)


def test_a_first_one_that_is_not_there(monkeypatch):
    monkeypatch.setattr(team, "JOIN", 0.3)
    second = places()[1]
    with pytest.raises(ValueError, match=rf"127.0.0.1:{second.port}: .*; process 1 of 2 expected the first one there"):
        Team(second).first(lambda: None)


def test_a_first_one_that_ends_is_missed():
    """Nobody waits for ever for what it will not say."""

    def work(one):
        one.first(lambda: None)
        if one.is_first:
            one._tcp = None  # and with it the store
            return "gone"
        return one.first(lambda: None)

    first, second = together(work, 2)
    assert first == "gone"
    assert str(second) == "process 1 of 2: the first one has ended; it says why"


@pytest.mark.parametrize(
    ("said", "told"),
    [("[pair.cc:534] Connection closed by peer [10.0.0.1]", "process 1 of 2: another one has ended"), ("too wide", "")],
)
def test_what_gloo_says_of_another_one_that_has_ended(monkeypatch, said, told):
    monkeypatch.setattr(Team, "_store", lambda self: None)
    for name in ("PrefixStore", "dist.init_process_group", "dist.destroy_process_group"):
        monkeypatch.setattr(f"escgnn.training.team.{name}", lambda *_, **__: None)
    with (
        pytest.raises(ValueError if told else RuntimeError, match=told or said),
        Team(places()[1]).connected(on_cpu=True),
    ):
        raise RuntimeError(said)


def test_two_nodes_get_the_numbers_of_one_process(tmp_path):
    """Started as torchrun does it; resumed, too. Every process knows the result, and what is wrong."""
    alone = fit(launched.graphs(), launched.CONFIG, tmp_path / "alone", progress=False)
    folds = fit_folds(launched.folded(), change(launched.CONFIG, epochs=1), tmp_path / "folds-alone", progress=False)
    port = str(free_port())
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.training.launched", str(tmp_path)],
            env={
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "LOCAL_RANK": "0",
                "LOCAL_WORLD_SIZE": "1",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    said = [process.communicate(timeout=1800) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert [errors for _, errors in said] == ["", ""]
    first, second = (json.loads(words) for words, _ in said)
    assert first == second
    assert first["test"]["mae"] == pytest.approx(alone.test["mae"], rel=1e-5)
    assert first["mean"] == pytest.approx(folds.mean, rel=1e-5) == read_json(tmp_path / "folds" / "result.json")["mean"]
    assert first["said"] == f"{tmp_path}/run is not empty; resume the run in it, or choose another folder"
    for one, shared in zip(rows(tmp_path / "alone"), rows(tmp_path / "run"), strict=True):
        for name in ("loss", "validation_mae", "validation_norm-mae", "lr"):
            assert shared[name] == pytest.approx(one[name], rel=1e-5)
