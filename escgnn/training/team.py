"""Processes that train together: those that torchrun or SLURM's srun has started, on one machine or on several.

The first of them alone writes; the others learn from it what it decides, through a small store that it (or torchrun) keeps.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TypeVar

import torch.distributed as dist
from lightning.fabric.plugins.environments.cluster_environment import ClusterEnvironment
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.fabric.plugins.environments.slurm import SLURMEnvironment
from lightning.pytorch.strategies import DDPStrategy
from torch.distributed import PrefixStore, Store, TCPStore  # type: ignore[attr-defined]

from escgnn.training.recording import silence

Value = TypeVar("Value")
JOIN = 600.0  # seconds that processes wait for each other at the beginning
GRACE = 20.0  # and that the first one waits for the others to hear of its end
LOOK = 0.05  # seconds between two looks at the store
HOW = "start it on every node with torchrun or srun, as docs/scaling.md shows"
LOST = ("Connection closed", "Connection reset", "Broken pipe")  # what gloo says when another process has ended


@dataclass(frozen=True)
class Place:
    """Which of the processes that were started together this one is.

    Attributes:
        by: Who has started them, torchrun or srun; empty if nobody has.
        rank: Number of this process, from 0.
        world: Number of processes.
        local_rank: Number of this process on its node.
        local_world: Processes on its node; 0 if nobody says.
        host: Where the first process is.
        port: Its port for the others.
        attempt: How often torchrun has started them before.
        is_served: Whether torchrun itself keeps the store.
    """

    by: str = ""
    rank: int = 0
    world: int = 1
    local_rank: int = 0
    local_world: int = 0
    host: str = ""
    port: int = 0
    attempt: int = 0
    is_served: bool = False

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> "Place":
        """What the variables of the environment say.

        >>> Place.of({"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "n0", "MASTER_PORT": "29500"}).world
        2

        Raises:
            ValueError: One is missing, or is no number.
        """
        if {"RANK", "WORLD_SIZE"} <= variables.keys():  # before SLURM's, as srun may have started torchrun
            return cls(
                by="torchrun",
                rank=_number(variables, "RANK"),
                world=_number(variables, "WORLD_SIZE"),
                local_rank=_number(variables, "LOCAL_RANK", "0"),
                local_world=_number(variables, "LOCAL_WORLD_SIZE", "0"),
                host=variables.get("MASTER_ADDR", "localhost"),
                port=_number(variables, "MASTER_PORT", "29500"),
                attempt=_number(variables, "TORCHELASTIC_RESTART_COUNT", "0"),
                is_served=variables.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
            )
        if _number(variables, "SLURM_STEP_NUM_TASKS", "1") == 1:  # the script of a job itself is no step of it
            return cls()
        job = f"{variables.get('SLURM_JOB_ID', '')}{variables.get('SLURM_STEP_ID', '')}"
        nodes = variables.get("SLURM_STEP_NODELIST", "localhost")
        return cls(
            by="srun",
            rank=_number(variables, "SLURM_PROCID"),
            world=_number(variables, "SLURM_STEP_NUM_TASKS"),
            local_rank=_number(variables, "SLURM_LOCALID"),
            local_world=_number(variables, "SLURM_STEP_NUM_TASKS") // _number(variables, "SLURM_STEP_NUM_NODES", "1"),
            host=variables.get("MASTER_ADDR") or SLURMEnvironment.resolve_root_node_address(nodes),
            port=_number(variables, "MASTER_PORT", f"{15000 + int(job[-4:] or 0)}"),  # another one for every step
        )

    def check(self, devices: int, nodes: int) -> None:
        """Complain if other processes were started than the settings speak of.

        Raises:
            ValueError: They are too many or too few.
        """
        if not self.by:
            if nodes > 1:
                raise ValueError(f"nodes: {nodes}, but this process was started alone; {HOW}")
            return
        on_each = self.local_world or self.world // nodes or 1
        if self.world != devices * nodes or on_each != devices:
            advice = f"set devices={on_each} and nodes={self.world // on_each}, or start {devices} on each of {nodes}"
            raise ValueError(
                f"devices: {devices}, nodes: {nodes}; but {self.by} has started {_processes(self.world)}, {on_each} on "
                f"this node. All of them share every batch: {advice}"
            )


def _number(variables: Mapping[str, str], name: str, otherwise: str | None = None) -> int:
    text = variables.get(name, otherwise)
    if text is None or not text.isdecimal():
        raise ValueError(f"{name}: {text!r} in the environment; expected a number, as torchrun and srun set it")
    return int(text)


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


class Team:
    """The processes that train together, as one of them sees it; a process that was started alone is a team of its own.

    All of them call the same methods in the same order.

    Args:
        place: Which of them this one is.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._tcp: Store | None = None
        self._calls = 0

    @property
    def is_alone(self) -> bool:
        """Whether there are no others."""
        return self.place.world == 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes and tells."""
        return self.place.rank == 0

    def environment(self) -> ClusterEnvironment:
        """The same for Lightning, which is not to find out by itself: it would take a job's script for a step of it."""
        return LightningEnvironment() if self.is_alone else Started(self.place)

    def strategy(self, devices: int) -> DDPStrategy | str:
        """How so many devices of this machine share the work: the others are there, are to be started, or there are none."""
        if not self.is_alone:
            return DDPStrategy()
        return Spawned(start_method="spawn") if devices > 1 else "auto"

    def first(self, work: Callable[[], Value]) -> Value:
        """What the first process makes of the work, in all of them; the others do not work, but wait, and fail as it does.

        Args:
            work: Gives plain values, such as JSON has.

        Raises:
            ValueError: The first process has failed, or some never came.
        """
        if self.is_alone:
            return work()
        store = self._store()
        self._calls += 1
        key = f"call/{self._calls}"
        heard = [f"{key}/{rank}" for rank in range(1, self.place.world)]
        if not self.is_first:
            self._wait(store, [key])
            said = json.loads(store.get(key))
            store.set(heard[self.place.rank - 1], "heard")
            if "error" in said:
                raise ValueError(said["error"])
            value: Value = said["value"]
            return value
        try:
            found = work()
        except BaseException as error:
            store.set(key, json.dumps({"error": str(error) or type(error).__name__}))
            with suppress(TimeoutError):
                self._wait(store, heard, GRACE)  # the store ends with this process
            raise
        store.set(key, json.dumps({"value": found}))
        self._wait(store, heard)
        return found

    @contextmanager
    def connected(self, *, on_cpu: bool) -> Iterator[None]:
        """A block in which tensors go from process to process.

        Raises:
            ValueError: Another process has ended.
        """
        if self.is_alone:
            yield
            return
        store = PrefixStore(f"group/{self._calls}", self._store())
        backend = "gloo" if on_cpu else "cpu:gloo,cuda:nccl"
        dist.init_process_group(backend, store=store, rank=self.place.rank, world_size=self.place.world)
        try:
            yield
        except RuntimeError as error:
            if not any(words in str(error) for words in LOST):
                raise
            raise ValueError(
                f"process {self.place.rank} of {self.place.world}: another one has ended, and says why; the run can be resumed"
            ) from error
        finally:
            dist.destroy_process_group()

    def _store(self) -> Store:
        """Where processes leave word for each other; the first time, all of them wait here for each other."""
        place = self.place
        if self._tcp is None:
            is_keeper = place.rank == 0 and not place.is_served
            patience = timedelta(seconds=JOIN)
            try:
                self._tcp = TCPStore(place.host, place.port, None, is_keeper, patience, wait_for_workers=False)
            except RuntimeError as error:
                words = str(error).splitlines()[0]
                raise ValueError(
                    f"{place.host}:{place.port}: {words:.200}; process {place.rank} of {place.world} expected the first "
                    "one there. Start all of them, with the same MASTER_ADDR and a MASTER_PORT that is free"
                ) from error
            store = PrefixStore(f"escgnn/{place.attempt}", self._tcp)
            store.set(f"here/{place.rank}", socket.gethostname())
            self._meet(store)
        return PrefixStore(f"escgnn/{place.attempt}", self._tcp)

    def _meet(self, store: Store) -> None:
        place = self.place
        expected = [f"here/{rank}" for rank in range(place.world)]
        try:
            self._wait(store, expected, JOIN)
        except TimeoutError:
            missing = [key.removeprefix("here/") for key in expected if not store.check([key])]
            self._tcp = None
            raise ValueError(
                f"{place.host}:{place.port}: {place.world - len(missing)} of {place.world} processes are there after {JOIN:g} s; "
                f"missing: {', '.join(missing)}. Start every one of them, with the same command"
            ) from None

    def _wait(self, store: Store, keys: list[str], seconds: float | None = None) -> None:
        """Wait until there is word; in short naps, so that an interrupt is heard.

        Raises:
            TimeoutError: It has taken longer.
            ValueError: The store is gone, and so is whoever kept it.
        """
        begin = time.monotonic()
        try:
            while not store.check(keys):
                if seconds is not None and time.monotonic() - begin > seconds:
                    raise TimeoutError
                time.sleep(LOOK)
        except RuntimeError as error:
            raise ValueError(
                f"process {self.place.rank} of {self.place.world}: the first one has ended; it says why"
            ) from error


class Spawned(DDPStrategy):
    """Data-parallel training in processes of its own, as silent as this one."""

    def setup_environment(self) -> None:
        """Begin, in the new process."""
        silence()
        super().setup_environment()


class Started(ClusterEnvironment):
    """What Lightning asks about processes that it has not started itself."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place

    @property
    def creates_processes_externally(self) -> bool:
        """That is so."""
        return True

    @property
    def main_address(self) -> str:
        """Where the first process is."""
        return self.place.host

    @property
    def main_port(self) -> int:
        """Its port."""
        return self.place.port

    @staticmethod
    def detect() -> bool:
        """Lightning is told, and detects nothing."""
        return False

    def world_size(self) -> int:
        """Number of processes."""
        return self.place.world

    def set_world_size(self, size: int) -> None:
        """Nothing; it is as it is."""

    def global_rank(self) -> int:
        """Number of this process."""
        return self.place.rank

    def set_global_rank(self, rank: int) -> None:
        """Nothing; it is as it is."""

    def local_rank(self) -> int:
        """Number of this process on its node."""
        return self.place.local_rank

    def node_rank(self) -> int:
        """Number of the node."""
        return self.place.rank // (self.place.local_world or self.place.world)


@cache
def _team_at(place: Place) -> Team:
    return Team(place)


def find_team() -> Team:
    """The team that this process belongs to, the same one each time."""
    return _team_at(Place.of(os.environ))


def is_first_process() -> bool:
    """Whether this process is the one that writes and tells: the only one, or the first that torchrun or srun has started."""
    return find_team().is_first
