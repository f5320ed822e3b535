"""Commands about the paper's tables: reproduce, report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from escgnn import terminal
from escgnn.cli.options import file_path, folder_path
from escgnn.cli.understanding import Data, reviewed

if TYPE_CHECKING:
    from escgnn.records import Record


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="counting, generalisation, ablation, isomorphism, brec, molecules, parts, substructures, statistics, "
            "efficiency, side-by-side, storage, qm9, classification, or, with all systems at equal machine time, "
            "rivals-counting, rivals-cycles, rivals-isomorphism or rivals-molecules.",
        ),
    ],
    budget: Annotated[
        str, typer.Option(help="smoke to see that it runs, hour for two cores, paper for a GPU.")
    ] = "hour",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of everything that is trained.")] = 1,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Only this row of the tables; may be repeated.")
    ] = None,
    variants: Annotated[
        list[str] | None,
        typer.Option("--variant", help="Only what has this in its name, such as zinc-12k or nested; may be repeated."),
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of the records.", callback=folder_path)] = Path("results"),
    work: Annotated[
        Path, typer.Option(help="Folder for what a stopped run goes on from.", callback=folder_path)
    ] = Path("runs"),
) -> None:
    """Run what is missing of a table of the paper; every run leaves a record."""
    from escgnn import experiments
    from escgnn.report import build

    experiment = experiments.find(name)
    with terminal.still_alive(f"reproducing {name}") as sign:

        def show(record: "Record", number: int, total: int) -> None:
            terminal.show_record(record, number, total)
            sign(f"{number} of {total} done")

        experiments.reproduce(
            experiment,
            budget,
            seeds=seeds,
            rows=rows or (),
            variants=variants or (),
            results=results,
            work=work,
            report=show,
        )
    terminal.show_report(build(results, [experiment]))


def report(
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]", help="Folder of a run, to look at it alone.", callback=folder_path, show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write: .html or .md.", callback=file_path)
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of the records.", callback=folder_path)] = Path("results"),
    data: Data = None,
) -> None:
    """Show all recorded runs beside the paper's numbers, on the terminal or as one page; or one run as a page of its own.

    The page of a run has its metrics with intervals, learning curves and settings and, given its data, plots of predictions,
    errors by distance to the training set and the worst molecules; without -o it is written to report.html in its folder, that of
    a run on the hub to a file of its name here.
    """
    if run is not None:
        from escgnn import hub
        from escgnn.review import write_page

        place = Path(f"{hub.name_of(run)}.html") if hub.is_address(run) else run / "report.html"
        terminal.show_written(write_page(reviewed(run, data), output or place))
        return
    from escgnn.experiments import EXPERIMENTS
    from escgnn.report import build, write

    if output is None:
        terminal.show_report(build(results, EXPERIMENTS.values()))
    else:
        terminal.show_written(write(results, output, EXPERIMENTS.values()))
