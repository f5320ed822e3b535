"""``python -m tests.mutants``: put each fault into a copy of the package, and say how many the tests notice."""

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")

from filelock import FileLock

from escgnn.disk import atomic
from tests.mutants.running import ENDLESS, Run, Trial, copy_tree, finished, load_libraries, put
from tests.mutants.stated import ROOT, Mutant, read

KEPT = ROOT / ".mutants" / "results.json"
PLAIN_NAME = re.compile(r"[\w./:\[\] -]+")
# Seconds of a processor that tests may take. Where kernels are interpreted, those that have not failed by then pass.
PATIENCE = {False: 600, True: 30}


class Results:
    """What is known of each mutant, kept in a file, so that a run that was ended goes on where it was.

    Attributes:
        trials: What came of it, by digest.
        noticed: The test that noticed it the last time, by name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read()

    def add(self, digest: str, name: str, trial: Trial) -> None:
        """Keep one more; another process may have added some."""
        self.path.parent.mkdir(exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            self._read()
            self.trials[digest] = trial
            if trial.failed:
                self.noticed[name] = trial.failed
            trials = {key: asdict(one) for key, one in self.trials.items()}
            with atomic(self.path) as draft:
                draft.write_text(json.dumps({"trials": trials, "noticed": self.noticed}, indent=1))

    def _read(self) -> None:
        kept = json.loads(self.path.read_text()) if self.path.is_file() else {"trials": {}, "noticed": {}}
        self.trials = {digest: Trial(**values) for digest, values in kept["trials"].items()}
        self.noticed: dict[str, str] = kept["noticed"]


def chosen(mutants: Iterable[Mutant], only: str) -> list[Mutant]:
    """Those whose name holds this text, in upper or lower case."""
    return [mutant for mutant in mutants if only.lower() in mutant.name.lower()]


def run_all(mutants: list[Mutant], results: Results, processes: int) -> None:
    """Run those of which nothing is known yet.

    Raises:
        SystemExit: A test that noticed a fault fails without it, too, or tests cannot be run.
    """
    todo = [mutant for mutant in mutants if mutant.digest(ROOT) not in results.trials]
    if not todo:
        return
    load_libraries()
    passing: set[tuple[tuple[str, ...], bool]] = set()  # tests that pass without a fault, and whether interpreted
    with TemporaryDirectory(prefix="escgnn-mutants-") as scratch:
        trees = [copy_tree(ROOT, Path(scratch) / str(number)) for number in range(processes)]
        digests = {mutant: mutant.digest(trees[0]) for mutant in todo}  # as it was when it was copied
        queue = [*todo]
        running: dict[Run, tuple[Mutant, str]] = {}
        try:
            while queue or running:
                while queue and trees:
                    mutant = queue.pop(0)
                    tree = trees.pop()
                    original = (tree / mutant.file).read_text()
                    put(tree / mutant.file, mutant.applied(tree))
                    tests = likeliest_first(mutant, results.noticed.get(mutant.name, ""), tree)
                    patience = mutant.patience or PATIENCE[mutant.interpreted]
                    run = Run(tree, tests, mutant.interpreted, patience)
                    running[run] = (mutant, original)
                for run, trial in finished([*running]):
                    mutant, original = running.pop(run)
                    put(run.tree / mutant.file, original)
                    verdict = _lenient(trial, mutant.interpreted)
                    witness = (witnesses(mutant, verdict.failed), mutant.interpreted)
                    if verdict.failed and witness not in passing:
                        check_sound(run.tree, *witness)
                        passing.add(witness)
                    trees.append(run.tree)
                    keep(mutant, digests[mutant], verdict, results)
        finally:  # an error or an interrupt leaves nothing behind
            for run in running:
                run.end()


def witnesses(mutant: Mutant, failed: str) -> tuple[str, ...]:
    """The test that failed, with its parameters if pytest can find it by them; all if it was none in particular."""
    if "::" not in failed:
        return mutant.tests
    return (failed if PLAIN_NAME.fullmatch(failed) else failed.partition("[")[0],)


def likeliest_first(mutant: Mutant, noticed_by: str, tree: Path) -> tuple[str, ...]:
    """Its tests, before them the one that noticed it the last time, if that is still there."""
    test = noticed_by.partition("[")[0]
    path, _, name = test.partition("::")
    is_there = name != "" and (tree / path).is_file() and f"def {name}(" in (tree / path).read_text()
    return (test, *mutant.tests) if is_there else mutant.tests


def check_sound(tree: Path, tests: tuple[str, ...], interpreted: bool) -> None:
    """Without a fault the tests that noticed it must pass, or it says nothing that they fail."""
    ((_, trial),) = finished([Run(tree, tests, interpreted, PATIENCE[False])])
    if trial.failed or trial.broken:
        sys.exit(f"{' '.join(tests)}: {trial.failed} fails without a fault\n{trial.broken}")


def keep(mutant: Mutant, digest: str, trial: Trial, results: Results) -> None:
    """Say what came of it, and remember it."""
    tests = " ".join(mutant.tests)
    if trial.broken:
        sys.exit(f"{mutant.name}: {tests} cannot be run:\n{trial.broken}")
    results.add(digest, mutant.name, trial)
    verdict = f"noticed by {trial.failed}" if trial.failed else "NOT NOTICED"
    print(f"{mutant.name}: {verdict} ({trial.seconds:.0f} s)", flush=True)


def _lenient(trial: Trial, interpreted: bool) -> Trial:
    """Tests that take long because kernels are not compiled have not failed; those that should be quick have."""
    return replace(trial, failed="") if interpreted and trial.failed == ENDLESS else trial


def report(mutants: list[Mutant], results: Results) -> bool:
    """Print the table, and whether every fault that can be noticed was."""
    equivalent = [mutant for mutant in mutants if mutant.equivalent]
    trials = {mutant: results.trials.get(mutant.digest(ROOT)) for mutant in mutants if not mutant.equivalent}
    noticed = [mutant for mutant, trial in trials.items() if trial and trial.failed]
    missed = [mutant for mutant, trial in trials.items() if trial and not trial.failed]
    groups = [mutants, equivalent, noticed, missed]
    print(f"\n{'area':12}{'stated':>8}{'equivalent':>12}{'noticed':>9}{'missed':>8}{'not run':>9}{'share':>9}")
    for area in [*dict.fromkeys(mutant.area for mutant in mutants), ""]:
        counts = [sum(area in ("", mutant.area) for mutant in group) for group in groups]
        ran = counts[2] + counts[3]
        share = f"{counts[2] / ran:.1%}" if ran else ""
        left = counts[0] - counts[1] - ran
        print(f"{area or 'all':12}{counts[0]:8}{counts[1]:12}{counts[2]:9}{counts[3]:8}{left:9}{share:>9}")
    for mutant in equivalent:
        print(f"equivalent: {mutant.name}: {mutant.equivalent}")
    for mutant in missed:
        print(f"missed: {mutant.name}")
    return len(noticed) == len(trials)


def main() -> int:
    """Run, report; 1 if a fault was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="those whose area, file or fault holds this text")
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2), help="that run tests at the same time")
    parser.add_argument("--nice", type=int, default=10, help="how much others come first: it takes a while")
    given = parser.parse_args()
    mutants = chosen(read(), given.only)
    results = Results(KEPT)
    os.nice(given.nice)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run_all([mutant for mutant in mutants if not mutant.equivalent], results, given.processes)
    return 0 if report(mutants, results) else 1


if __name__ == "__main__":
    sys.exit(main())
