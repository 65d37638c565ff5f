"""Two builds compared: on the page, in a terminal, as Markdown and as JUnit XML, which a build
server shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from restbench.experiment.columns import HEADINGS
from restbench.experiment.study import Thresholds
from restbench.grouping import grouped
from restbench.judge import builds, trust
from restbench.judge.builds import Pair, ThresholdResult
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show.charts import forest, theme
from restbench.show.findings import Findings, View

_TONES = {
    "faulty": doc.BAD,
    "beyond": doc.BAD,
    "no number": doc.WARNING,
    "undecided": doc.WARNING,
    "within": doc.GOOD,
}
#: The number of a state's colour and shape.
_STYLES = {"within": 0, "beyond": 1, "undecided": 6, "no number": 7, "faulty": 2}
_HOW_TO_READ = (
    "Ratios are paired by block. A verdict is 'beyond' where the whole 95 % interval lies beyond "
    "the threshold (Holm over all ratios), 'within' where the 90 % interval does not extend "
    "beyond it, and 'faulty' where a block of the cell failed or gave a wrong answer in either "
    "build: its ratios then come from the other blocks."
)


@dataclass(frozen=True)
class Comparison:
    """What a run says of its two builds."""

    sentence: str
    pairs: tuple[Pair, ...]
    started: str
    """When the run began, ISO 8601."""

    @property
    def ratios(self) -> list[_Ratio]:
        """The ratio of every cell and metric, with its cell."""
        return [(pair, held) for pair in self.pairs for held in pair.held]

    @property
    def sure(self) -> str:
        """How the ratios were measured, as a reason to believe them."""
        blocks = trust.blocks_of(held.comparison.blocks for _, held in self.ratios)
        return (
            "Both builds ran at the same time and were warm; their trials were interleaved at "
            f"random. Ratios are paired over {blocks} of fresh services."
        )

    @property
    def beyond(self) -> tuple[Pair, ...]:
        """The cells in which B is worse than its thresholds allow."""
        return tuple(each for each in self.pairs if each.state == "beyond")


def of(found: Findings) -> Comparison:
    """The comparison that a run of two builds made."""
    pairs = builds.pairs(found.rows, found.definition.table(Thresholds))
    manifest = found.run.manifest
    return Comparison(builds.sentence(pairs, manifest.builds), tuple(pairs), manifest.started)


def page(_found: Findings, two: Comparison) -> doc.Section | None:
    """Every ratio with its threshold."""
    return doc.section("builds", "Is B worse than A?", _HOW_TO_READ, _table(two))


def _table(two: Comparison) -> doc.Table:
    return doc.table("B against A", _COLUMNS, two.ratios)


def terminal(two: Comparison) -> list[doc.Table]:
    """A line for each ratio, without the thresholds: a line of 100 columns has no room for them."""
    return [doc.table("B against A", (_NAMED_ONCE, *_COLUMNS[1:5], _COLUMNS[-1]), two.ratios)]


def charts(two: Comparison) -> list[theme.Chart | None]:
    """A panel per metric, a line per cell that was planned in both builds."""
    metrics = grouped(two.ratios, lambda of: HEADINGS[of[1].limit.metric])
    return [
        forest.chart(
            "builds-ratios",
            "Is B worse than A?",
            "The ratio B / A of each cell with its 95 % interval, paired by block. The band shows "
            "what the threshold allows. A hollow symbol has a warning.",
            forest.panels(metrics, "B / A", _entry),
            _STYLES,
        )
    ]


def _entry(of: _Ratio) -> forest.Entry:
    pair, held = of
    return forest.compared(
        held.comparison,
        pair.second,
        pair.name,
        pair.state_of(held),
        is_sure=not (pair.first.warnings or pair.second.warnings),
        note=held.comparison.lack or str(held.limit),
        margin=(min(1.0, held.limit.ratio), max(1.0, held.limit.ratio)),
    )


#: A cell with one of its ratios.
_Ratio: TypeAlias = tuple[Pair, ThresholdResult]


def _verdict(of: _Ratio) -> doc.Field:
    pair, held = of
    text = held.comparison.lack or pair.state_of(held)
    return doc.Field(text, _TONES.get(text, doc.WARNING))


#: The cell's name at its first ratio only.
_NAMED_ONCE: doc.Column[_Ratio] = doc.Column(
    "Cell", lambda of: of[0].name if of[1] is of[0].held[0] else ""
)
_COLUMNS: Sequence[doc.Column[_Ratio]] = (
    doc.Column("Cell", lambda of: of[0].name),
    doc.Column("Metric", lambda of: HEADINGS[of[1].limit.metric]),
    doc.number("A", lambda of: of[0].first.value(of[1].limit.metric)),
    doc.number("B", lambda of: of[0].second.value(of[1].limit.metric)),
    doc.number("B / A, 95 %", lambda of: ratio_text(of[1].comparison)),
    doc.Column("Threshold", lambda of: of[1].limit),
    doc.Column("Verdict", _verdict),
)


def as_markdown(found: Comparison) -> str:
    """The sentence, then the table: fits a pull request's comment or a step's summary."""
    notes = [
        f"- {row.cell.id}: {', '.join(map(str, row.warnings))}"
        for pair in found.pairs
        for row in (pair.first, pair.second)
        if row.warnings
    ]
    warned = ["Warnings:", "\n".join(notes)] if notes else []
    return "\n\n".join([found.sentence, doc.markdown(_table(found)), *warned]) + "\n"


def as_junit(found: Comparison) -> str:
    """A testcase per cell: `failure` beyond a threshold, `error` without a number or where a block
    has a fault, `skipped` where the cell was left out. An undecided cell passes; its output says
    that it is undecided."""
    kinds = [_kind(each) for each in found.pairs]
    counts = {"tests": str(len(kinds))}
    counts |= {f"{kind}s": str(kinds.count(kind)) for kind in ("failure", "error")}
    root = ET.Element("testsuites", counts)
    skipped = str(kinds.count("skipped"))
    suite = ET.SubElement(root, "testsuite", {"name": "restbench ab", **counts, "skipped": skipped})
    suite.set("time", _seconds(*found.pairs))
    suite.set("timestamp", found.started[:19])  # the schema's date has no zone
    for pair, kind in zip(found.pairs, kinds, strict=True):
        named = {"name": pair.name, "classname": f"restbench.ab.{pair.second.cell.service}"}
        case = ET.SubElement(suite, "testcase", named | {"time": _seconds(pair)})
        faults = [f"{cell}: {fault}" for cell, fault in pair.faults.items()]
        reasons = "\n".join([*faults, *map(str, pair.held)])
        if kind:
            first = next(str(each) for each in pair.held if pair.state_of(each) == pair.state)
            about = {"message": "; ".join(faults) or first, "type": pair.state}
            ET.SubElement(case, kind, about).text = reasons
        ET.SubElement(case, "system-out").text = reasons
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _kind(pair: Pair) -> str:
    """The element that says how the case ended; empty where it passed."""
    if pair.state == "beyond":
        return "failure"
    if pair.state == "no number" and pair.is_left_out:
        return "skipped"
    return "error" if pair.state in ("faulty", "no number") else ""


def _seconds(*of_pairs: Pair) -> str:
    rows = [row for pair in of_pairs for row in (pair.first, pair.second)]
    return f"{sum(each.seconds or 0.0 for row in rows for each in row.measured):.3f}"


VIEW = View(
    of,
    page,
    lambda two: two.sentence,
    lambda two: two.sure,
    charts,
    terminal,
    asks_for_best_technique=False,
)
