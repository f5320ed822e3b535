"""Absurd sizes are told before memory is taken for them."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

from escgnn import graphs, limits
from escgnn.encoding import RootedEncoding
from escgnn.models import Bounded
from escgnn.training import fit, read_config
from escgnn.transforms import Positions
from tests.training import tiny
from tests.training.tiny import change


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hops": 10**7}, "hops: 10000000; expected an integer from 1 to 256"),
        ({"hops": 2**40}, "hops: 1099511627776; expected an integer from 1 to 256"),
        ({"hops": (1, 2**40)}, "hops: 1099511627776; expected"),
        ({"max_degree": 10**12}, "max_degree: 1000000000000; expected"),
        ({"max_nodes": 2**70}, "max_nodes: 1180591620717411303424; expected"),
        ({"walk_length": 10**8}, "walk_length: 100000000; expected"),
        ({"colour_bins": 10**10}, "colour_bins: 10000000000; expected"),
        ({"colour_rounds": 10**9}, "colour_rounds: 1000000000; expected"),
        ({"resistance_width": 1e-300}, "resistance_width: 1e-300; expected a number above 0, from 1e-06 on"),
        ({"resistance_width": 5e-324}, "resistance_width: 5e-324; expected"),
    ],
)
def test_options_of_the_encoding(options, message):
    with pytest.raises(ValueError, match=message):
        RootedEncoding(**options)
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"transform: {message}"):
        read_config(overrides={"transform": {name: value}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ("resistance",), "resistance_width": 0.001}, "resistance_width=0.001: more than 1,000 bins; choose"),
        ({"parts": ("degree", "colour"), "max_degree": 700, "colour_bins": 700}, "parts: more than 1,000 bins"),
        ({"hops": (1, 2, 3), "parts": ("degree",), "max_degree": 500}, r"hops: \(1, 2, 3\): more than 1,000 bins"),
        ({"hops": 200, "parts": ("edge",)}, "edge at hops=200: more than 1,000 bins"),
    ],
)
def test_bins_are_counted_before_they_are_all_named(options, message, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BINS", 1000)
    with pytest.raises(ValueError, match=message):
        RootedEncoding(**options).num_bins  # noqa: B018


def test_tables_are_measured_before_they_are_made():
    with pytest.raises(ValueError, match=r"hops: 100 with the part path: it needs a table of 33\.7 GB; lower hops"):
        RootedEncoding(100, ("path",)).num_bins  # noqa: B018
    encoding = RootedEncoding(200, ("node",))
    assert encoding.num_bins == 404
    with pytest.raises(ValueError, match=r"hops: 200: it needs a table of 6\.66 GB"):
        encoding.row(graphs.path(3), 0, 2)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("network.layers=1000000", "network.layers: 1000000; expected an integer from 1 to 1000"),
        ("network.hidden=100000000", "network.hidden: 100000000; expected an integer from 1 to 65536"),
        ("network.heads=100000000", "network.heads: 100000000; expected"),
        ("transform.positional={kind: laplacian, size: 1000000}", "transform.positional.size: Input should be less"),
        ("lr=.inf", "lr: Input should be a finite number"),
        ("lr=.nan", "lr: Input should be "),
        ("weight_decay=.inf", "weight_decay: Input should be a finite number"),
        ("gradient_clip=.inf", "gradient_clip: Input should be a finite number"),
        ("seed=1180591620717411303424", "seed: "),
        ("workers=1000000", "workers: Input should be less than or equal to 512"),
        ("batch_size=1180591620717411303424", "batch_size: "),
        (f"epochs=1{'0' * 5000}", "not YAML; Exceeds the limit"),
        (f"network={'[' * 700}", "nested more than 50 levels deep"),
        (f"network={'[' * 60}{']' * 60}", "nested more than 50 levels deep"),
        ("network=&a {hidden: *a}", "nested more than 50 levels deep"),
    ],
)
def test_settings_of_a_run(override, message):
    with pytest.raises(ValueError) as error:
        read_config(overrides=[override])
    assert message in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 600


def test_a_file_that_names_the_same_thing_again_and_again(tmp_path):
    lines = ["a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 12)]
    (tmp_path / "laughs.yaml").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"laughs.yaml: holds more than 1,000,000 values"):
        read_config(tmp_path / "laughs.yaml")


def test_positions():
    with pytest.raises(ValueError, match="positional, size: 1000000; expected an integer from 1 to 1024"):
        Positions({"kind": "random_walk", "size": 10**6})


def test_networks_are_measured_while_they_are_built(tmp_path):
    """Each number is within its limits, but not all together."""
    with pytest.raises(ValueError, match=r"network: an array of \d+ x 60000 numbers, .* expected at most 268,435,456"):
        fit(tiny.bundle(), change(network={"hidden": 60000, "layers": 900}), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_all_ways_to_make_arrays_are_counted():
    made = (
        lambda: torch.empty(6, 2),
        lambda: torch.zeros((6, 2)),
        lambda: torch.ones(size=(6, 2)),
        lambda: torch.randint(0, 9, (6, 2)),
        lambda: torch.full((6, 2), 10**9),
        lambda: torch.nn.Linear(6, 2, bias=False),
    )
    for make in made:
        with Bounded(12):
            make()
        with pytest.raises(ValueError, match=r"an array of \d x \d numbers, 48 bytes, is too much"), Bounded(11):
            make()


@pytest.mark.parametrize("value", ["x", "0", "-3", ""])
def test_number_of_threads(value):
    command = [sys.executable, "-m", "escgnn", "encode", "--describe", "--parts", "node"]
    environment = {**os.environ, "NUMBA_NUM_THREADS": value}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 1
    assert result.stderr == f"error: NUMBA_NUM_THREADS: {value!r}; expected an integer from 1, or that it is not set\n"


def test_free_memory(tmp_path):
    def tell(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def free(**options):
        return limits.free_memory(root=tmp_path, **options)

    assert free() == limits.FREE  # nobody says
    tell("proc/meminfo", "MemTotal:  90 kB\nMemAvailable:   50 kB\n")
    assert free() == 50 * 1024
    tell("sys/fs/cgroup/memory.max", "max\n")
    tell("sys/fs/cgroup/memory.current", "6000\n")
    assert free() == 50 * 1024
    tell("sys/fs/cgroup/memory.max", "10000\n")
    assert free() == 4000
    tell("sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 1500\n")
    assert free() == 5500
    tell("sys/fs/cgroup/memory.current", "20000\n")
    assert free() == 0
    (tmp_path / "dev/shm").mkdir(parents=True)
    tell("sys/fs/cgroup/memory.max", "max\n")
    tell("proc/meminfo", f"MemAvailable: {2**60} kB\n")
    assert free(shared=True) < free() == 2**70
    assert limits.free_memory() > 1 << 20


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 0, 9])
def test_what_is_no_whole_number_in_bounds(value):
    with pytest.raises(ValueError, match=re.escape(f"size: {value!r}; expected an integer from 1 to 8")):
        limits.whole("size", value, 1, 8)


def test_whole_numbers_are_plain_ones():
    found = limits.whole("size", np.int32(8), 1, 8)
    assert (type(found), found) == (int, 8)
    assert limits.whole("size", 1 << 40, 1) == 1 << 40
    with pytest.raises(ValueError, match="size: -1; expected an integer >= 0"):
        limits.whole("size", -1, 0)
