"""The structural embedding as ESC-GNN's authors have it in their networks on molecules."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from escgnn.layers import NORMS, SCALES, StructuralEmbedding, check_choice, embeddings_of


class NormedStructure(nn.Module):
    """A linear map of the counts, norm and activation; a linear map, norm and activation: (E, channels).

    Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024.

    Args:
        num_bins: Bins of the encoding.
        channels: Size of the result.
        activation: ``nn.ELU`` in the authors' transformer, ``nn.ReLU`` in their GIN.
        norm: ``"batch"``, ``"layer"`` or ``"none"``.
        dropout: Share of values dropped before each norm.
        scale: ``"fitted"`` or ``"none"``, as for `StructuralEmbedding`.
    """

    reads = frozenset({"esc_len", "esc_bin", "esc_count"})

    def __init__(
        self, num_bins: int, channels: int, activation: type[nn.Module], norm: str, dropout: float, scale: str
    ) -> None:
        super().__init__()
        self.counts = StructuralEmbedding(num_bins, channels, scale=scale)
        self.mlp = nn.Sequential(
            nn.Dropout(dropout),
            NORMS[norm](channels),
            activation(),
            nn.Linear(channels, channels),
            nn.Dropout(dropout),
            NORMS[norm](channels),
            activation(),
        )

    def forward(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Vectors of all edges."""
        (out,) = structures_of([self], tensors)
        return out


def structures_of(structures: Sequence[NormedStructure], tensors: Mapping[str, Tensor]) -> list[Tensor]:
    """Vectors of all edges by each of these, (E, channels); the counts are looked at once."""
    counts = embeddings_of([structure.counts for structure in structures], tensors)
    return [structure.mlp(own) for structure, own in zip(structures, counts, strict=True)]


def check_structure(settings: Mapping[str, Any]) -> None:
    """Refuse values of ``num_bins`` and ``structure_scale`` that mean nothing."""
    check_choice("structure_scale", settings["structure_scale"], SCALES)
    bins = settings["num_bins"]
    if bins is not None and bins < 1:
        raise ValueError(f"num_bins: {bins}; expected an integer from 1, or None for no encoding")


def fit_structures(structures: Sequence[NormedStructure], batches: Iterable[Any]) -> None:
    """Measure the counts of all batches once for all of these, which must have the same scale."""
    first = structures[0].counts
    first.fit(batches)
    for other in structures[1:]:
        other.counts.mean.copy_(first.mean)
        other.counts.deviation.copy_(first.deviation)
