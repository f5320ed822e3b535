"""What every engine does."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Maps a function over items, somewhere."""

    def __init__(self, workers: int = 0) -> None:
        """So many workers; none of its own if 0."""

    def map(self, function: Callable[[Item], Iterable[Result]], items: Iterable[Item]) -> Iterator[Result]:
        """What the function gives for every item, one result after another, in the order of the items.

        Items are taken as they are needed, not all at once, so that memory stays bounded. The first item that fails, in their
        order, raises its error here. When the iterator is closed, finished or not, nothing goes on in the background.

        Args:
            function: Gives some results for an item. Where work is done elsewhere it is pickled, as are items and results.
            items: What to work on.
        """
        ...
