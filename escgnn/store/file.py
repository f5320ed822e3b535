"""A store's file: safetensors, so that nothing that is loaded can run code, and columns are mapped, not read."""

from collections.abc import Mapping, Sequence
from os import PathLike

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from escgnn.disk import atomic
from escgnn.store.checks import LEVELS

FORMAT = "graph store 1"
ARRAYS = ("num_nodes", "num_edges", "edge_index")

Levels = Mapping[str, Mapping[str, Tensor]]


def write(path: str | PathLike[str], arrays: Sequence[Tensor], levels: Levels, metadata: Mapping[str, str]) -> None:
    """Write the file, whole or not at all."""
    tensors = dict(zip(ARRAYS, arrays, strict=True))
    for level, columns in levels.items():
        tensors |= {f"{level}.{name}": values for name, values in columns.items()}
    tensors = {key: values.clone() for key, values in tensors.items()}  # safetensors refuses memory named twice
    with atomic(path) as draft:
        save_file(tensors, draft, {**metadata, "escgnn": FORMAT})


def read(path: str | PathLike[str]) -> tuple[list[Tensor], Levels, dict[str, str]]:
    """The three arrays, the columns of each level, and the texts beside them.

    Raises:
        ValueError: The file is damaged, or holds something else.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no mapping
    except SafetensorError as error:
        raise ValueError(f"{path}: damaged, or not a safetensors file ({error})") from error
    if metadata.pop("escgnn", None) != FORMAT:
        raise ValueError(f"{path}: a safetensors file, but not a {FORMAT!r} of escgnn")
    levels: dict[str, dict[str, Tensor]] = {level: {} for level in LEVELS}
    try:
        arrays = [tensors.pop(name) for name in ARRAYS]
        for key, values in tensors.items():
            level, _, name = key.partition(".")
            levels[level][name] = values
    except KeyError as error:
        raise ValueError(f"{path}: not a consistent store of graphs; {error} is missing or unknown") from error
    return arrays, levels, metadata
