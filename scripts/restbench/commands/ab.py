"""`ab`: two commits, built and measured in the same rounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from restbench.commands import measuring
from restbench.commands.options import CellsOption, MinutesOption, note
from restbench.deploy import builds
from restbench.experiment import experiment
from restbench.experiment.order import Order
from restbench.failures import BadConfiguration, Regression, counted
from restbench.machine import machine_lock
from restbench.show import findings
from restbench.show.kinds import builds as shown
from restbench.store import exported, store
from restbench.store.writing import write_text

_COMMIT = "A commit of this repository, or '.' for the working tree as it is."


def compare_builds(  # noqa: PLR0913 - one option each
    first: Annotated[str, typer.Argument(metavar="COMMIT_A", help=_COMMIT)],
    second: Annotated[str, typer.Argument(metavar="COMMIT_B", help=_COMMIT)],
    cells: CellsOption = "",
    minutes: MinutesOption = 0.0,
    *,
    name: Annotated[
        str,
        typer.Option(
            "--experiment", metavar="NAME", help="An experiment with thresholds, or its .toml."
        ),
    ] = "ab",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JUnit report with a case per cell.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the result and its table as Markdown."),
    ] = None,
) -> None:
    """Build two commits and measure both: is B worse?"""
    order = _order(name, cells, minutes)
    for path in filter(None, (junit, summary)):
        if not path.absolute().parent.is_dir():
            raise BadConfiguration(f"{path}: its folder does not exist")
        if path.is_dir():
            raise BadConfiguration(f"{path}: is a folder: give the name of a file")
    commits = builds.resolved({"A": first, "B": second})
    machine_lock.take()
    settings = order.experiment.settings
    services = {each.cell.service for each in order.plan}
    wanted = {each: settings.get(each, {}) for each in services}
    with builds.built(commits, wanted, note) as made:
        rows, failure = measuring.measured(replace(order, builds=made), None)
    run = store.open_run("latest")
    found = shown.of(findings.of(exported.read(run.exported_file), run))
    if junit:
        write_text(junit, shown.as_junit(found))
    if summary:
        write_text(summary, shown.as_markdown(found))
    measuring.end(rows, failure)
    if found.beyond:
        names = ", ".join(each.name for each in found.beyond)
        cells_beyond = counted(len(found.beyond), "cell")
        raise Regression(f"B is beyond the thresholds in {cells_beyond}: {names}")


def _order(name: str, cells: str, minutes: float) -> Order:
    """The order. BadConfiguration if no builds are compared, or a cell is in one of them only."""
    if experiment.load(store.experiment_file(name)).thresholds is None:
        raise BadConfiguration(
            f"experiment '{name}' has no table [thresholds]: it compares no builds"
        )
    order = measuring.order_for(name, measuring.DEFAULT_PROFILE, cells, [], minutes)
    planned = {each.cell for each in order.plan}
    for cell in planned:
        if cell.model_copy(update={"build": "B" if cell.build == "A" else "A"}) not in planned:
            raise BadConfiguration(f"--cells {cells}: {cell.id} is in one build only")
    return order
