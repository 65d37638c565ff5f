"""The study's tables and the proofs for a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from restbench.analyse.measures import Row
from restbench.experiment.records import Proof
from restbench.judge import study
from restbench.judge.claims import Decision
from restbench.judge.leader import answer
from restbench.judge.regret import Choosing, choosing
from restbench.judge.study import Section

_HEADINGS = {
    "throughput_per_s": "Req/s",
    "mean_ms": "Mean ms",
    "cpu_ms_per_request": "CPU ms/req",
    "service_cpu_pct": "CPU %",
    "memory_mib": "MiB",
}
#: More cells than that are no table to read in a terminal.
MOST_LISTED = 100
#: A line of 100 columns has room for one interval.
_INTERVAL_OF = "throughput_per_s"
_STYLES = {"DOES": "green", "DOES NOT": "bold red", "NOT PROVEN": "yellow"}


def render(
    rows: Sequence[Row], proofs: Sequence[Proof] = (), decisions: Sequence[Decision] = ()
) -> RenderableType:
    """The study's tables, the proofs, what the notes mean; last, where it is seen first, what the
    run says about the claims, and the answer.

    Cells outside the study's tables are counted, not listed, unless there are no others, and few.
    """
    everything = study.sections(rows)
    listed = [section for section in everything if section.in_study] or [
        section for section in everything if len(section.rows) <= MOST_LISTED
    ]
    meanings = study.flag_meanings(row for section in listed for _, row in section.rows)
    marks = {flag: _mark(n) for n, flag in enumerate(meanings)}
    parts: list[RenderableType] = []
    for table in [*(_table(section, marks) for section in listed), *_proofs(proofs)]:
        parts += [table, ""]
    parts += [Text(f"{marks[flag]}  {flag}: {meaning}") for flag, meaning in meanings.items()]
    parts += [Text(f"FAILED  {each}", style="yellow") for each in study.failures(rows)]
    if waiting := study.not_measured(rows):
        parts.append(
            Text(f"{len(waiting)} cells need more time: tables/test-matrix.md says how much")
        )
    left_out = sum(len(section.rows) for section in everything if section not in listed)
    if left_out:
        parts.append(Text(f"{left_out} more cells: tables/test-matrix.md", style="dim"))
    parts += [
        "",
        *claims_table(decisions, "tables/test-matrix.md"),
        *map(Text, answer(rows).sentences),
        *_regret(choosing(rows)),
    ]
    return Group(*parts)


def _mark(number: int) -> str:
    """a, b, c, ...: flags are long and a line is short."""
    return chr(ord("a") + number)


def _table(section: Section, marks: dict[str, str]) -> Table:
    table = Table(title=section.title, title_justify="left", title_style="bold")
    several_sizes = len(section.complexities) > 1
    for heading in _left_headings(section, several_sizes):
        table.add_column(heading, no_wrap=True)
    for heading in ("Users", *_HEADINGS.values()):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Notes")
    for test_id, row in section.rows:
        left = [test_id] if section.in_study else []
        left += [study.technique(row.cell)]
        left += [row.cell.complexity] if several_sizes else []
        values = [study.shown(row, metric, interval=metric == _INTERVAL_OF) for metric in _HEADINGS]
        notes = " ".join(marks[flag] for flag in study.marks(row))
        style = "yellow" if row.warnings else None
        table.add_row(*left, str(row.cell.users), *values, notes, style=style)
    return table


def _left_headings(section: Section, several_sizes: bool) -> list[str]:
    first = ["Test"] if section.in_study else []
    return [*first, "Technique", *(["Complexity"] if several_sizes else [])]


def claims_table(decisions: Sequence[Decision], page: str) -> list[RenderableType]:
    """A row a claim; `page` is where it is said why."""
    if not decisions:
        return []
    title = f"The study's claims, held against this run (why: {page})"
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in ("", "What it says", "Verdict"):
        table.add_column(heading)
    for each in decisions:
        table.add_row(Text(each.id), Text(each.text), Text(each.headline))
    return [table, ""]


def _regret(found: Choosing) -> list[RenderableType]:
    """In short; each cell stands in a table of its own."""
    if not found.regrets:
        return []
    return ["", *map(Text, found.summary()), Text("Each cell: tables/regret.md", style="dim")]


def _proofs(proofs: Sequence[Proof]) -> list[Table]:
    if not proofs:
        return []
    title = "Do the strategies do what their names say? (seen by the kernel)"
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in ("Strategy", "Verdict"):
        table.add_column(heading, no_wrap=True)
    table.add_column("What was seen")
    for proof in proofs:
        verdict = study.verdict(proof)
        name = f"{proof.service} {proof.strategy}"
        name += f" @{proof.placement}" if proof.placement != "unbound" else ""
        table.add_row(name, Text(verdict, style=_STYLES[verdict]), Text(proof.evidence))
    return [table]
