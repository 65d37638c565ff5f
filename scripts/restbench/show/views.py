"""The views that an experiment can name, and what a run's views show together. Another kind of
experiment needs a module with a VIEW, and a place in _ORDER."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from restbench.judge import answer, trust
from restbench.show import findings
from restbench.show.charts import course, overview, theme
from restbench.show.document import Section, section
from restbench.show.findings import Findings, View
from restbench.show.kinds import (
    bottleneck,
    builds,
    calls,
    factorial,
    faults,
    frameworks,
    instances,
    limits,
    messages,
    npb,
    study,
    trace,
    workers,
)
from restbench.show.parts import claims
from restbench.store.exported import RunExport
from restbench.store.quoted import AnswerEntry
from restbench.store.store import Run

#: Of several views of an experiment, the first with a sentence is the answer.
_ORDER = (
    builds, limits, trace, npb, calls, faults, factorial, messages, frameworks, instances, workers,
    study, bottleneck,
)  # fmt: skip
#: By their name in an experiment's file, which is that of their module.
VIEWS: dict[str, View[Any]] = {of.__name__.rpartition(".")[2]: of.VIEW for of in _ORDER}


def drawn(run: RunExport, folder: Run) -> Findings:
    """A run with its views and charts."""
    found = _viewed(run, folder)
    charts: dict[str, theme.Chart] = {}
    for each in filter(None, _charts(found)):
        # Loads that differ only in a level that their name lacks have charts of the same name.
        name = each.name if each.name not in charts else f"{each.name}-{len(charts) + 1}"
        charts[name] = replace(each, name=name)
    return replace(found, charts=charts)


def _viewed(run: RunExport, folder: Run) -> Findings:
    """The findings with the views that the experiment names. `instances` is always added: it shows
    something only where there are several instances."""
    found = findings.of(run, folder)
    wanted = (*found.definition.views, "instances")
    known = [(view, view.of(found)) for name, view in VIEWS.items() if name in wanted]
    return replace(found, views=known)


def _charts(found: Findings) -> list[theme.Chart | None]:
    """All charts in the order of the page; those of the view that gives the answer come first."""
    answering = next((view for view, its in found.views if view.sentence(its)), None)
    own: list[theme.Chart | None] = []
    others: list[theme.Chart | None] = []
    asks = found.definition.traits.sends_load
    for view, its in found.views:
        (own if view is answering else others).extend(view.charts(its))
        asks = asks and view.asks_for_best_technique
    # It is on the first screen, or in the section of these tables (parts.cells.first).
    asks = asks and (not any(own) or answer.answer(found.rows).compares)
    return [
        *own,
        overview.chart(found.rows) if asks else None,
        claims.chart(found.run.claims),
        *others,
        course.windows(found.run.series, [row.cell for row in found.rows]),
    ]


def answer_of(run: RunExport) -> AnswerEntry:
    """The text of the first screen, for a run with all other entries: the sentence of the first
    view that has one, else the general one, and why to believe it."""
    found = _viewed(run, Run(Path(run.run)))
    general = answer.answer(found.rows)
    said = ((view.sentence(its), view.sure(its)) for view, its in found.views)
    sentence, sure = next((each for each in said if each[0]), (general.sentence, general.sure))
    return AnswerEntry(
        sentence=sentence,
        reasons=trust.reasons(
            sure or general.sure,
            found.rows,
            run.proofs,
            run.again,
            run.predecessor,
            run.calibration,
        ),
    )


def sections(found: Findings) -> list[Section | None]:
    """The sections of the run's views, and one on its long windows over time."""
    pages = [
        part
        for view, its in found.views
        if its
        for part in (view.page(found, its), *(make(found) for make in view.more))
    ]
    windows = section("course", "Long windows over time", *found.figures("series"), folded=True)
    return [*pages, windows]
