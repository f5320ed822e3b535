"""What every engine does."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Lost = Callable[[Item, str], Iterable[Result]]  # what to give for an item that ends its workers, and why it did
ATTEMPTS = 3  # workers that an item may end before it is lost


class WorkerLostError(RuntimeError):
    """Workers died, again and again, of one item."""


class Engine(Protocol):
    """Maps a function over items, somewhere."""

    def __init__(self, workers: int = 0) -> None:
        """So many workers; none of its own if 0."""

    def map(
        self,
        function: Callable[[Item], Iterable[Result]],
        items: Iterable[Item],
        *,
        lost: Lost[Item, Result] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """What the function gives for every item, one result after another.

        Items are taken as they are needed, not all at once, so that memory stays bounded. The first item that fails raises its
        error here. When the iterator is closed, finished or not, nothing goes on in the background. A worker that dies is
        replaced, and what it worked on is done again.

        Args:
            function: Gives some results for an item. Where work is done elsewhere it is pickled, as are items and results.
            items: What to work on.
            lost: Gives the results of an item of which `ATTEMPTS` workers died; without it, that raises `WorkerLostError`.
            in_order: Whether results come in the order of the items, else as they are there.
        """
        ...
