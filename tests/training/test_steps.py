"""What every step of a training is: against loops written down by hand."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional

from escgnn import zoo
from escgnn.loader import Loader, Shuffle
from escgnn.metrics import Scaling, choose_loss, task_loss
from escgnn.training import fit, load_run, recording
from escgnn.training.module import Batches, Learner, Standardised, seed_all
from tests.training import tiny
from tests.training.tiny import change

LOSSES = {"l1": functional.l1_loss, "mse": functional.mse_loss}
OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def built(bundle, config):
    """The network of a run before its first step, and the transform of its batches."""
    seed_all(config.seed)
    recipe = zoo.recipe_of(config.model)
    each, once = recipe.transforms(config.transform)
    network = recipe.build(config.network, each, once, task=bundle.task, features=bundle.features, graphs=bundle.train)
    scaling = Scaling.of(bundle)
    loaders = [Loader(graphs, config.batch_size, transform=each) for graphs in (bundle.train, bundle.validation)]
    network.prepare(*(Standardised(loader, bundle.task, scaling) for loader in loaders), each)
    return network, each


def column(folder, name):
    """What the table of epochs says of one thing."""
    header, *lines = (folder / "metrics.csv").read_text().splitlines()
    place = header.split(",").index(name)
    return [float(line.split(",")[place]) for line in lines]


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "mse", "optimizer": "adamw", "weight_decay": 0.3, "gradient_clip": 0.1, "seed": 3},
        {"loss": "l1", "optimizer": "adam", "weight_decay": 0.3, "gradient_clip": None},
    ],
    ids=["mse, adamw, clipped", "l1, adam"],
)
def test_two_epochs_by_hand(settings, tmp_path):
    """Order, loss, clipping, optimizer and dropout: each epoch has an order and masks of its own; its loss is a mean."""
    bundle = tiny.bundle()
    config = change(schedule="constant", average=None, epochs=2, network={"dropout": 0.5}, **settings)
    fit(bundle, config, tmp_path, progress=False)
    found = torch.load(tmp_path / "last.ckpt", weights_only=True)["state_dict"]

    network, transform = built(bundle, config)
    optimizer = OPTIMIZERS[config.optimizer](network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    orders = Shuffle(bundle.train, config.seed)
    network.train()
    losses = []
    for epoch in range(2):
        order = list(orders)
        seed_all(config.seed, epoch, 0)
        total = 0.0
        for start in range(0, len(order), config.batch_size):
            batch = transform(bundle.train.batch(order[start : start + config.batch_size]))
            optimizer.zero_grad()
            loss = LOSSES[config.loss](network(batch), Scaling.of(bundle).standardise(batch.y))
            loss.backward()
            total += loss.item() * batch.num_graphs
            if config.gradient_clip:
                assert torch.nn.utils.clip_grad_norm_(network.parameters(), config.gradient_clip) > config.gradient_clip
            optimizer.step()
        losses.append(total / len(order))
    assert column(tmp_path, "loss") == pytest.approx(losses, rel=1e-4)
    for name, expected in network.state_dict().items():
        torch.testing.assert_close(found[f"network.{name}"], expected, rtol=1e-4, atol=1e-5, msg=name)


def batches_of(bundle, config, epoch=0, rank=0, world=1):
    found = Batches(bundle, config, None)
    found.trainer = SimpleNamespace(current_epoch=epoch, global_rank=rank, world_size=world)
    return found


def test_training_graphs_are_shuffled_and_the_others_are_not():
    bundle = tiny.bundle()

    def order(seed, epoch):
        loader = batches_of(bundle, change(seed=seed), epoch).train_dataloader()
        return [number for batch in loader.batch_sampler for number in batch]

    orders = [order(0, 0), order(0, 1), order(1, 0)]
    assert all(sorted(one) == [*range(20)] for one in orders)
    assert order(0, 0) == orders[0] and [*range(20)] not in orders
    assert len({tuple(one) for one in orders}) == 3
    assert [*batches_of(bundle, change()).val_dataloader().batch_sampler] == [[*range(8)], [8, 9]]


def test_the_gradient_is_that_of_the_whole_batch_however_many_share_it():
    """Processes take the mean of their gradients, so each loss is so many times its share."""
    bundle = tiny.bundle(missing=0.4)
    config = change(network={"norm": "layer", "dropout": 0.0}, batch_size=7)
    network, transform = built(bundle, config)
    scaling = Scaling.of(bundle)
    whole = next(iter(batches_of(bundle, config).train_dataloader()))
    y = scaling.standardise(whole.y)
    total, known = task_loss(bundle.task, "l1", network(transform(whole)), y)
    losses = []
    counts = []
    for rank in (0, 1):
        learner = Learner(network, bundle.task, scaling, config)
        data = batches_of(bundle, config, rank=rank, world=2)
        strategy = SimpleNamespace(reduce=lambda count, reduce_op: counts.append(int(count)) or known)
        batch = transform(next(iter(data.train_dataloader())))
        learner.trainer = SimpleNamespace(world_size=2, strategy=strategy, datamodule=data)
        losses.append(learner.training_step(batch, 0))
    assert sum(counts) == int(known) and counts[0] != counts[1]
    torch.testing.assert_close(sum(losses) / 2, total / known)


def test_a_process_for_which_no_graph_is_left_adds_nothing():
    """It takes a step all the same, with a graph of another."""
    bundle = tiny.bundle()
    config = change(network={"norm": "layer", "dropout": 0.0}, batch_size=19)
    network, transform = built(bundle, config)
    learner = Learner(network, bundle.task, Scaling.of(bundle), config)
    data = batches_of(bundle, config, rank=1, world=2)
    batches = [transform(batch) for batch in data.train_dataloader()]
    strategy = SimpleNamespace(reduce=lambda count, reduce_op: count)
    learner.trainer = SimpleNamespace(world_size=2, strategy=strategy, datamodule=data)
    assert [batch.num_graphs for batch in batches] == [9, 1]
    assert learner.training_step(batches[0], 0) > 0
    assert learner.training_step(batches[1], 1) == 0


def test_what_is_measured_beforehand_is_of_the_training_graphs(tmp_path):
    """The scale of the encoding and the mean size; others are not to be known."""
    bundle = tiny.bundle()
    fit(bundle, change(epochs=1), tmp_path, progress=False)
    run = load_run(tmp_path)
    batch = run.transform(bundle.train.batch(range(len(bundle.train))))
    dense = torch.zeros(batch.num_edges, run.transform.num_bins, dtype=torch.float64)
    row = torch.repeat_interleave(torch.arange(batch.num_edges), batch.esc_len.long())
    dense[row, batch.esc_bin.long()] = batch.esc_count.double()
    torch.testing.assert_close(run.model.structure.mean.double(), dense.mean(0), rtol=1e-5, atol=1e-6)
    assert float(run.model.pool.size) == pytest.approx(bundle.train.mean_nodes)
    assert bundle.train.mean_nodes != pytest.approx(bundle.graphs.mean_nodes)


@pytest.mark.parametrize(("kind", "start"), [("binary", 2), ("multilabel", 2), ("multiclass", 3), ("regression", None)])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_the_first_loss_is_that_of_not_knowing(kind, level, start):
    """The logarithm of the number of classes, or the mean deviation of standardised numbers."""
    bundle = tiny.bundle(kind, level=level, size=80)
    config = change(network={"hidden": 64, "dropout": 0.0})
    network, transform = built(bundle, config)
    batch = transform(bundle.train.batch(range(len(bundle.train))))
    y = Scaling.of(bundle).standardise(batch.y) if kind == "regression" else batch.y
    loss = choose_loss("auto", bundle.task)
    total, known = task_loss(bundle.task, loss, network(batch), y)
    expected = math.log(start) if start else float((y - y.nanmedian(0).values).abs().nanmean())
    assert (total / known).item() == pytest.approx(expected, rel=0.2)


def test_a_checkpoint_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "last.ckpt"
    recording.AtomicIO().save_checkpoint({"epoch": 1}, path)
    before = path.read_bytes()

    def half(values, target):
        target.write(before[: len(before) // 2])
        target.flush()
        assert path.read_bytes() == before, "the old one is there until the new one is complete"
        raise KeyboardInterrupt

    monkeypatch.setattr(recording.torch, "save", half)
    with pytest.raises(KeyboardInterrupt):
        recording.AtomicIO().save_checkpoint({"epoch": 2}, path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


def test_validation_losses_are_written(tmp_path):
    """By hand for the last epoch, whose weights are those of the checkpoint."""
    bundle = tiny.bundle("multiclass")
    fit(bundle, change(epochs=2), tmp_path, progress=False)
    run = load_run(tmp_path)
    state = torch.load(tmp_path / "last.ckpt", weights_only=True)
    kept = {
        name.removeprefix("averaged."): one for name, one in state["state_dict"].items() if name.startswith("avera")
    }
    run.model.load_state_dict(kept)
    batch = run.transform(bundle.validation.batch(range(len(bundle.validation))))
    expected = functional.cross_entropy(run.model(batch), batch.y.view(-1))
    assert column(tmp_path, "validation_loss")[-1] == pytest.approx(expected.item(), rel=1e-5)
