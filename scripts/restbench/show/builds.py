"""Two builds compared, for a terminal, as Markdown and as JUnit XML: what a build server shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rich.table import Table
from rich.text import Text

from restbench.analyse.measures import Row
from restbench.experiment.cell import Build
from restbench.experiment.columns import HEADINGS, readable
from restbench.experiment.experiment import Experiment
from restbench.experiment.records import BuiltCommit
from restbench.judge import builds
from restbench.judge.builds import Held, Pair
from restbench.judge.verdicts import ratio_text
from restbench.show import markdown

_STYLES = {"beyond": "bold red", "no number": "yellow", "undecided": "yellow"}


@dataclass(frozen=True)
class Comparison:
    """What a run says of its two builds."""

    sentence: str
    pairs: tuple[Pair, ...]
    started: str
    """When the run began, ISO 8601."""
    HEAD: ClassVar = ("Cell", "Metric", "A", "B", "B / A, 95 %", "Threshold", "Verdict")

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """The table beneath HEAD, a line for each ratio."""
        return [_line(pair, held) for pair in self.pairs for held in pair.held]

    @property
    def sure(self) -> str:
        """How it was measured, for who asks why to believe it."""
        blocks = max((pair.blocks for pair in self.pairs), default=0)
        return (
            f"Both builds were up and warm at once, their trials interleaved at random; ratios are "
            f"paired over {blocks} blocks of fresh services."
        )

    @property
    def beyond(self) -> tuple[Pair, ...]:
        """The cells in which B is worse than its thresholds allow."""
        return tuple(each for each in self.pairs if each.state == "beyond")


class Manifest(Protocol):
    """What a run's manifest, or its entry in `run.json`, says of it."""

    @property
    def builds(self) -> Mapping[Build, BuiltCommit]:
        """The commits that were compared."""

    @property
    def started(self) -> str:
        """When it began, ISO 8601."""


def of(definition: Experiment, rows: Sequence[Row], manifest: Manifest) -> Comparison | None:
    """The comparison that a run made; None of a run that compared no builds."""
    if definition.thresholds is None:
        return None
    found = builds.pairs(rows, definition.thresholds)
    return Comparison(builds.sentence(found, manifest.builds), tuple(found), manifest.started)


def terminal(found: Comparison) -> Table:
    """A line for each ratio, without the thresholds: a line of 100 columns has no room for them."""
    table = Table(box=None, pad_edge=False)
    table.add_column("Cell", no_wrap=True)
    for heading in ("", "A", "B", "B / A, 95 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Verdict")
    for pair in found.pairs:
        for held in pair.held:
            _, metric, first, second, ratio, _, verdict = _line(pair, held)
            shown = Text(verdict, style=_STYLES.get(verdict, ""))
            name = _short(pair) if held is pair.held[0] else ""
            table.add_row(name, metric, first, second, Text(ratio), shown)
    return table


def _short(pair: Pair) -> str:
    """`java serial low 10u`, and what else is unusual but the build."""
    cell = pair.second.cell
    levels = [each for each in (cell.placement, *cell.unusual) if each not in ("unbound", "B")]
    return " ".join([cell.service, cell.strategy, cell.complexity, f"{cell.users}u", *levels])


def _line(pair: Pair, held: Held) -> tuple[str, ...]:
    metric = held.limit.metric
    return (
        pair.name,
        HEADINGS[metric],
        readable(pair.first.value(metric)),
        readable(pair.second.value(metric)),
        ratio_text(held.comparison),
        str(held.limit),
        held.comparison.lack or held.state,
    )


def as_markdown(found: Comparison) -> str:
    """The sentence, then the table: fits a pull request's comment or a step's summary."""
    marks = ["---", "---", "---:", "---:", "---:", "---", "---"]
    table = markdown.table(list(found.HEAD), marks, [list(each) for each in found.lines])
    notes = [f"- {each}" for each in _warnings(found)]
    parts = [found.sentence, table, *(["Warnings:", "\n".join(notes)] if notes else [])]
    return "\n\n".join(parts) + "\n"


def _warnings(found: Comparison) -> list[str]:
    return [
        f"{row.cell.id}: {', '.join(map(str, row.warnings))}"
        for pair in found.pairs
        for row in (pair.first, pair.second)
        if row.warnings
    ]


def as_junit(found: Comparison) -> str:
    """A testcase for each cell: a failure beyond a threshold, an error without a number. What is
    undecided passes, and says so in its output."""
    beyond = len(found.beyond)
    lacking = sum(each.state == "no number" for each in found.pairs)
    counts = {"tests": str(len(found.pairs)), "failures": str(beyond), "errors": str(lacking)}
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": "restbench ab",
            **counts,
            "skipped": "0",
            "time": _seconds(*found.pairs),
            # The schema's date has no zone.
            "timestamp": found.started[:19],
        },
    )
    for pair in found.pairs:
        named = {"name": pair.name, "classname": f"restbench.ab.{pair.second.cell.service}"}
        case = ET.SubElement(suite, "testcase", named | {"time": _seconds(pair)})
        reasons = "\n".join(map(str, pair.held))
        if pair.state in ("beyond", "no number"):
            kind = "failure" if pair.state == "beyond" else "error"
            first = next(str(each) for each in pair.held if each.state == pair.state)
            ET.SubElement(case, kind, {"message": first, "type": pair.state}).text = reasons
        ET.SubElement(case, "system-out").text = reasons
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _seconds(*of_pairs: Pair) -> str:
    """What was measured of them."""
    rows = [row for pair in of_pairs for row in (pair.first, pair.second)]
    return f"{sum(each.seconds or 0.0 for row in rows for each in row.measured):.3f}"
