"""Run folders that were written when there was one model: they load, predict the same numbers, and go on."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from escgnn.training import fit, load_run, predict, read_config, read_result
from escgnn.training.config import checked
from tests.training import tiny

RUNS = Path(__file__).parents[1] / "data" / "runs"
NAMES = {"esc-gnn": "StructuralEncoding", "pna": "NoneType"}


def assert_same(found, expected, written, name):
    """To the last bit where torch takes the kernels that wrote them; others round otherwise, and deviations in PNA magnify it."""
    here = (torch.__version__, torch.backends.cpu.get_cpu_capability())
    exact = name != "pna" and here == (written["torch"], written["cpu"])
    options = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-3, "atol": 1e-3}
    torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_the_first_format(name, tmp_path):
    folder = shutil.copytree(RUNS / name, tmp_path / name)
    written = json.loads((folder / "expected.json").read_text())
    bundle = tiny.bundle()
    few = bundle.test[[0, 1, 2, 3]]

    run = load_run(folder)
    assert (run.name, type(run.transform).__name__) == (name, NAMES[name])
    assert_same(predict(run, few).tolist(), written["predictions"], written, name)

    (folder / "expected.json").unlink()
    config = read_config(folder / "config.yaml")
    again = fit(bundle, config, folder, resume=True, progress=False)
    result = read_result(RUNS / name)
    assert_same([*again.test.values()], [*result.test.values()], written, name)
    assert replace(again, test=result.test) == result
    longer = checked({**config.model_dump(), "epochs": 3})
    result = fit(bundle, longer, folder, resume=True, progress=False)
    assert_same([*result.validation.values()], [*written["resumed_validation"].values()], written, name)
    assert_same(predict(load_run(folder), few).tolist(), written["resumed"], written, name)
    lines = [line.rsplit(",", 1)[0] for line in (folder / "metrics.csv").read_text().splitlines()]
    assert lines[0] == written["resumed_metrics"][0]
    numbers = [
        [[float(cell) for cell in line.split(",")] for line in table[1:]]
        for table in (lines, written["resumed_metrics"])
    ]
    assert_same(*numbers, written, name)
