"""What the arguments of a network may be."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from torch import Tensor

from escgnn.layers import FEATURE_KINDS, NORMS, POOLS, POSITIONAL, SCALES, check_choice
from escgnn.models.backbones import BACKBONES

JUMPING: dict[str, Callable[[list[Tensor]], Tensor]] = {
    "last": lambda rounds: rounds[-1],
    "concat": lambda rounds: torch.cat(rounds, 1),
    "sum": lambda rounds: sum(rounds[1:], rounds[0]),
}
CHOICES: dict[str, Collection[str]] = {
    "backbone": BACKBONES,
    "level": ("graph", "node", "edge"),
    "jumping": JUMPING,
    "norm": NORMS,
    "pool": POOLS,
    "structure_scale": SCALES,
}
DESCRIPTIONS: dict[str, tuple[str, Collection[str]]] = {  # what there is beside the kind, and the kinds
    "node_features": ("sizes", FEATURE_KINDS),
    "edge_features": ("sizes", FEATURE_KINDS),
    "positional": ("size", POSITIONAL),
}
# Of settings that a saved network may lack because it is older than they are: what it does.
EARLIER: dict[str, Any] = {"readout_norm": False}
STRUCTURE_ONLY = {  # what means nothing without an encoding, with the defaults
    "node_tuples": False,
    "structure_every_layer": True,
    "structure_scale": "fitted",
    "structure_mlp": False,
    "count_skip": False,
}


def check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse values that mean nothing, or that contradict each other."""
    for name, choices in CHOICES.items():
        check_choice(name, settings[name], choices)
    for name in ("out_channels", "hidden", "layers", "heads"):
        if not isinstance(settings[name], int) or settings[name] < 1:
            raise ValueError(f"{name}: {settings[name]!r}; expected an integer from 1")
    if settings["num_bins"] is not None and settings["num_bins"] < 1:
        raise ValueError(f"num_bins: {settings['num_bins']}; expected an integer from 1, or None for no encoding")
    if not 0 <= settings["dropout"] < 1:
        raise ValueError(f"dropout: {settings['dropout']}; expected a share from 0 to below 1")
    for name, (size, kinds) in DESCRIPTIONS.items():
        if settings[name] is not None:
            if {*settings[name]} != {"kind", size}:
                raise ValueError(f"{name}: {settings[name]}; expected the keys kind and {size}, or None")
            check_choice(f"{name}, kind", settings[name]["kind"], kinds)
    for name, default in STRUCTURE_ONLY.items():
        if settings["num_bins"] is None and settings[name] != default:
            raise ValueError(f"{name}: {settings[name]}, but num_bins is None, so there is no encoding")
    if settings["count_skip"] and settings["level"] == "edge":
        raise ValueError("count_skip: sums are over the edges of nodes or graphs, but the level is edge")
    if settings["degrees"] is not None and settings["backbone"] != "pna":
        raise ValueError(f"degrees: given, but only pna reads them, not {settings['backbone']}")
    if settings["backbone"] == "gps" and settings["hidden"] % settings["heads"]:
        raise ValueError(f"heads: {settings['heads']} does not divide hidden, {settings['hidden']}")
    if settings["backbone"] == "gps" and not settings["residual"]:
        raise ValueError("residual: False, but gps is always residual")
