"""Blocks shared by the models: what turns features and structure into vectors."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from escgnn.kernels.layers import fill_matrix, number_bins, number_rows

# Up to here a dense product is faster than EmbeddingBag, whose gradient takes 8 times its forward pass.
MATMUL_BINS = 256
MOST_DISTINCT = 0.8  # of rows; where fewer are equal, finding them takes longer than it saves
SCALES = ("fitted", "none")
FEATURE_KINDS = ("categorical", "dense")
POSITIONAL = {"laplacian": "laplacian_eigenvector_pe", "random_walk": "random_walk_pe"}  # where PyG puts them
LEAST_DEVIATION = 0.1  # or a bin that is nearly always empty would be blown up


def check_choice(argument: str, value: object, choices: Collection[str]) -> None:
    """Refuse a value that is not one of these names."""
    if value not in choices:
        raise ValueError(f"{argument}: {value!r}; expected one of {', '.join(choices)}")


class StructuralEmbedding(nn.Module):
    r"""Embeds sparse histograms as :math:`\sum_b \frac{c_b - \mu_b}{\sigma_b} \mathbf{W}_b`, linear in the counts.

    The learnable matrix of Yan et al., An Efficient Subgraph GNN with Provable Substructure Counting Power, KDD 2024.
    Counts differ by orders of magnitude between bins, so `fit` measures the mean :math:`\mu_b` and the deviation
    :math:`\sigma_b` of every bin; both are saved with the weights. Until then counts are taken as they are.

    Args:
        num_bins: Bins of the encoding.
        channels: Size of the result.
        scale: ``"fitted"`` to use what `fit` measures, ``"none"`` for plain counts.
        mlp: Whether two further layers follow.
        dedup: Whether rows that repeat within a batch are embedded once, where they are many; the result is the same to rounding.
            Not on other devices than the CPU, nor in compiled or exported networks.
        prefix: Which rows to read: ``"esc"`` for edges, ``"esc_node"`` for nodes.

    Shapes:
        ``{prefix}_len`` :math:`(R)`, ``{prefix}_bin`` and ``{prefix}_count`` :math:`(nnz)`; the result is
        :math:`(R, channels)`.

    >>> embedding = StructuralEmbedding(num_bins=3, channels=2)
    >>> rows = {"esc_len": [1, 0, 2], "esc_bin": [2, 0, 1], "esc_count": [5, 1, 1]}
    >>> embedding({name: torch.tensor(values) for name, values in rows.items()}).shape
    torch.Size([3, 2])
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        num_bins: int,
        channels: int,
        *,
        scale: str = "fitted",
        mlp: bool = False,
        dedup: bool = True,
        prefix: str = "esc",
    ) -> None:
        super().__init__()
        check_choice("scale", scale, SCALES)
        self.num_bins = num_bins
        self.scale = scale
        self.dedup = dedup
        self.prefix = prefix
        self.weight = nn.Parameter(torch.randn(num_bins, channels) / num_bins**0.5)
        self.register_buffer("mean", torch.zeros(num_bins))
        self.register_buffer("deviation", torch.ones(num_bins))
        self.mlp = nn.Sequential(nn.ReLU(), perceptron(channels, channels, channels)) if mlp else nn.Identity()

    def fit(self, batches: Iterable[Any]) -> None:
        """Measure every bin over all rows, zeros included; one that never varies has deviation 1."""
        fit_embeddings([self], batches)

    def forward(self, data: Any) -> Tensor:
        """The embedding of every row of a batch, or of a mapping that holds the three tensors."""
        return embeddings_of([self], data)[0]

    def rows(self, data: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Lengths, bins and counts that a batch holds."""
        length, bins, counts = (data[f"{self.prefix}_{part}"] for part in ("len", "bin", "count"))
        if not torch.compiler.is_compiling() and bins.numel() and int(bins.max()) >= self.num_bins:
            raise ValueError(
                f"{self.prefix}_bin: bin {bins.max()} of an encoding that should have {self.num_bins} bins"
            )
        if not torch.compiler.is_compiling() and not int(length.sum()) == bins.numel() == counts.numel():
            raise ValueError(
                f"{self.prefix}_len: it adds up to {int(length.sum())}, but {self.prefix}_bin has {bins.numel()} numbers: "
                "edges were taken out or put in after they were encoded; let StructuralEncoding be the last transform"
            )
        return length, bins, counts


def embeddings_of(embeddings: Sequence[StructuralEmbedding], data: Any) -> list[Tensor]:
    """The embeddings of every row of a batch by several that read the same rows, which are looked at once."""
    first = embeddings[0]
    length, bins, counts = first.rows(data)
    chosen, copy = None, None
    if first.dedup and _is_plain(counts):
        chosen, copy = distinct_rows(length, bins, counts)
    with torch.autocast(counts.device.type, enabled=False):  # half precision has no 257
        weights = [own.weight / own.deviation.unsqueeze(1) for own in embeddings]  # (bins, channels) each
        constants = [-own.mean @ weight for own, weight in zip(embeddings, weights, strict=True)]  # (channels,) each
        rows = _product(torch.cat(weights, 1), torch.cat(constants), (length, bins, counts), chosen)
    parts = torch.split(rows, [weight.size(1) for weight in weights], 1)  # (chosen rows, channels) each
    found = [own.mlp(part) for own, part in zip(embeddings, parts, strict=True)]
    return found if copy is None else [own.index_select(0, copy) for own in found]  # (R, channels) each


def _product(weight: Tensor, constant: Tensor, rows: tuple[Tensor, Tensor, Tensor], chosen: Tensor | None) -> Tensor:
    """Counts times weights, and the constant, of the rows that are chosen, ascending; of all if None."""
    length, bins, counts = rows
    num_bins = weight.size(0)
    found = count_matrix(length, bins, counts, chosen, num_bins, weight.dtype) if _is_plain(counts) else None
    if found is not None:
        matrix, used = found  # (chosen rows, used bins), (used bins,)
        return torch.addmm(constant, matrix, weight.index_select(0, used))  # (chosen rows, channels)
    if chosen is not None:
        is_chosen = torch.zeros_like(length, dtype=torch.bool).index_fill_(0, chosen, True)  # (R,)
        entries = is_chosen.repeat_interleave(length)  # (nnz,)
        length, bins, counts = length[chosen], bins[entries], counts[entries]
    values = counts.to(weight.dtype)  # (nnz,)
    if num_bins <= MATMUL_BINS:
        row = torch.repeat_interleave(length.long(), output_size=bins.numel())  # (nnz,)
        dense = values.new_zeros(length.numel() * num_bins).scatter_(0, row * num_bins + bins, values)
        return torch.addmm(constant, dense.view(-1, num_bins), weight)  # (R, channels)
    start = (length.cumsum(0) - length).to(bins.dtype)  # (R,)
    return functional.embedding_bag(bins, weight, start, mode="sum", per_sample_weights=values) + constant


def distinct_rows(length: Tensor, bins: Tensor, counts: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The numbers of rows that are equal to none before, and for each row which of these it is equal to.

    Neither if few are equal: then it would not pay.
    """
    table = np.full(1 << (2 * length.numel()).bit_length(), -1, np.int32)
    copy = torch.empty(length.numel(), dtype=torch.int64)
    first = torch.empty_like(copy)
    distinct = number_rows(_starts(length), bins.numpy(), counts.numpy(), table, first.numpy(), copy.numpy())
    return (first[:distinct], copy) if distinct <= MOST_DISTINCT * length.numel() else (None, None)


def count_matrix(
    length: Tensor, bins: Tensor, counts: Tensor, chosen: Tensor | None, num_bins: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor] | None:
    """Counts of the chosen rows, (chosen rows, used bins), and the bins that occur in them; None if these are many."""
    start = _starts(length)
    rows = np.arange(length.numel()) if chosen is None else chosen.numpy()
    place = np.empty(num_bins, np.int64)
    used = number_bins(start, bins.numpy(), rows, place)
    if used > MATMUL_BINS:
        return None
    matrix = torch.zeros(rows.size, used, dtype=dtype)
    fill_matrix(start, bins.numpy(), counts.numpy(), rows, place, matrix.numpy())
    return matrix, torch.from_numpy(np.flatnonzero(place >= 0))


def _is_plain(counts: Tensor) -> bool:
    """Whether kernels can read these tensors."""
    return counts.device.type == "cpu" and counts.dtype == torch.int32 and not torch.compiler.is_compiling()


def _starts(length: Tensor) -> NDArray[np.int64]:
    """Where rows begin, (R + 1,)."""
    starts: NDArray[np.int64] = functional.pad(length.cumsum(0), (1, 0)).numpy()
    return starts


def fit_embeddings(embeddings: Sequence[StructuralEmbedding], batches: Iterable[Any]) -> None:
    """Fit several embeddings at once, going through the batches only once."""
    fitted = [embedding for embedding in embeddings if embedding.scale == "fitted"]
    rows = [0 for _ in fitted]
    sums = [torch.zeros(2, embedding.num_bins, dtype=torch.float64) for embedding in fitted]
    for batch in batches:
        for i, embedding in enumerate(fitted):
            length, bins, counts = (tensor.cpu() for tensor in embedding.rows(batch))
            values = counts.double()
            size = embedding.num_bins
            rows[i] += length.numel()
            sums[i] += torch.stack([torch.bincount(bins, values**power, minlength=size) for power in (1, 2)])
    for embedding, number, (total, squares) in zip(fitted, rows, sums, strict=True):
        mean = total / max(number, 1)  # (bins,)
        square = squares / max(number, 1)
        variance = square - mean**2
        varies = variance > 1e-9 * square
        embedding.mean.copy_(mean)
        embedding.deviation.copy_(torch.where(varies, variance.clamp_min(LEAST_DEVIATION**2).sqrt(), 1))


class FeatureEncoder(nn.Module):
    """Turns the features of nodes or edges into vectors.

    Args:
        kind: ``"categorical"``: the sum of an embedding per column, as OGB's atom and bond encoders; ``"dense"``: a
            linear map; None for graphs without features: a learnt constant.
        sizes: Categories of each categorical column; the number of dense columns.
        channels: Size of the result.

    >>> bonds = FeatureEncoder("categorical", [5, 6, 2], channels=16)
    >>> bonds(torch.tensor([[0, 5, 1], [4, 0, 0]]), rows=2).shape
    torch.Size([2, 16])
    """

    sizes: Tensor
    offset: Tensor

    def __init__(self, kind: str | None, sizes: Sequence[int], channels: int) -> None:
        super().__init__()
        if kind is not None:
            check_choice("kind", kind, FEATURE_KINDS)
            if not sizes or min(sizes) < 1:
                raise ValueError(f"sizes: {sizes}; expected one number or more, from 1")
        self.kind = kind
        inputs = sum(sizes) if kind else 1
        self.weight = nn.Parameter(torch.randn(inputs, channels) / (inputs if kind == "dense" else 1) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(channels)) if kind == "dense" else None
        self.register_buffer("sizes", torch.tensor(sizes, dtype=torch.int64), persistent=False)
        self.register_buffer("offset", self.sizes.cumsum(0) - self.sizes, persistent=False)

    def forward(self, x: Tensor | None, rows: int) -> Tensor:
        """Vectors of all rows; ``x`` has a row for each, or is None where there are no features."""
        if x is None:
            return self.weight.expand(rows, -1)  # (rows, channels)
        x = x.unsqueeze(1) if x.dim() == 1 else x  # (rows, columns)
        if self.bias is not None:
            return torch.addmm(self.bias, x.to(self.weight.dtype), self.weight)  # (rows, channels)
        if not torch.compiler.is_compiling() and ((x < 0) | (x >= self.sizes)).any():
            raise ValueError(f"features: a category is negative or too large for columns of {self.sizes.tolist()}")
        return functional.embedding_bag(x.long() + self.offset, self.weight, mode="sum")  # (rows, channels)


class PositionalEncoder(nn.Module):
    """A linear map of a positional encoding, which PyG's ``AddLaplacianEigenvectorPE`` or ``AddRandomWalkPE`` adds.

    An eigenvector's sign means nothing, so in training it is drawn at random, apart for every graph.
    """

    def __init__(self, kind: str, size: int, channels: int) -> None:
        super().__init__()
        check_choice("kind", kind, POSITIONAL)
        self.kind = kind
        self.reads = POSITIONAL[kind]
        self.linear = nn.Linear(size, channels)

    def forward(self, encoding: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Vectors of all nodes."""
        if self.kind == "laplacian" and self.training:
            signs = torch.randint(0, 2, (num_graphs, encoding.size(1)), device=encoding.device) * 2 - 1  # (G, size)
            encoding = encoding * signs[batch]  # (N, size)
        out: Tensor = self.linear(encoding)  # (N, channels)
        return out


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that uses its running statistics where a batch has a single row, and so no variance."""

    def forward(self, x: Tensor) -> Tensor:
        """The normalised rows."""
        if self.training and x.size(0) < 2:
            return functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(x)


NORMS: dict[str, Callable[[int], nn.Module]] = {"batch": BatchNorm, "layer": nn.LayerNorm, "none": nn.Identity}


def perceptron(inputs: int, hidden: int, outputs: int, norm: str = "none", *, bias: bool = True) -> nn.Sequential:
    """Two layers with a rectifier between; batch normalisation would take a bias before it away, so there is none."""
    first = nn.Linear(inputs, hidden, bias=norm != "batch")
    return nn.Sequential(first, NORMS[norm](hidden), nn.ReLU(), nn.Linear(hidden, outputs, bias=bias))


class VirtualNode(nn.Module):
    """A node that every node of a graph sends to and hears from between two layers.

    Gilmer et al., Neural Message Passing for Quantum Chemistry, ICML 2017.
    """

    def __init__(self, channels: int, norm: str, dropout: float) -> None:
        super().__init__()
        self.mlp = nn.Sequential(perceptron(channels, channels, channels, norm), nn.Dropout(dropout))

    def forward(self, virtual: Tensor, h: Tensor, batch: Tensor) -> Tensor:
        """New vectors of the virtual nodes, one for each graph."""
        heard = virtual.index_add(0, batch, h.to(virtual.dtype))  # (G, channels)
        out: Tensor = virtual + self.mlp(heard)  # (G, channels)
        return out
