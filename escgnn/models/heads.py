"""Perceptrons and last steps as the authors of other networks have them, to the parameter."""

from torch import nn

from escgnn.layers import NORMS


def wide_perceptron(channels: int, norm: str, *, last: bool = False) -> nn.Sequential:
    """OGB's perceptron, twice as wide inside; biases stand before norms, so that it is theirs to the parameter.

    Args:
        channels: Size of what goes in and comes out.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        last: Whether a norm and a rectifier follow.
    """
    first = nn.Linear(channels, 2 * channels)
    second = nn.Linear(2 * channels, channels)
    after = [NORMS[norm](channels), nn.ReLU()] if last else []
    return nn.Sequential(first, NORMS[norm](2 * channels), nn.ReLU(), second, *after)


def one_layer(inputs: int, outputs: int) -> nn.Sequential:
    """The head of OGB's networks."""
    return nn.Sequential(nn.Linear(inputs, outputs))


def halving(inputs: int, outputs: int) -> nn.Sequential:
    """The head of benchmarking-gnns and GraphGPS: inputs, a half, a quarter, outputs, with rectifiers between."""
    half = max(1, inputs // 2)
    quarter = max(1, inputs // 4)
    return nn.Sequential(
        nn.Linear(inputs, half), nn.ReLU(), nn.Linear(half, quarter), nn.ReLU(), nn.Linear(quarter, outputs)
    )
