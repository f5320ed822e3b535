"""Work on a Ray cluster, by Ray core alone. Needs the extra ``ray``."""

import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from escgnn.engines.engine import ATTEMPTS, Item, Lost, Result, WorkerLostError
from escgnn.engines.local import THREADS, answer_to

CALLS = 64  # of a worker, which is replaced then, so that nothing that leaks grows
_functions: dict[str, Callable[[Any], Iterable[Any]]] = {}  # of a worker: the one that it was called with last


class RayEngine:
    """Runs a function in the tasks of a Ray cluster, one core each; only items and results travel.

    Args:
        workers: Tasks at a time; as many as the cluster has cores if 0.
        address: Of the cluster, such as ``"auto"`` or ``"ray://host:10001"``; without one, a cluster of this machine's own
            is started, and stopped at the end. A cluster that this process is connected to already is used as it is.

    Raises:
        ValueError: A negative number of workers.
        ImportError: Ray is not installed.
    """

    def __init__(self, workers: int = 0, address: str | None = None) -> None:
        if workers < 0:
            raise ValueError(f"workers: {workers}; expected 0 or more")
        self.workers = workers
        self.address = address

    def map(
        self,
        function: Callable[[Item], Iterable[Result]],
        items: Iterable[Item],
        *,
        lost: Lost[Item, Result] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """What the function gives for every item; see `Engine.map`. At most two items a slot are under way."""
        ray = _ray()
        is_ours = not ray.is_initialized()
        if is_ours:
            self._begin(ray)
        try:
            yield from self._results(ray, function, items, lost, in_order)
        finally:
            if is_ours:
                ray.shutdown()

    def _begin(self, ray: Any) -> None:
        one = dict.fromkeys(THREADS, "1")
        ray.init(
            address=self.address,
            num_cpus=(self.workers or None) if self.address is None else None,
            include_dashboard=None if self.address else False,
            log_to_driver=False,
            runtime_env={"env_vars": one},
        )

    def _results(
        self,
        ray: Any,
        function: Callable[[Any], Iterable[Any]],
        items: Iterable[Any],
        lost: Lost[Any, Any] | None,
        in_order: bool,
    ) -> Iterator[Any]:
        key = uuid.uuid4().hex
        kept = ray.put(pickle.dumps(function))
        task = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1, max_calls=CALLS)(_work)
        slots = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        coming = enumerate(items)
        under_way: dict[Any, tuple[int, Any]] = {}  # number and item by what Ray promises
        answers: dict[int, Any] = {}  # by number, until it is their turn
        turn = 0
        try:
            while True:
                while len(under_way) + len(answers) < 2 * slots and (following := next(coming, None)) is not None:
                    number, item = following
                    under_way[task.remote(key, [kept], pickle.dumps(item))] = (number, item)
                if not under_way:
                    return
                ready, _ = ray.wait([*under_way], num_returns=1)
                number, item = under_way.pop(ready[0])
                answers[number] = _answer(ray, ready[0], number, item, lost)
                while answers and (turn in answers or not in_order):
                    answer = answers.pop(turn if in_order else next(iter(answers)))
                    turn += 1
                    if isinstance(answer, BaseException):
                        raise answer
                    yield from answer
        finally:
            for promise in under_way:
                ray.cancel(promise, force=False)  # by force, Ray 2.60 may end this process when the task ends meanwhile


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ImportError("the engine ray needs Ray: pip install 'escgnn[ray]'") from None
    return ray


def _answer(ray: Any, promise: Any, number: int, item: Any, lost: Lost[Any, Any] | None) -> Any:
    """Results, or an error; Ray itself has tried a task again whose worker, or whole node, died."""
    try:
        return pickle.loads(ray.get(promise))
    except ray.exceptions.RayError as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        reason = f"{ATTEMPTS} workers died of it: {words[0]:.200}"
        if lost is not None:
            return [*lost(item, reason)]
        return WorkerLostError(f"item {number}: {reason}")


def _work(key: str, kept: list[Any], item: bytes) -> bytes:
    """What a task does; the function is fetched once by every worker."""
    if key not in _functions:
        _functions.clear()
        _functions[key] = pickle.loads(_ray().get(kept[0]))
    return answer_to(_functions[key], item)
