"""What it costs to read molecules, beside RDKit's parsing alone: processor time, all in one run, taking turns.

    python benchmarks/reading.py [--data FOLDER] [--quick]

The floor is ``Chem.MolFromSmiles`` and nothing else. Above it: bare graphs (what `encode` and `count` read), those with the
features of OGB and of ZINC (what `train` and `predict` read), and `encode` and `count` from a file of SMILES to one of results.
Every run is appended to `history.jsonl`.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rdkit import Chem, rdBase
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.measure import record
from escgnn.datasets import from_parsed, parse_molecules
from escgnn.encoding import RootedEncoding
from escgnn.jobs import count_file, encode_file
from escgnn.readers import GraphFile

console = Console(width=110)
GOALS = {"bare graphs": 1.25, "OGB features": 1.8, "ZINC features": 1.8, "encode, h = 2": 1.6}
MOLECULES = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1CCC[C@H]1c1cccnc1",
    "O=C(O)c1ccc(Cl)cc1N",
    "C[N+](C)(C)CC(=O)[O-]",
    "C1CC2CCC1C2",
)


def smiles_of(data, count):
    """ZINC's molecules, or variations of a few where there is no data."""
    file = Path(data) / "zinc" / "zinc12k_smiles.txt" if data else None
    if file is not None and file.is_file():
        return "ZINC-12k", file.read_text().split()[:count]
    return "a few molecules", [f"{'C' * (number % 7)}{MOLECULES[number % len(MOLECULES)]}" for number in range(count)]


def parse_alone(texts):
    """The floor."""
    with rdBase.BlockLogs():
        for text in texts:
            Chem.MolFromSmiles(text)


def ways(texts, folder):
    """What is measured, by name."""
    source = folder / "in.smi"
    source.write_text("\n".join(texts) + "\n")
    encoding = RootedEncoding(2)

    def features(kind):
        for rows in GraphFile(source).rows(None):
            from_parsed(parse_molecules(rows.texts, kind))

    return {
        "RDKit's parsing alone": lambda: parse_alone(texts),
        "bare graphs": lambda: [None for _ in GraphFile(source)],
        "OGB features": lambda: features("ogb"),
        "ZINC features": lambda: features("zinc"),
        "encode, h = 2": lambda: encode_file(source, folder / "encoded.parquet", encoding),
        "count 6-cycles": lambda: count_file(source, folder / "counted.parquet", "6-cycle"),
    }


def processor_times(jobs, rounds):
    """Seconds of processor time of each, all threads, the least of some rounds after one that warms up."""
    best = dict.fromkeys(jobs, float("inf"))
    for number in range(rounds + 1):
        for name, job in jobs.items():
            begin = time.process_time()
            job()
            seconds = time.process_time() - begin
            if number:
                best[name] = min(best[name], seconds)
    return best


def main():
    """Measure, show and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ESCGNN_DATA"), help="folder of raw benchmark data")
    parser.add_argument("--quick", action="store_true", help="fewer molecules, no record")
    options = parser.parse_args()
    name, texts = smiles_of(options.data, 1000 if options.quick else 10000)
    with TemporaryDirectory() as folder:
        seconds = processor_times(ways(texts, Path(folder)), 3 if options.quick else 5)
    floor = seconds["RDKit's parsing alone"]
    table = Table("", "us a molecule", "times the floor", "goal", title=f"Reading {len(texts):,} molecules, {name}")
    for way, taken in seconds.items():
        goal = GOALS.get(way)
        table.add_row(way, f"{taken / len(texts) * 1e6:.1f}", f"{taken / floor:.2f}", f"{goal}" if goal else "")
    console.print(table)
    if not options.quick:
        ratios = {way: taken / floor for way, taken in seconds.items()}
        record("reading", {"molecules": name, "count": len(texts), "cpu_seconds": seconds, "times_the_floor": ratios})


if __name__ == "__main__":
    main()
