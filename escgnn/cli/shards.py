"""Commands about many files: status, split, and what encode, count and predict do when there are several."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from escgnn import terminal
from escgnn.cli.options import PRINTED, file_path, folder_path, is_smiles_text

if TYPE_CHECKING:  # so that help is printed without loading what it is about
    from escgnn.shards import Failed, ShardSummary, Status

SHOWN = 10  # files that failed


def status(folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Results of several files.")]) -> None:
    """Tell how far an encode, count or predict of several files is, whoever works on it."""
    from escgnn.shards import read_status

    _show_status(read_status(folder))


def split(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="A large file of graphs.", callback=file_path)],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for its pieces.", callback=folder_path)],
    rows: Annotated[int, typer.Option(min=1, help="Rows or lines of each; graphs of an edge list stay whole.")] = 1
    << 20,
) -> None:
    """Cut a large file into files of so many rows, which encode, count and predict work on side by side."""
    from escgnn.shards import split_file

    pieces = split_file(source, output, rows)
    _tell(f"{len(pieces):,} files written to {output}")


def is_for_many(inputs: Sequence[str], output: str | None, part: str | None, engine: str) -> bool:
    """Whether a command makes a folder of results: of several inputs, or because it says so.

    Raises:
        typer.BadParameter: The output is a file, but there are several inputs, or options that are about several.
    """
    several = len(inputs) > 1 or any("://" in text or Path(text).is_dir() or _is_pattern(text) for text in inputs)
    asked = f"--part {part}" if part else f"--engine {engine}"
    is_folder = output is not None and (output.endswith("/") or "://" in output or Path(output).is_dir())
    if not several and not is_folder and not part and engine == "local":
        return False
    if output is None or output == str(PRINTED) or (not is_folder and Path(output).suffix):
        what = "several files" if several else asked
        raise typer.BadParameter(f"{what} make a folder of results; give one, such as -o results/")
    folder_path(Path(output))
    return True


def _is_pattern(text: str) -> bool:
    return any(letter in text for letter in "*?") and not Path(text).exists() and not is_smiles_text(text)


def shard_options(
    part: str | None, engine: str, workers: int, address: str | None, rows: int, output: str | None
) -> dict[str, Any]:
    """What `escgnn.shards.run_shards` is told, beside the job and its files."""
    from escgnn.engines import named_engine
    from escgnn.shards import read_part

    return {
        "folder": str(output),
        "engine": named_engine(engine, workers, address),
        "rows": rows,
        **({} if part is None else {"part": read_part(part)}),
    }


def end_of_shards(summary: "ShardSummary", *, predicts: bool = False) -> None:
    """Show what became of many files; exit code 3 says that some failed."""
    _show_shards(summary, predicts)
    if summary.failed:
        raise typer.Exit(3)


def _show_shards(summary: "ShardSummary", predicts: bool) -> None:
    done = summary.shards - len(summary.failed)
    again = f", {summary.skipped:,} of them earlier" if summary.skipped else ""
    _tell(f"{done:,} of {summary.shards:,} files done{again}; {summary.seconds:.1f} s")
    _show_rows(summary, predicts)
    for name, total in summary.totals.items():
        _tell(f"sum of {name}: {total:,}")
    _show_failed(summary.failed)
    _tell(f"written to {summary.folder}")


def _show_status(status: "Status") -> None:
    _tell(
        f"{status.command}: {status.done:,} of {status.shards:,} files done, {len(status.failed):,} failed, {status.left:,} left"
    )
    _show_rows(status, predicts=status.command == "predict")
    if status.hosts:
        left = "" if status.seconds_left is None else f"; about {status.seconds_left:,.0f} s left"
        _tell(f"{status.rate:,.0f} graphs/s on {', '.join(status.hosts[:5])}{left}")
        _tell(f"{status.cpu_seconds:,.0f} s of processor time so far")
    _show_failed(status.failed)


def _show_rows(of: "ShardSummary | Status", predicts: bool) -> None:
    """What is in the tables; predictions keep bad rows, with a reason in the place of a prediction."""
    without = f" ({of.rows - of.graphs:,} without a prediction)" if predicts else ""
    _tell(f"{of.graphs:,} graphs, {of.rows:,} rows written{without}, {of.rejected:,} bad rows left out")


def _show_failed(failed: "Sequence[Failed]") -> None:
    for one in failed[:SHOWN]:
        _tell(f"{one.name} ({one.source}) failed: {one.reason}", style="yellow")
    if len(failed) > SHOWN:
        _tell(f"and {len(failed) - SHOWN:,} more", style="yellow")


def _tell(text: str, style: str | None = None) -> None:
    terminal.console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
