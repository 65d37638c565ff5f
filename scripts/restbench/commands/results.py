"""`report`, `bottleneck`, `dashboard`, `keep`, `browse`: what is made from runs on disk."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from typing import Annotated

import typer

from restbench.analyse import exported as exported_rows
from restbench.analyse.measures import Row
from restbench.commands.options import RunArgument, console, note
from restbench.drive import dashboards
from restbench.failures import BadConfiguration, counted
from restbench.judge import claims, study
from restbench.schedule import begin
from restbench.show import export, files, report, terminal, views
from restbench.show.browser import site
from restbench.show.kinds import bottleneck
from restbench.store import exported, store


def build_report(name: RunArgument = "latest") -> None:
    """Regenerate a run's tables, figures and page."""
    run = store.open_run(name)
    show(run, analyse(run)[1])


def show_bottleneck(name: RunArgument = "latest") -> None:
    """Print which tier limits each technique in a run."""
    run = store.open_run(name)
    found = exported_rows.rows(run)
    known = bottleneck.families(exported.read(run.exported_file), found)
    if not known:
        raise BadConfiguration(
            f"{run.path}: no cell of a closed load has the CPU time of both service and client"
        )
    console.print(terminal.drawn(bottleneck.terminal(known)))
    for line in (*map(bottleneck.sentence, known), bottleneck.summary(known)):
        console.print(line, soft_wrap=True)


def show_remaining(run: store.Run) -> None:
    """Print a run's claims with their verdicts or what they still need, and cells without time."""
    found = exported_rows.rows(run)
    if run.trials.path.exists():
        decided = claims.decisions(run, found)
    else:
        decided = claims.decisions_of(exported.read(run.exported_file))
    for decision in decided:
        console.print(f"{decision.id:14} {decision.headline}")
    for each in study.not_measured(found):
        console.print(each, soft_wrap=True)
    if not run.has_raw_data:
        return
    try:
        begin.block_durations_s(run)
    except BadConfiguration as instead:
        console.print(str(instead), soft_wrap=True)
    else:
        console.print(f"to measure more: restbench extend {run.name} --minutes N")


def with_raw_data(name: str) -> store.Run:
    """Open a run by its name. Raises BadConfiguration for a kept copy, which has no raw data."""
    run = store.open_run(name)
    if not run.has_raw_data:
        raise BadConfiguration(f"{run.path}: has no raw data; it may be a kept copy")
    return run


def build_dashboard(
    name: RunArgument,
    cell: Annotated[str, typer.Argument(help="A cell's id, as 'restbench plan' prints it.")],
) -> None:
    """Make the JMeter dashboard of one cell."""
    run = with_raw_data(name)
    for page in dashboards.write(run, cell):
        console.print(str(page), soft_wrap=True)


def keep_run(
    name: RunArgument,
    kept: Annotated[
        str,
        typer.Argument(
            help="Name of the copy's folder in results/. Without it, a kept copy is regenerated "
            "from its run.json."
        ),
    ] = "",
) -> None:
    """Copy a run without its raw data, to be kept in git."""
    if not kept:
        again = store.open_run(name)
        if not again.is_kept:
            raise BadConfiguration(f"{again.path}: has raw data, so its copy needs a name")
        export.judge_again(again)
        files.show_kept(again, site.write_page_assets(again.path.parent))
        console.print(str(again.path), soft_wrap=True)
        return
    run = with_raw_data(name)
    target = store.Run(store.RESULTS / kept)
    if "/" in kept or target.has_raw_data or (target.path.exists() and not target.is_kept):
        raise BadConfiguration(
            f"{target.path}: not allowed for a copy: the name contains '/', "
            "or the folder is no kept copy"
        )
    analyse(run)
    files.keep(run, target, site.write_page_assets(store.RESULTS))
    console.print(str(target.path), soft_wrap=True)


def browse_runs(
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the web browser of this desktop.")
    ] = False,
) -> None:
    """Write results/index.html: all runs as one page."""
    found, left_out = site.find(store.RESULTS)
    for line in left_out:
        console.print(f"left out  {line}", soft_wrap=True)
    if not found:
        none = f"{store.RESULTS}: no run to show yet; 'restbench run' makes one"
        console.print(none, soft_wrap=True)
        return
    page = site.write(store.RESULTS, found, left_out)
    console.print(f"browser   {page}  ({counted(len(found), 'run')})", soft_wrap=True)
    if open_page and not webbrowser.open(page.as_uri()):
        note("no web browser could be opened here: open the page by hand")


def analyse(run: store.Run) -> tuple[Sequence[Row], exported.RunExport]:
    """The rows of a run, and the `run.json` that is written from them. Without trials, as in a kept
    copy, both are of the `run.json` that is there: it is the only one of these results."""
    known = exported_rows.rows(run)
    if run.exported_file.exists() and not run.trials.path.exists():
        return known, exported.read(run.exported_file)
    return known, export.write(run, known, note)


def show(run: store.Run, reported: exported.RunExport) -> None:
    """Write tables, figures and page from `run.json`; print the results, the page last."""
    found = views.drawn(reported, run)
    drawn = files.write_figures(found)
    files.write_tables(found)
    report.write(found)
    console.print(terminal.render(found))
    console.print()
    console.print(f"tables      {run.test_matrix_csv.parent}", soft_wrap=True)
    if drawn:
        console.print(f"figures     {len(drawn)} in {run.figures}", soft_wrap=True)
    if run.dashboards.exists():
        console.print(f"dashboards  {run.dashboards}", soft_wrap=True)
    console.print(f"data        {run.exported_file}", soft_wrap=True)
    console.print(f"page        {run.report}", soft_wrap=True)
