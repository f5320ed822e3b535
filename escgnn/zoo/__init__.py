"""The networks by name: each with its transforms, so that training names no network.

To add one, write ``models/<name>.py`` and add a row to `ZOO` in ``zoo/rows.py``; `tests/test_zoo.py` then holds it to the
contract. A network of your own needs no row: hand its `Recipe` to `escgnn.training`.

>>> ZOO["esc-gnn"].network.__name__, ZOO["esc-gnn"].each.__name__
('ESCGNN', 'StructuralEncoding')
"""

import difflib
from collections.abc import Mapping
from typing import Any

from escgnn.zoo.recipe import Recipe, arguments
from escgnn.zoo.rows import ZOO

DEFAULT = "esc-gnn"


def recipe_of(name: str) -> Recipe:
    """The row of that name.

    >>> recipe_of("gpps")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: model: 'gpps'; did you mean 'gps'? There are esc-gnn, gin, ...

    Raises:
        ValueError: There is none.
    """
    if isinstance(name, str) and name in ZOO:
        return ZOO[name]
    near = difflib.get_close_matches(str(name), ZOO, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"model: {name!r}; {hint}There are {', '.join(ZOO)}")


def without_transform(name: str, settings: Mapping[str, Any]) -> str:
    """The row with the same network and no transform of batches, where there is one with these settings.

    >>> without_transform("esc-gnn", {"backbone": "pna", "hidden": 8})
    'pna'

    Raises:
        ValueError: There is none.
    """
    recipe = recipe_of(name)
    if recipe.each is None:
        return name
    chosen = {key: one.default for key, one in arguments(recipe.network).items()} | {**settings}
    for other, row in ZOO.items():
        if row.network is recipe.network and row.each is None and row.fixed.items() <= chosen.items():
            return other
    raise ValueError(
        f"model: no row is {name} with {dict(settings)} and without its transform; there are {', '.join(ZOO)}"
    )


__all__ = ["DEFAULT", "ZOO", "Recipe", "arguments", "recipe_of", "without_transform"]
