"""Settings by name: which ones a recipe has, as the signatures of its classes say, and how they used to be spelt."""

import difflib
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import Parameter
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import PydanticSchemaGenerationError, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

from escgnn import zoo
from escgnn.zoo import Recipe

BARE = ""  # for a while the model of those who switch the encoding off
OLD_NAMES = {"encoding": "transform", "optimiser": "optimizer"}
MOVED = ("positional",)  # old settings of the model, now of the transforms

Fields = Mapping[str, tuple[Any, Any]]  # type and default by name


def completed(settings: Mapping[str, Any], recipe: Recipe, others: Iterable[str]) -> dict[str, Any]:
    """The settings with everything in ``network`` and ``transform`` that was not set, and all of it checked.

    Args:
        settings: In today's spelling.
        recipe: Whose settings they are.
        others: Names of the settings that are not the recipe's.

    Raises:
        ValueError: A name does not exist, with the nearest that does; or a value cannot be.
    """
    for name in ("network", "transform"):
        if not isinstance(settings.get(name, {}), Mapping):
            raise ValueError(f"{name}: {settings[name]!r}; expected settings by name")
    kinds = [kind for kind in (recipe.each, recipe.once) if kind]
    transform_fields = {name: one for kind in kinds for name, one in _fields(kind).items() if name not in recipe.fixed}
    _refuse_unknown(
        {name: value for name, value in settings.items() if name != "network"},
        [*others, *_listed("transform", transform_fields)],
        [*_listed("network", _fields(recipe.network))],
    )
    transform = _checked("transform", transform_fields, section(settings, "transform"))
    try:
        each, once = recipe.transforms(transform)
        options = recipe.options(each, once)
    except (TypeError, ValueError) as error:
        raise ValueError(f"transform: {error}") from error
    network_fields = {name: one for name, one in _fields(recipe.network).items() if name in options}
    _refuse_unknown(settings, [*others, *_listed("network", network_fields), *_listed("transform", transform_fields)])
    network = _checked("network", network_fields, section(settings, "network"))
    try:
        recipe.network.check({**network, **recipe.decided(each, once)})
    except ValueError as error:
        raise ValueError(f"network.{error}") from error
    return {**settings, "network": network, "transform": transform}


def section(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The settings of a section; none if it is not there, or is no section."""
    found = settings.get(name)
    return found if isinstance(found, Mapping) else {}


def suited(settings: Mapping[str, Any], recipe: Recipe) -> dict[str, Any]:
    """Settings that were chosen for another model, without those that this one does not have."""
    kinds = {"network": (recipe.network,), "transform": (recipe.each, recipe.once)}
    kept = dict(settings)
    for name, classes in kinds.items():
        known = {field for kind in classes if kind for field in _fields(kind)}.difference(recipe.fixed)
        if name in settings:
            kept[name] = {field: value for field, value in section(settings, name).items() if field in known}
    return kept


def renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of any time in today's spelling.

    Once there was one model: ``model`` held its settings, now ``network``; ``encoding`` those of its transform, now
    ``transform``, or null for the same network without it, now a model of its own, which `resolved` finds;
    ``model.positional`` is now a setting of the transforms; ``optimiser`` was not PyTorch's word.

    >>> renamed({"encoding": None, "model": {"backbone": "pna"}, "optimiser": "adamw"})
    {'optimizer': 'adamw', 'model': '', 'transform': {}, 'network': {'backbone': 'pna'}}
    """
    new = dict(settings)
    if "optimiser" in new:
        new["optimizer"] = new.pop("optimiser")
    old_network = new.pop("model") if isinstance(new.get("model"), Mapping) else {}
    network = {**section(new, "network"), **old_network}
    positional = {name: network.pop(name) for name in MOVED if name in old_network}
    if "encoding" in new:
        encoding = new.pop("encoding")
        positional = {name: value for name, value in section(new, "transform").items() if name in MOVED} | positional
        if encoding is None:
            new["model"] = BARE
            new["transform"] = {}
        else:
            new["transform"] = encoding
    if positional:
        new["transform"] = {**section(new, "transform"), **positional}
    if network:
        new["network"] = network
    return new


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in today's spelling, with the model in place of an encoding that was switched off.

    >>> resolved({"model": "", "network": {"backbone": "pna", "hidden": 8}})
    {'model': 'pna', 'network': {'hidden': 8}, 'transform': {}}
    """
    found = renamed(settings)
    if found.get("model") == BARE:
        network, transform = section(found, "network"), section(found, "transform")
        found["model"] = zoo.without_transform(zoo.DEFAULT, network)
        fixed = zoo.recipe_of(found["model"]).fixed
        off = zoo.arguments(zoo.recipe_of(zoo.DEFAULT).each or Recipe)
        found["network"] = {name: value for name, value in network.items() if name not in fixed}
        found["transform"] = {name: value for name, value in transform.items() if name not in off}
    return found


def described(error: ValidationError, *, within: str = "") -> str:
    """What is wrong, in one line: where, what, and what was given."""
    first = error.errors()[0]
    places = [str(place) for place in first["loc"] if "[" not in str(place) and place not in ("int", "str", "float")]
    where = ".".join([*([within] if within else []), *places])
    what = first["msg"].removeprefix("Value error, ")
    got = f" (got {first['input']!r})" if where and "Value error" not in first["msg"] else ""
    return f"{where}: {what}{got}" if where else what


def _fields(kind: Any) -> Fields:
    """The arguments of a class: types as a file can hold them, and defaults, ``...`` where there is none."""
    hints = get_type_hints(kind.__init__, include_extras=True)
    found = {}
    for name, one in zoo.arguments(kind).items():
        default = ... if one.default is Parameter.empty else one.default
        found[name] = (_as_in_files(hints.get(name, Any)), default)
    return found


def _as_in_files(hint: Any) -> Any:
    """A type with tuples in place of sequences, of which lists are made in a file."""
    inner = tuple(_as_in_files(one) for one in get_args(hint))
    if get_origin(hint) is Sequence:
        return types.GenericAlias(tuple, (*inner, ...))
    if get_origin(hint) in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007, of as many as there are
    return hint


def _is_list(hint: Any) -> bool:
    return get_origin(hint) is tuple


def _by_commas(hint: Any, value: Any) -> Any:
    """A text in place of a list is one of its entries, divided by commas."""
    may_be_list = _is_list(hint) or any(_is_list(one) for one in get_args(hint))
    if isinstance(value, str) and may_be_list and ("," in value or _is_list(hint)):
        return tuple(item.strip() for item in value.split(","))
    return value


def _checked(section: str, fields: Fields, given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a section."""
    values = {}
    for name, (hint, default) in fields.items():
        if name in given:
            try:
                values[name] = _adapter(hint).validate_python(_by_commas(hint, given[name]))
            except ValidationError as error:
                raise ValueError(described(error, within=f"{section}.{name}")) from None
        elif default is ...:
            raise ValueError(f"{section}.{name}: not set, and it has no default")
        else:
            values[name] = default
    return values


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    """What checks a value, and makes a number of its digits; of types that files do not know it takes anything."""
    try:
        return TypeAdapter(hint)
    except PydanticSchemaGenerationError:
        return TypeAdapter(Any)


def _listed(section: str, fields: Fields) -> Iterator[str]:
    """Names of all settings of a section and of those within it."""
    for name, (hint, _) in fields.items():
        yield f"{section}.{name}"
        for kind in (hint, *get_args(hint)):
            if is_typeddict(kind):
                yield from (f"{section}.{name}.{inner}" for inner in kind.__annotations__)


def _refuse_unknown(settings: Mapping[str, Any], names: Sequence[str], also_near: Sequence[str] = ()) -> None:
    free = {name for name in names if any(other.startswith(f"{name}.") for other in names)} | {"network", "transform"}
    for name in _names(settings):
        parent = name.rpartition(".")[0]
        if name not in names and (not parent or parent in free):
            near = [other for other in names if other.rpartition(".")[2] == name.rpartition(".")[2]]
            near = near or difflib.get_close_matches(name, [*names, *also_near, *OLD_NAMES], 1, cutoff=0.55)
            hint = f"did you mean {OLD_NAMES.get(near[0], near[0])!r}?" if near else f"settings are {', '.join(names)}"
            raise ValueError(f"unknown setting {name!r}; {hint}")


def _names(settings: Mapping[Any, Any]) -> Iterator[str]:
    """Names of all settings, those of sections too."""
    for name, value in settings.items():
        yield str(name)
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in _names(value))
