"""Engines: what runs a function over many items. They know nothing of graphs, files or tables.

To add one, write ``engines/<name>.py`` with a class that has `Engine`'s method ``map``, import optional packages inside it, and
add a row to `ENGINES`; ``tests/jobs/test_engines.py`` then runs the whole contract over it. An engine of one's own need not be
in the package: every function with an argument ``engine`` takes any object with such a method.
"""

from escgnn.engines.engine import ATTEMPTS, Engine, WorkerLostError
from escgnn.engines.local import LocalEngine
from escgnn.engines.ray import RayEngine

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine, "ray": RayEngine}

__all__ = ["ATTEMPTS", "ENGINES", "Engine", "LocalEngine", "RayEngine", "WorkerLostError", "named_engine"]


def named_engine(name: str, workers: int = 0, address: str | None = None) -> Engine:
    """The engine of this name.

    Args:
        name: One of `ENGINES`.
        workers: Processes or tasks at a time.
        address: Of the cluster, for an engine that has one.

    Raises:
        ValueError: There is no such engine, or it has no address.
    """
    if name not in ENGINES:
        raise ValueError(f"engine: {name!r}; expected one of {', '.join(ENGINES)}")
    if name == "ray":
        return RayEngine(workers, address)
    if address is not None:
        raise ValueError(f"address: {address!r}, but the engine {name} has none")
    return ENGINES[name](workers)
