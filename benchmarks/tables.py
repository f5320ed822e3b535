"""Tables of one's own: which settings pay on several of different size and kind, and what trees on fingerprints reach there.

    python benchmarks/tables.py [--data FOLDER] [--way default --way dropout] [--table zinc-200] [--seeds 2] [--epochs 60]

Every table is a CSV of SMILES as a user would have it, cut from the benchmarks in the data folder. A way is what is set beside
the defaults of `escgnn train`. Defaults are chosen by the validation column; the test column is for the reader. Trees are those
of `escgnn baseline` (`--trees`). `--chemprop PROGRAM` adds chemprop's default network for the same epochs, by its command line
alone: it is measured against, never imported. Time is processor time. Every run is appended to `history.jsonl`.
"""

import argparse
import csv
import gzip
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import record
from escgnn import baseline, datasets, training
from escgnn.metrics import Scaling, score

console = Console(width=110)
PARTS = ["degree", "node", "joint", "edge"]
TYPES = ["x", "edge_attr"]
CYCLE = [*PARTS, "cycle"]
WAYS = {
    "no encoding": {"model": "gin"},
    "paper's parts": {"transform": {"parts": PARTS}, "network": {"pool": "sum"}},
    "cycle": {"network": {"pool": "sum"}},
    "default": {},  # cycle, sum and mean
    "additive": {"network": {"additive": True}},
    "three hops": {"transform": {"hops": 3}},
    "ring by types": {"transform": {"parts": [*CYCLE, "ring"], "types": TYPES, "typed": ["ring"], "ring_bins": 256}},
    "edge by types": {"transform": {"types": TYPES, "typed": ["edge"]}},
    "alike by types": {"transform": {"parts": [*CYCLE, "alike"], "types": TYPES, "typed": ["alike"]}},
    "environments": {"transform": {"environments": [1, 2], "types": TYPES}},
    "dropout": {"network": {"dropout": 0.2}},
    "128 wide": {"network": {"hidden": 128}},
    "cosine": {"schedule": "cosine", "warmup": 3},
    "descriptors": {"descriptors": ["morgan-count", "rdkit"]},
}


def zinc_rows(data):
    """Molecules of ZINC-12k with their penalised solubility."""
    texts = (data / "zinc" / "zinc12k_smiles.txt").read_text().split()
    with np.load(data / "zinc" / "zinc12k.npz", allow_pickle=False) as arrays:
        return [*zip(texts, arrays["y"].tolist(), strict=True)]


def qm9_rows(data):
    """Molecules of QM9 with their gap."""
    with gzip.open(data / "qm9" / "qm9_deepchem_subset.csv.gz", "rt", newline="") as stream:
        return [(row["smiles"], float(row["gap"])) for row in csv.DictReader(stream)]


def hiv_rows(data):
    """Molecules that were tested against HIV; of those that do nothing as many as there are others."""
    with (data / "ogbg_molhiv" / "HIV.csv").open(newline="") as stream:
        rows = [(row["smiles"], int(row["HIV_active"])) for row in csv.DictReader(stream)]
    active = [row for row in rows if row[1]]
    others = [row for row in rows if not row[1]]
    chosen = np.random.default_rng(0).choice(len(others), len(active), replace=False)
    return active + [others[i] for i in sorted(chosen)]


TABLES = {  # rows, how many of them, how they are split
    "zinc-200": (zinc_rows, 200, "random"),
    "zinc-2000": (zinc_rows, 2000, "random"),
    "qm9-2000": (qm9_rows, 2000, "random"),
    "hiv-2886": (hiv_rows, 2886, "scaffold"),
}


def written(name, data, folder):
    """A table as a file."""
    rows, count, _ = TABLES[name]
    found = rows(data)
    chosen = np.random.default_rng(1).permutation(len(found))[:count]  # in no order: ties of scaffolds follow the file
    path = folder / f"{name}.csv"
    write_rows(path, ["smiles", "y"], [found[i] for i in chosen])
    return path


def learnt(way, path, split, seed, epochs, folder):
    """The metric of a way on validation and test rows, and processor seconds."""
    settings = {**WAYS[way], "seed": seed, "epochs": epochs}
    descriptors = settings.pop("descriptors", [])
    bundle = datasets.load(path, targets=["y"], split=split, descriptors=descriptors)
    start = time.process_time()
    config = training.read_config(overrides=settings, bundle=bundle)
    result = training.fit(bundle, config, folder / f"{path.stem}-{way}-{seed}", progress=False)
    metric = bundle.task.metric
    return metric, result.validation[metric], result.test[metric], time.process_time() - start


def grown(path, split):
    """The same of a random forest and of boosted trees."""
    bundle = datasets.load(path, targets=["y"], split=split, descriptors=[*baseline.DESCRIPTORS])
    start = time.process_time()
    found = baseline.fit_baseline(bundle)
    seconds = time.process_time() - start
    return {kind: (found.metric, own["validation"], own["test"], seconds) for kind, own in found.scores.items()}


def beside(program, path, split, epochs, folder):
    """The same of chemprop, which trains on the same rows and chooses its epoch by the same ones."""
    bundle = datasets.load(path, targets=["y"], split=split)
    task, scaling = bundle.task, Scaling.of(bundle)
    with path.open(newline="") as stream:
        rows = [*csv.reader(stream)][1:]
    assert len(rows) == len(bundle.graphs), "a row cannot be read, so rows and graphs are not the same"
    parts = {"train": bundle.split.train, "val": bundle.split.validation, "test": bundle.split.test}
    place = folder / f"{path.stem}-chemprop"
    whole = folder / f"{path.stem}-split.csv"
    write_rows(whole, ["smiles", "y", "split"], [[*rows[i], part] for part, index in parts.items() for i in index])
    kind, metric = ("regression", "mae") if task.kind == "regression" else ("classification", "roc")
    columns = ["--smiles-columns", "smiles", "--accelerator", "cpu", "--devices", "1"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    called = [program, "train", "-i", whole, "-o", place]
    asked_for = ["--target-columns", "y", "--task-type", kind, "--metrics", metric]
    chosen = ["--splits-column", "split", "--epochs", str(epochs), "--pytorch-seed", "0"]
    subprocess.run([*called, *asked_for, *chosen, *columns], check=True, capture_output=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    scores = []
    for part in ("val", "test"):
        asked, answered = (folder / f"{path.stem}-{part}-{end}.csv" for end in ("asked", "answered"))
        write_rows(asked, ["smiles"], [[rows[i][0]] for i in parts[part]])
        model = next(place.rglob("best.pt"))
        subprocess.run(
            [program, "predict", "-i", asked, "-o", answered, "--model-paths", model, *columns],
            check=True,
            capture_output=True,
        )
        with answered.open(newline="") as stream:
            found = torch.tensor([[float(row["y"])] for row in csv.DictReader(stream)])
        outputs = scaling.standardise(found if task.kind == "regression" else found.logit())
        scores.append(score(task, scaling, outputs, bundle.graphs[parts[part]].column("y"))[task.metric])
    return task.metric, *scores, seconds


def write_rows(path, header, rows):
    """A table as a file."""
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


def main():
    """Measure, show and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA", ""))
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--table", action="append", choices=TABLES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--trees", action="store_true")
    parser.add_argument("--chemprop", metavar="PROGRAM", help="its command, wherever it is installed")
    options = parser.parse_args()
    if not options.data:
        raise SystemExit("no data: say --data FOLDER, or set ESCGNN_DATA")
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name in options.table or TABLES:
            path = written(name, Path(options.data), folder)
            split = TABLES[name][2]
            kept = {}
            for way in options.way or WAYS:
                runs = [learnt(way, path, split, seed, options.epochs, folder) for seed in range(options.seeds)]
                kept[way] = (runs[0][0], *np.mean([run[1:] for run in runs], axis=0).tolist())
                console.print(name, way, kept[way])
            if options.trees:
                kept.update(grown(path, split))
            if options.chemprop:
                kept["chemprop"] = beside(options.chemprop, path, split, options.epochs, folder)
            show(name, kept)
            settings = {"epochs": options.epochs, "seeds": options.seeds}
            record("tables", {"settings": settings, "table": name, "ways": kept})


def show(name, kept):
    """A table on the terminal."""
    metric = next(iter(kept.values()))[0]
    table = Table(title=f"{name}: {metric}")
    for column in ("", "validation", "test", "CPU s"):
        table.add_column(column, justify="left" if not column else "right")
    for way, (_, validation, test, seconds) in kept.items():
        table.add_row(way, f"{validation:.4f}", f"{test:.4f}", f"{seconds:.0f}")
    console.print(table)


if __name__ == "__main__":
    main()
