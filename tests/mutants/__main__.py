"""``python -m tests.mutants``: put each fault into a copy of the package, and say how many the tests notice."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")

from filelock import FileLock

from escgnn.disk import atomic
from tests.mutants.running import ENDLESS, Manner, Order, Run, Trial, copy_tree, finished, load_libraries, put
from tests.mutants.stated import ROOT, Mutant, read

KEPT = ROOT / ".mutants" / "results.json"
# Seconds of a processor that tests may take. Where kernels are interpreted, those that have not failed by then pass.
PATIENCE = {False: 180, True: 30}
AT_ONCE = 8  # faults whose witnesses are heard together without them


class Results:
    """What is known of each mutant, kept in a file, so that a run that was ended goes on where it was.

    Attributes:
        trials: What came of it, by digest.
        noticed: The test that noticed it the last time, by name.
        seconds: How long tests took at best, to pass or to fail, by whether kernels are interpreted and name of the test.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read()

    def of(self, mutant: Mutant) -> Trial | None:
        """What is known of a fault, if nothing has changed since."""
        witness = self.noticed.get(mutant.name, "")
        return self.trials.get(mutant.digest(ROOT, witness)) or self.trials.get(mutant.digest(ROOT))

    def add(self, mutant: Mutant, trial: Trial, tree: Path) -> None:
        """Keep one more, that came of a copy; another process may have added some."""
        with self._changing():
            self.trials[mutant.digest(tree, trial.failed)] = trial

    def learn(self, mutant: Mutant, failed: str, seconds: dict[str, float]) -> None:
        """Keep what makes the next time quicker: who noticed, and how long tests took at best, for some set up what all share."""
        with self._changing():
            if "::" in failed:
                self.noticed[mutant.name] = failed
            known = self.seconds[_kind(mutant.interpreted)]
            known.update({test: min(took, known.get(test, took)) for test, took in seconds.items()})

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self.path.parent.mkdir(exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            self._read()
            yield
            trials = {key: asdict(one) for key, one in self.trials.items()}
            with atomic(self.path) as draft:
                draft.write_text(
                    json.dumps({"trials": trials, "noticed": self.noticed, "seconds": self.seconds}, indent=1)
                )

    def _read(self) -> None:
        kept = json.loads(self.path.read_text()) if self.path.is_file() else {}
        self.trials = {digest: Trial(**values) for digest, values in kept.get("trials", {}).items()}
        self.noticed: dict[str, str] = kept.get("noticed", {})
        self.seconds: dict[str, dict[str, float]] = kept.get("seconds", {_kind(False): {}, _kind(True): {}})


def _kind(interpreted: bool) -> str:
    return "interpreted" if interpreted else "compiled"


def chosen(mutants: Sequence[Mutant], words: Iterable[str]) -> list[Mutant]:
    """Those whose name holds one of these words, in upper or lower case; those of the first word first."""
    found = [mutant for word in words for mutant in mutants if word.lower() in mutant.name.lower()]
    return [*dict.fromkeys(found)]


def run_all(mutants: list[Mutant], results: Results, processes: int) -> None:
    """Run those of which nothing is known yet."""
    queue = [mutant for mutant in mutants if results.of(mutant) is None]
    queue.sort(key=lambda mutant: mutant.name in results.noticed)  # first those that nobody has noticed yet
    if not queue:
        return
    load_libraries()
    with TemporaryDirectory(prefix="escgnn-mutants-") as scratch:
        trees = [copy_tree(ROOT, Path(scratch) / str(number)) for number in range(processes)]
        court = Court(results)
        running: dict[Run, tuple[Mutant, str]] = {}
        try:
            while queue or running:
                while queue and trees:
                    mutant = queue.pop(0)
                    tree = trees.pop()
                    original = (tree / mutant.file).read_text()
                    put(tree / mutant.file, mutant.applied(tree))
                    running[start(mutant, tree, results)] = (mutant, original)
                for run, trial in finished([*running]):
                    mutant, original = running.pop(run)
                    put(run.tree / mutant.file, original)
                    trees.append(run.tree)
                    results.learn(mutant, trial.failed, run.seconds)
                    court.hear(mutant, trial, run.tree)
            court.decide(trees[0])
        finally:  # an error or an interrupt leaves nothing behind
            for run in running:
                run.end()


def start(mutant: Mutant, tree: Path, results: Results) -> Run:
    """Run its tests on a copy that has the fault."""
    seconds = results.seconds[_kind(mutant.interpreted)]
    order = Order(mutant.tests, results.noticed.get(mutant.name, ""), seconds)
    patience = mutant.patience or PATIENCE[mutant.interpreted]
    return Run(tree, order, Manner(patience, mutant.interpreted, apart=mutant.file.startswith("escgnn/kernels/")))


class Court:
    """Hears what came of faults, and believes a test that failed only if it passes without the fault."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._open: list[tuple[Mutant, Trial]] = []
        self._passing: set[tuple[bool, str]] = set()  # whether interpreted, and tests that pass without a fault

    def hear(self, mutant: Mutant, trial: Trial, tree: Path) -> None:
        """Say what came of a fault; what was noticed is kept after a look at the tests, many at a time."""
        if mutant.interpreted and not mutant.patience and trial.failed == ENDLESS:  # slow because nothing is compiled
            trial = replace(trial, failed="")
        verdict = f"noticed by {trial.failed}" if trial.failed else "NOT NOTICED"
        if trial.broken:
            verdict = f"{' '.join(mutant.tests)} cannot be run:\n{trial.broken}"
        print(f"{mutant.name}: {verdict} ({trial.seconds:.0f} s)", flush=True)
        if trial.failed:
            self._open.append((mutant, trial))
        elif not trial.broken:
            self.results.add(mutant, trial, tree)
        if len(self._open) == AT_ONCE:
            self.decide(tree)

    def decide(self, tree: Path) -> None:
        """Run all tests that noticed something on a copy without a fault, and keep what those noticed that pass."""
        for interpreted in (False, True):
            witnesses = [_witnesses(*heard) for heard in self._open if heard[0].interpreted == interpreted]
            self._ask({test for tests in witnesses for test in tests}, interpreted, tree)
        for mutant, trial in self._open:
            if all((mutant.interpreted, test) in self._passing for test in _witnesses(mutant, trial)):
                self.results.add(mutant, trial, tree)
        self._open = []

    def _ask(self, tests: set[str], interpreted: bool, tree: Path) -> None:
        """Remember which of these tests pass without a fault, and name those that fail."""
        left = {test for test in tests if (interpreted, test) not in self._passing}
        while left:
            files = tuple(sorted({test.partition("::")[0] for test in left}))
            order = Order(files, seconds=self.results.seconds[_kind(interpreted)], only=frozenset(left))
            run = Run(tree, order, Manner(PATIENCE[interpreted] * len(left), interpreted))
            ((_, trial),) = finished([run])
            if not trial.broken and (not trial.failed or (interpreted and trial.failed == ENDLESS)):
                self._passing |= {(interpreted, test) for test in left}
                return
            print(f"{trial.failed or ' '.join(files)} fails without a fault\n{trial.broken}", flush=True)
            left -= {test for test in left if trial.failed.startswith(test)} or left


def _witnesses(mutant: Mutant, trial: Trial) -> tuple[str, ...]:
    """The test that failed; all if it was none in particular."""
    return (trial.failed,) if "::" in trial.failed else mutant.tests


def report(mutants: list[Mutant], results: Results) -> bool:
    """Print the table, and whether every fault that can be noticed was."""
    equivalent = [mutant for mutant in mutants if mutant.equivalent]
    trials = {mutant: results.of(mutant) for mutant in mutants if not mutant.equivalent}
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
    parser.add_argument("--only", default=[""], nargs="+", help="those whose area, file or fault holds such a text")
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
