import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close
from torch_geometric.data import Data

from escgnn import graphs, layers
from escgnn.kernels.layers import fill_matrix, number_bins, number_rows
from escgnn.layers import (
    BatchNorm,
    FeatureEncoder,
    PositionalEncoder,
    StructuralEmbedding,
    VirtualNode,
    fit_embeddings,
)
from escgnn.transforms import StructuralEncoding

ENCODING = StructuralEncoding(2, nodes=True)


def encoded(graph):
    return ENCODING(Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes))


def sparse(matrix):
    """Rows in the layout of the encoding."""
    matrix = torch.as_tensor(matrix)
    row, column = matrix.nonzero().T
    count = matrix[row, column]
    named = {"esc_len": torch.bincount(row, minlength=len(matrix)), "esc_bin": column, "esc_count": count}
    return {name: values.to(torch.int32) for name, values in named.items()}


@st.composite
def histograms(draw, bins=6):
    """A few rows, some of them empty, many of them repeated."""
    kinds = draw(st.lists(st.lists(st.integers(0, 3), min_size=bins, max_size=bins), min_size=1, max_size=4))
    return draw(st.lists(st.sampled_from(kinds), max_size=12).map(lambda rows: np.array(rows).reshape(-1, bins)))


@pytest.fixture(params=["matmul", "bag"])
def way(request, monkeypatch):
    """Both ways to compute the embedding."""
    if request.param == "bag":
        monkeypatch.setattr(layers, "MATMUL_BINS", 0)


@given(histograms(), st.booleans())
def test_distinct_rows(matrix, crowded):
    """Numbered as they come, also where the table is nearly full and most places are taken."""
    rows = [tuple(row) for row in matrix.tolist()]
    expected = [*dict.fromkeys(rows)]
    length, bins, counts = (values.numpy() for values in sparse(matrix).values())
    start = np.concatenate([[0], length.cumsum()]).astype(np.int64)
    size = 1 << len(rows).bit_length()
    table = np.full(size if crowded else 64 * size, -1, np.int32)
    first, copy = np.empty((2, len(rows)), np.int64)
    number = number_rows(start, bins, counts, table, first, copy)
    assert [rows[row] for row in first[:number]] == expected
    assert copy.tolist() == [expected.index(row) for row in rows]


def test_rows_of_one_hash_are_told_apart():
    """Found by search: of a million pairs of small counts, a few have the same."""
    matrix = torch.tensor([[242, 52], [293, 1], [242, 52]])
    first, copy = layers.distinct_rows(*sparse(matrix).values())
    assert first.tolist() == [0, 1]
    assert copy.tolist() == [0, 1, 0]


@given(histograms(), st.data())
def test_count_matrix(matrix, data):
    length, bins, counts = (values.numpy() for values in sparse(matrix).values())
    start = np.concatenate([[0], length.cumsum()]).astype(np.int64)
    rows = np.array(data.draw(st.lists(st.integers(0, len(matrix) - 1))) if len(matrix) else [], np.int64)
    place = np.empty(6, np.int64)
    used = number_bins(start, bins, rows, place)
    columns = np.flatnonzero(matrix[rows].any(0))
    assert place[columns].tolist() == [*range(used)] and (place < 0).sum() == 6 - used
    found = np.zeros((rows.size, used), np.float32)
    fill_matrix(start, bins, counts, rows, place, found)
    assert (found == matrix[rows][:, columns]).all()


class TestStructuralEmbedding:
    def test_is_a_matrix_times_the_histograms(self, way):
        data = encoded(graphs.molecule_like(20))
        dense = torch.from_numpy(ENCODING.dense(graphs.molecule_like(20))).float()
        embedding = StructuralEmbedding(ENCODING.num_bins, 7)
        assert_close(embedding(data), dense @ embedding.weight)
        embedding.fit([data])
        mean, deviation = dense.mean(0), dense.std(0, correction=0)
        deviation = torch.where(deviation > 1e-6, deviation.clamp_min(0.1), 1)
        assert_close(embedding.mean, mean)
        assert_close(embedding.deviation, deviation)
        assert_close(embedding(data), (dense - mean) / deviation @ embedding.weight)

    def test_gradient_is_that_of_the_product(self, way):
        data = encoded(graphs.molecule_like(5))
        dense = torch.from_numpy(ENCODING.dense(graphs.molecule_like(5))).float()
        embedding = StructuralEmbedding(ENCODING.num_bins, 7)
        embedding.fit([data])
        embedding(data).square().sum().backward()
        weight = embedding.weight.detach().clone().requires_grad_()
        ((dense - embedding.mean) / embedding.deviation @ weight).square().sum().backward()
        assert_close(embedding.weight.grad, weight.grad, rtol=1e-4, atol=1e-3)

    @given(histograms())
    def test_any_rows_even_empty_ones(self, matrix):
        embedding = StructuralEmbedding(6, 3)
        assert_close(embedding(sparse(matrix)), torch.as_tensor(matrix).float() @ embedding.weight)

    @given(histograms())
    @pytest.mark.parametrize("mlp", [False, True])
    @pytest.mark.parametrize("most", [0.0, 1.0], ids=["never", "always"])
    def test_rows_embedded_once_are_the_same_rows(self, most, mlp, matrix):
        """Forward and backward, where it pays and where it does not."""
        plain, once = (StructuralEmbedding(6, 3, mlp=mlp, dedup=dedup).double() for dedup in (False, True))
        rows = sparse(matrix)
        plain.fit([rows])
        once.load_state_dict(plain.state_dict())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(layers, "MOST_DISTINCT", most)
            found = once(rows)
        expected = plain(rows)
        assert_close(found, expected, rtol=1e-9, atol=1e-9)
        for out in (found, expected):
            (out * torch.arange(out.numel()).view_as(out)).sum().backward()
        for one, other in zip(once.parameters(), plain.parameters(), strict=True):
            assert_close(one.grad, other.grad, rtol=1e-9, atol=1e-9)

    def test_molecules_have_few_distinct_rows(self, way, monkeypatch):
        data = encoded(graphs.molecule_like(40))
        once, plain = (StructuralEmbedding(ENCODING.num_bins, 7, dedup=dedup) for dedup in (True, False))
        once.fit([data])
        plain.load_state_dict(once.state_dict())
        seen = []
        monkeypatch.setattr(once.mlp, "forward", lambda rows: seen.append(len(rows)) or rows)
        found, expected = once(data), plain(data)
        assert_close(found, expected, rtol=1e-5, atol=1e-5)
        direction = torch.randn_like(found)
        for out in (found, expected):
            (out * direction).mean().backward()
        assert_close(once.weight.grad, plain.weight.grad, rtol=1e-5, atol=1e-5)
        distinct = {tuple(row) for row in ENCODING.dense(graphs.molecule_like(40)).tolist()}
        assert seen == [len(distinct)] and len(distinct) < layers.MOST_DISTINCT * len(data.esc_len)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_kernels_give_what_torch_gives(self, dtype, monkeypatch):
        """Which is what compiled networks and other devices use."""
        data = encoded(graphs.molecule_like(20))
        embedding = StructuralEmbedding(ENCODING.num_bins, 7).to(dtype)
        embedding.fit([data])
        found = embedding(data)
        monkeypatch.setattr(layers, "_is_plain", lambda _: False)
        assert_close(found, embedding(data), rtol=1e-5, atol=1e-5)

    def test_other_integers_are_read_as_well(self):
        rows = sparse([[1, 2], [0, 3], [1, 2]])
        embedding = StructuralEmbedding(2, 3)
        assert_close(embedding({name: values.long() for name, values in rows.items()}), embedding(rows))

    def test_fit_streams(self):
        parts = [encoded(graph) for graph in graphs.molecule_like(8).split()]
        whole = encoded(graphs.molecule_like(8))
        one, many = StructuralEmbedding(ENCODING.num_bins, 2), StructuralEmbedding(ENCODING.num_bins, 2)
        one.fit([whole])
        many.fit(iter(parts))
        assert torch.equal(one.mean, many.mean)
        assert torch.equal(one.deviation, many.deviation)

    def test_fit_of_several_takes_one_pass(self):
        edges, nodes = (StructuralEmbedding(ENCODING.num_bins, 2, prefix=prefix) for prefix in ("esc", "esc_node"))
        fit_embeddings([edges, nodes], iter([encoded(graphs.molecule_like(8))]))
        assert not torch.equal(edges.mean, nodes.mean)
        assert edges.mean.any() and nodes.mean.any()

    def test_bins_never_seen_and_constant_bins_are_not_scaled(self):
        embedding = StructuralEmbedding(3, 2)
        embedding.fit([sparse([[0, 7, 1], [0, 7, 3]])])
        assert embedding.mean.tolist() == [0, 7, 2]
        assert embedding.deviation.tolist() == [1, 1, 1]

    def test_a_bin_that_is_nearly_always_empty_is_not_blown_up(self):
        """Its deviation is 0.045, and is taken for 0.1; that of the other is 1."""
        matrix = np.zeros((500, 2), np.int64)
        matrix[0, 0] = 1
        matrix[:250, 1] = 2
        embedding = StructuralEmbedding(2, 3)
        embedding.fit([sparse(matrix)])
        assert_close(embedding.deviation, torch.tensor([0.1, 1.0]))

    def test_no_rows_change_nothing(self):
        embedding = StructuralEmbedding(3, 2)
        embedding.fit([])
        embedding.fit([sparse(np.zeros((0, 3), int))])
        assert embedding.mean.tolist() == [0, 0, 0]
        assert embedding.deviation.tolist() == [1, 1, 1]

    def test_large_counts_do_not_blow_up(self):
        data = encoded(graphs.disjoint_union([graphs.star(3000), graphs.barabasi_albert(300, 3)]))
        assert data.esc_count.max() >= 2999
        embedding = StructuralEmbedding(ENCODING.num_bins, 64)
        embedding.fit([data])
        assert embedding(data).square().mean() < 1.5

    def test_scale_none_takes_counts_as_they_are(self):
        data = encoded(graphs.petersen())
        embedding = StructuralEmbedding(ENCODING.num_bins, 2, scale="none")
        before = embedding(data)
        embedding.fit([data])
        assert torch.equal(embedding(data), before)

    def test_scales_are_saved(self):
        data = encoded(graphs.molecule_like(3))
        a, b = StructuralEmbedding(ENCODING.num_bins, 2), StructuralEmbedding(ENCODING.num_bins, 2)
        a.fit([data])
        b.load_state_dict(a.state_dict())
        assert torch.equal(a(data), b(data))

    def test_half_precision_keeps_counts(self):
        embedding = StructuralEmbedding(1, 1)
        with torch.no_grad():
            embedding.weight.fill_(1)
        with torch.autocast("cpu", torch.bfloat16):
            assert embedding(sparse([[257]])).item() == 257

    def test_another_encoding_is_refused(self):
        embedding = StructuralEmbedding(2, 3)
        for call in (embedding, lambda rows: embedding.fit([rows])):
            with pytest.raises(ValueError, match="esc_bin: bin 2 of an encoding that should have 2 bins"):
                call(sparse([[1, 1, 1], [0, 1, 0]]))

    def test_unknown_scale(self):
        with pytest.raises(ValueError, match="scale: 'log'; expected one of fitted, none"):
            StructuralEmbedding(3, 2, scale="log")


class TestFeatureEncoder:
    def test_categories_are_summed(self):
        encoder = FeatureEncoder("categorical", [3, 2], 4)
        x = torch.tensor([[0, 0], [2, 1], [1, 0]])
        assert_close(encoder(x, 3), encoder.weight[x[:, 0]] + encoder.weight[3 + x[:, 1]])

    def test_one_column_needs_no_second_dimension(self):
        encoder = FeatureEncoder("categorical", [3], 4)
        assert torch.equal(encoder(torch.tensor([0, 2]), 2), encoder.weight[[0, 2]])
        assert FeatureEncoder("dense", [1], 4)(torch.ones(2), 2).shape == (2, 4)

    def test_numbers_are_multiplied(self):
        encoder = FeatureEncoder("dense", [3], 4)
        x = torch.randint(0, 5, (6, 3))
        assert_close(encoder(x, 6), x.float() @ encoder.weight + encoder.bias)

    def test_nothing_is_a_constant(self):
        encoder = FeatureEncoder(None, (), 4)
        assert torch.equal(encoder(None, 3), encoder.weight.expand(3, 4))
        assert encoder(None, 0).shape == (0, 4)

    @pytest.mark.parametrize("kind", ["categorical", "dense"])
    def test_no_rows(self, kind):
        assert FeatureEncoder(kind, [2], 4)(
            torch.empty((0, 2 if kind == "dense" else 1), dtype=torch.long), 0
        ).shape == (0, 4)

    @pytest.mark.parametrize("x", [[[3, 0]], [[0, 2]], [[-1, 0]]])
    def test_categories_out_of_range_are_refused(self, x):
        with pytest.raises(ValueError, match="features: a category is negative or too large for columns of \\[3, 2\\]"):
            FeatureEncoder("categorical", [3, 2], 4)(torch.tensor(x), 1)

    def test_unknown_kind_and_sizes(self):
        with pytest.raises(ValueError, match="kind: 'text'; expected one of categorical, dense"):
            FeatureEncoder("text", [3], 4)
        for sizes in ([], [3, 0]):
            with pytest.raises(ValueError, match=r"sizes: .*; expected one number or more, from 1"):
                FeatureEncoder("categorical", sizes, 4)


class TestPositionalEncoder:
    def test_signs_are_drawn_for_every_graph_in_training_only(self):
        torch.manual_seed(0)
        encoder = PositionalEncoder("laplacian", 2, 3)
        x, batch = torch.randn(40, 2), torch.arange(20).repeat_interleave(2)
        with torch.no_grad():
            encoder.linear.weight.copy_(torch.eye(3, 2))
            encoder.linear.bias.zero_()
        signs = encoder(x, batch, 20)[:, :2] / x
        assert_close(signs.abs(), torch.ones(40, 2))
        assert torch.equal(signs[::2].round(), signs[1::2].round())
        assert len(signs.round().unique(dim=0)) == 4
        assert_close(encoder.eval()(x, batch, 20)[:, :2], x)

    def test_random_walks_have_no_sign(self):
        encoder = PositionalEncoder("random_walk", 2, 3)
        x = torch.randn(5, 2)
        assert torch.equal(encoder(x, torch.zeros(5, dtype=torch.long), 1), encoder.linear(x))

    def test_unknown_kind(self):
        with pytest.raises(ValueError, match="kind: 'degree'; expected one of laplacian, random_walk"):
            PositionalEncoder("degree", 2, 3)


@pytest.mark.parametrize("rows", [0, 1])
def test_batch_norm_of_one_row_uses_running_statistics(rows):
    norm, x = BatchNorm(3), torch.randn(rows, 3)
    trained = norm(x)
    assert norm.num_batches_tracked == 0
    assert torch.equal(trained, norm.eval()(x))


def test_virtual_nodes_hear_their_graph():
    virtual, h, batch = torch.randn(2, 4), torch.randn(3, 4), torch.tensor([0, 1, 1])
    exchange = VirtualNode(4, "layer", 0.0)
    assert_close(exchange(virtual, h, batch)[1], virtual[1] + exchange.mlp(virtual[1] + h[1] + h[2]))


@pytest.mark.parametrize("parts", [("joint",), ("path",)])
def test_rows_that_no_longer_fit_are_refused(parts):
    """PyG filters what has a number for each edge, but not what has several."""
    encoding = StructuralEncoding(2, parts)
    graph = graphs.erdos_renyi(12, 0.4, seed=0)
    data = encoding(Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=12))
    embedding = StructuralEmbedding(encoding.num_bins, 4)
    with pytest.raises(ValueError, match=r"esc_len: .* let StructuralEncoding be the last transform"):
        embedding(data.subgraph(torch.arange(8)))
    assert embedding(data).shape == (graph.edge_index.shape[1], 4)
