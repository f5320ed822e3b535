"""What a prediction owes to what a network reads, by integrated gradients; and to the parts of the encoding.

Sundararajan et al., Axiomatic Attribution for Deep Networks, ICML 2017. Networks read whole numbers, so the path is that of the
vectors they become first: from nothing, the zero vector, to what they are, all at once. For the structural encoding zero is
the mean training row. Contributions add up to the output minus that of the baseline.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from escgnn.explain.outputs import members_of, said
from escgnn.layers import FeatureEncoder, StructuralEmbedding
from escgnn.store import GraphStore
from escgnn.training import Ensemble, Run

STEPS = 64
# Modules by what a network calls them, what their vectors are called here, and whose they are.
OTHERS = {
    "position": ("positions", "node"),
    "walks": ("positions", "node"),
    "spectrum": ("positions", "node"),
    "described": ("descriptors", "graph"),
    "environments": ("environments", "node"),
    "known_start": ("environments", "node"),
}


@dataclass(frozen=True, eq=False)
class Integrated:
    """Integrated gradients of one graph.

    Attributes:
        output: What is explained, ``(outputs,)``.
        baseline: The same where nothing is read, ``(outputs,)``.
        nodes: By source, what each node contributes, ``(nodes, outputs)``: ``"nodes"``, ``"edges"``, half of each at either end,
            ``"positions"``, and parts of the encoding such as ``"encoding/degree"``, as edges.
        whole: The same of what the graph has as a whole, ``(outputs,)``: ``"descriptors"``.
    """

    output: Tensor
    baseline: Tensor
    nodes: Mapping[str, Tensor]
    whole: Mapping[str, Tensor]

    @property
    def total(self) -> Tensor:
        """What each node contributes, ``(nodes, outputs)``."""
        return torch.stack([*self.nodes.values()]).sum(0)

    @property
    def by_source(self) -> dict[str, Tensor]:
        """What each source contributes, ``(outputs,)``."""
        return {**{name: values.sum(0) for name, values in self.nodes.items()}, **self.whole}

    @property
    def gap(self) -> Tensor:
        """By how much contributions do not add up, ``(outputs,)``: 0 with infinitely many steps.

        It stays for networks that choose among subgraphs, whose choices jump on the way.
        """
        return torch.stack([*self.by_source.values()]).sum(0) - (self.output - self.baseline)


@dataclass
class Followed:
    """Vectors that a network read, on their way from zero: one call of one of its modules.

    Attributes:
        source: What they are of.
        level: Whose they are: node, edge or graph.
        vectors: As they are, ``(copies * rows, channels)``.
        path: The same, some way towards zero in each copy; gradients are taken of these.
        embedding: Where they are of the structural encoding, what made them.
    """

    source: str
    level: str
    vectors: Tensor
    path: Tensor
    embedding: StructuralEmbedding | None = None


@dataclass
class Follower:
    """Puts the path in place of vectors while a network runs.

    Attributes:
        batch: Copies of one graph.
        share: How far along the path each copy is, ``(copies,)``.
        followed: What was met.
    """

    batch: Any
    share: Tensor
    followed: list[Followed] = field(default_factory=list)

    def feature(self, _: nn.Module, given: tuple[Any, ...], out: Tensor) -> Tensor:
        """Follow features, if they are those of nodes or edges as the batch has them."""
        x = given[0]
        if x is None or x is self.batch.get("x"):
            return self.other("nodes", "node", None, given, out)
        if x is self.batch.get("edge_attr"):
            return self.other("edges", "edge", None, given, out)
        return out

    def structure(self, embedding: StructuralEmbedding, _: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        """Follow rows of the structural encoding."""
        level = "node" if embedding.prefix == "esc_node" else "edge"
        return (self._path("structure", level, given[0], embedding),)

    def other(self, source: str, level: str, _: Any, __: Any, out: Tensor) -> Tensor:
        """Follow what else there is."""
        return self._path(source, level, out, None)

    def _path(self, source: str, level: str, vectors: Tensor, embedding: StructuralEmbedding | None) -> Tensor:
        share = self.share[copy_of(self.batch, level)]  # (rows,)
        if len(share) != len(vectors):
            return vectors
        fixed = vectors.detach()
        path = (fixed * share.unsqueeze(1).to(fixed.dtype)).requires_grad_()
        self.followed.append(Followed(source, level, fixed, path, embedding))
        return path


def copy_of(batch: Any, level: str) -> Tensor:
    """Which graph of a batch each of its nodes, edges or graphs belongs to."""
    if level == "graph":
        return torch.arange(batch.num_graphs)
    owner: Tensor = batch.batch if level == "node" else batch.batch[batch.edge_index[0]]
    return owner


@contextmanager
def following(network: nn.Module, follower: Follower) -> Iterator[None]:
    """Let a follower see what a network reads; afterwards the network is as before."""
    hooks = []
    dedups = []
    for module in network.modules():
        if isinstance(module, FeatureEncoder):
            hooks.append(module.register_forward_hook(follower.feature))
        elif isinstance(module, StructuralEmbedding):
            hooks.append(module.mlp.register_forward_pre_hook(partial(follower.structure, module)))
            dedups.append((module, module.dedup))
            module.dedup = False  # copies are the same rows, and here they are not
    for name, (source, level) in OTHERS.items():
        named = getattr(network, name, None)
        if isinstance(named, nn.Module):
            hooks.append(named.register_forward_hook(partial(follower.other, source, level)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for embedding, before in dedups:
            embedding.dedup = before


def integrated(run: Run | Ensemble, graphs: GraphStore, steps: int = STEPS) -> list[Integrated]:
    """Integrated gradients of every graph; of an ensemble the mean over its members.

    Args:
        run: What `load_run` or `load_ensemble` gives.
        graphs: With the features that the network reads.
        steps: Points of the path; with more, contributions add up more exactly.

    Raises:
        ValueError: The network reads nodes in a way that cannot be followed, and masking is what there is; or predictions are
            not of graphs.
    """
    if steps < 1:
        raise ValueError(f"steps: {steps}; expected a number from 1")
    members = members_of(run)
    return [_mean([_integrated(one, graphs[[number]], steps) for one in members]) for number in range(len(graphs))]


def _integrated(run: Run, graph: GraphStore, steps: int) -> Integrated:
    roots, weights = np.polynomial.legendre.leggauss(steps)
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64)
    share = torch.cat([torch.from_numpy((roots + 1) / 2), ends])  # (copies,), the last two have no weight
    weight = torch.cat([torch.from_numpy(weights / 2), torch.zeros(2, dtype=torch.float64)])
    follower, out = run_copies(run, graph, share)  # (copies, outputs)
    if not any(one.source == "nodes" for one in follower.followed):
        raise ValueError(
            f"{run.folder}: {run.name} reads nodes in a way that gradients cannot be followed along; take them out by masking"
        )
    data = graph[0]
    nodes: dict[str, Tensor] = {}
    whole: dict[str, Tensor] = {}
    for place in range(out.shape[1]):
        paths = [one.path for one in follower.followed]
        slopes = torch.autograd.grad((out[:, place] * weight).sum(), paths, retain_graph=True, allow_unused=True)
        for one, slope in zip(follower.followed, slopes, strict=True):
            if slope is None:
                slope = torch.zeros_like(one.path)
            for source, rows in _contributions(run, one, slope.double(), follower.batch, len(share)).items():
                target = whole if one.level == "graph" else nodes
                shape = (out.shape[1],) if one.level == "graph" else (data.num_nodes, out.shape[1])
                filled = target.setdefault(source, torch.zeros(shape, dtype=torch.float64))
                filled[..., place] += _at_nodes(rows, one.level, data)
    fixed = out.detach()
    return Integrated(fixed[-1], fixed[-2], nodes, whole)


def run_copies(run: Run, graph: GraphStore, share: Tensor) -> tuple[Follower, Tensor]:
    """What a network says of copies of a graph along the path, (copies, outputs), with gradients, and what it read."""
    copies = graph.compact()[torch.zeros(len(share), dtype=torch.int64).numpy()].compact()
    batch = _prepared(run, copies)
    follower = Follower(batch, share)
    with torch.enable_grad(), following(run.model, follower):
        out = said(run.task, run.scaling, run.model(batch))
    return follower, out


def _prepared(run: Run, graphs: GraphStore) -> Any:
    """Graphs as a batch that a network reads."""
    batch = (graphs if run.once is None else run.once(graphs)).batch()
    return batch if run.transform is None else run.transform(batch)


def _contributions(run: Run, one: Followed, slope: Tensor, batch: Any, copies: int) -> dict[str, Tensor]:
    """What each row contributes to one output, ``(rows,)``, by source; rows of the encoding part by part."""
    channels = slope.shape[1]
    along = slope.view(copies, -1, channels).sum(0)  # (rows, channels)
    if one.embedding is None:
        return {one.source: (along * one.vectors.view(copies, -1, channels)[0].double()).sum(1)}
    embedding = one.embedding
    weight = (embedding.weight / embedding.deviation.unsqueeze(1)).detach().double()  # (bins, channels)
    counts = dense_counts(embedding, batch)[: len(along)].double() - embedding.mean.double()  # (rows, bins)
    each = along @ weight.T * counts  # (rows, bins)
    return {f"encoding/{part}": each[:, bins].sum(1) for part, bins in bins_by_part(run, embedding).items()}


def dense_counts(embedding: StructuralEmbedding, batch: Any) -> Tensor:
    """The rows of the encoding as a matrix, (rows, bins)."""
    length, bins, counts = embedding.rows(batch)
    row = torch.repeat_interleave(length.long())  # (nnz,)
    dense = torch.zeros(length.numel(), embedding.num_bins, dtype=torch.float64)
    dense[row, bins.long()] = counts.double()
    return dense


def bins_by_part(run: Run, embedding: StructuralEmbedding) -> dict[str, Tensor]:
    """The bins of every part of the encoding, by its name; of pairs (v, v) beside those of edges."""
    names = run.transform.bins if embedding.prefix == "esc" else run.transform.pair_bins
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names[: embedding.num_bins]):
        found.setdefault(name.part, []).append(number)
    return {part: torch.tensor(numbers) for part, numbers in found.items()}


def _at_nodes(rows: Tensor, level: str, data: Any) -> Tensor:
    """Contributions of rows as those of nodes; those of an edge half at either end."""
    if level == "graph":
        return rows.sum()
    if level == "node":
        return rows
    found = rows.new_zeros(data.num_nodes)
    for ends in data.edge_index:
        found.index_add_(0, ends, rows / 2)
    return found


def _mean(each: Sequence[Integrated]) -> Integrated:
    def mean(name: str) -> dict[str, Tensor]:
        sources = dict.fromkeys(source for one in each for source in getattr(one, name))
        return {source: torch.stack([getattr(one, name)[source] for one in each]).mean(0) for source in sources}

    output = torch.stack([one.output for one in each]).mean(0)
    baseline = torch.stack([one.baseline for one in each]).mean(0)
    return Integrated(output, baseline, mean("nodes"), mean("whole"))


def masked_parts(run: Run | Ensemble, graphs: GraphStore) -> list[dict[str, Tensor]]:
    """Of each graph, how much lower every output would be if a part of the encoding said what it says of the mean training row.

    Networks without the encoding have no parts; what a count skip reads stays as it is.
    """
    members = members_of(run)
    found = []
    for number in range(len(graphs)):
        each = [_masked_parts(one, graphs[[number]]) for one in members]
        found.append({part: torch.stack([one[part] for one in each]).mean(0) for part in each[0]})
    return found


@torch.no_grad()
def _masked_parts(run: Run, graph: GraphStore) -> dict[str, Tensor]:
    embeddings = [module for module in run.model.modules() if isinstance(module, StructuralEmbedding)]
    parts = [*dict.fromkeys(part for one in embeddings for part in bins_by_part(run, one))]
    batch = _prepared(run, graph.compact())
    whole = said(run.task, run.scaling, run.model(batch))[0]  # (outputs,)
    found = {}
    for part in parts:
        hooks = []
        for embedding in embeddings:
            bins = bins_by_part(run, embedding).get(part, torch.empty(0, dtype=torch.int64))
            counts = dense_counts(embedding, batch)[:, bins].to(embedding.mean.dtype) - embedding.mean[bins]
            own = (counts / embedding.deviation[bins]) @ embedding.weight[bins]  # (rows, channels)
            hooks.append(embedding.mlp.register_forward_pre_hook(partial(_without, own)))
        before = [embedding.dedup for embedding in embeddings]
        for embedding in embeddings:
            embedding.dedup = False
        try:
            found[part] = whole - said(run.task, run.scaling, run.model(batch))[0]
        finally:
            for hook in hooks:
                hook.remove()
            for embedding, dedup in zip(embeddings, before, strict=True):
                embedding.dedup = dedup
    return found


def _without(own: Tensor, _: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
    return (given[0] - own,)
