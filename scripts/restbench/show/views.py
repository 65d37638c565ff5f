"""What is shown of each kind of experiment, wherever that is: on the page, on its first screen, in
a terminal, as tables for programs. A view is a line of VIEWS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from restbench.analyse import frameworks as costs
from restbench.analyse import instances as arranged
from restbench.analyse import npb as programs
from restbench.analyse.limits import Limit
from restbench.analyse.workers import Grid
from restbench.experiment.open_load import OpenLoad
from restbench.judge import answer, trust
from restbench.judge import regret as choices
from restbench.show import (
    bottleneck,
    builds,
    calls,
    factorial,
    faults,
    findings,
    frameworks,
    instances,
    limits,
    messages,
    npb,
    regret,
    trace,
    workers,
)
from restbench.show.charts import course, judged, kernels, overview, rates, servers, study
from restbench.show.charts import factorial as effects
from restbench.show.charts import messages as queues
from restbench.show.charts import trace as courses
from restbench.show.charts import workers as grids
from restbench.show.charts.theme import Chart
from restbench.show.document import Section, Table, section
from restbench.show.findings import Findings
from restbench.show.parts import figures
from restbench.store.exported import Exported
from restbench.store.quoted import AnswerEntry
from restbench.store.store import Run

T = TypeVar("T")
Charts: TypeAlias = Sequence[Chart | None]
Records: TypeAlias = Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class View:
    """What is made of a run's trials; what a kind of experiment lacks is empty."""

    sections: tuple[Callable[[Findings], Section | None], ...]
    words: Callable[[Findings], tuple[str, str]] = lambda _found: ("", "")
    """The sentence of the first screen, and how sure it is."""
    charts: Callable[[Findings], Charts] = lambda _found: ()
    """Of the view whose sentence is the answer the first is the picture next to it."""
    terminal: Callable[[Findings], Sequence[Table | str]] = lambda _found: ()
    """Tables and lines in the place of a line for each cell."""
    records: Callable[[Findings], Mapping[Path, Records]] = lambda _found: {}
    """Files of one table each, for programs."""


def of(found: Findings) -> list[View]:
    """Those that the run's experiment wants. Several instances are shown wherever there are any."""
    wanted = (*found.definition.views, "instances")
    return [view for name, view in VIEWS.items() if name in wanted]


def drawn(run: Exported, folder: Run) -> Findings:
    """A run with its charts."""
    found = findings.of(run, folder)
    return replace(found, charts={each.name: each for each in _charts(found) if each})


def _answering(found: Findings) -> tuple[View | None, str, str]:
    """The first view that has a sentence, with that and how sure it is."""
    said = ((view, *view.words(found)) for view in of(found))
    return next((each for each in said if each[1]), (None, "", ""))


def _asks_which(found: Findings) -> bool:
    """Whether which technique is best is the question: of matrices and logs, in one build."""
    definition = found.definition
    return (
        definition.sends_load
        and definition.thresholds is None
        and "messages" not in definition.views
    )


def _charts(found: Findings) -> list[Chart | None]:
    answering, *_ = _answering(found)
    others = (view for view in of(found) if view is not answering)
    return [
        *(answering.charts(found) if answering else ()),
        overview.chart(found.rows) if _asks_which(found) else None,
        judged.claims(found.run.claims),
        *(chart for view in others for chart in view.charts(found)),
        course.stages(found.rows),
        course.windows(found.run.series, [row.cell for row in found.rows]),
    ]


def answer_of(run: Exported) -> AnswerEntry:
    """The first screen in words, of a run that has all else: a sentence, its own kind's before the
    general one, where it holds, and why to believe it."""
    found = findings.of(run, Run(Path(run.run)))
    general = answer.answer(found.rows)
    _, sentence, sure = _answering(found)
    return AnswerEntry(
        sentence=sentence or general.sentence,
        places=general.places if _asks_which(found) else (),
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
    """What the run's experiment wants to be shown, and its course over time."""
    known = [make(found) for view in of(found) for make in view.sections]
    windows = section("course", "Long windows over time", *found.figures("series"), folded=True)
    return [*known, windows]


def _builds(found: Findings, make: Callable[[builds.Comparison], T]) -> T:
    two = builds.of(found)
    assert two is not None  # noqa: S101 - with this view goes the table [thresholds]
    return make(two)


def _limits(found: Findings, make: Callable[[Sequence[Limit], OpenLoad], T]) -> T:
    return make(limits.of(found.run), found.definition.table(OpenLoad))


def _rates(known: Sequence[Limit], load: OpenLoad) -> Charts:
    return [make(known, load.objective) for make in (rates.limits, rates.steps)]


def _limit_records(found: Findings) -> Mapping[Path, Records]:
    names = (found.folder.open_load_csv, found.folder.open_load_steps_csv)
    return dict(zip(names, _limits(found, limits.records), strict=True))


def _traces(found: Findings) -> Charts:
    cells = {row.cell.id: row.cell for row in found.rows}
    return [
        courses.chart(f"trace-{name}", trace.name_of(cells[name], each), each)
        for name, each in trace.known(found.run, found.rows).items()
    ]


def _effects(found: Findings) -> Charts:
    analysis = factorial.of_findings(found)
    return effects.charts(analysis) if analysis else ()


def _explained(found: Findings) -> tuple[str, str]:
    analysis = factorial.of_findings(found)
    return (factorial.plain_sentence(analysis), factorial.sure(analysis)) if analysis else ("", "")


def _grids(found: Findings) -> list[Grid]:
    return workers.grids_of(found.run, found.rows)


def _study(found: Findings) -> Charts:
    return [
        *judged.regret(choices.choosing(found.rows).regrets),
        *(study.chart(each, found.definition, found.rows) for each in found.definition.figures),
    ]


#: By the name in an experiment's file. Of several the first that has a sentence is the answer.
VIEWS: dict[str, View] = {
    "builds": View(
        (builds.page,),
        words=lambda found: _builds(found, lambda two: (two.sentence, two.sure)),
        charts=lambda found: _builds(found, lambda two: [judged.builds(two.pairs)]),
        terminal=lambda found: _builds(found, lambda two: [builds.terminal(two)]),
    ),
    "limits": View(
        (limits.page,),
        words=lambda found: _limits(
            found, lambda known, load: (limits.sentence(known, load), limits.sure(known))
        ),
        charts=lambda found: _limits(found, _rates),
        terminal=lambda found: _limits(found, lambda known, load: [limits.terminal(known, load)]),
        records=_limit_records,
    ),
    "trace": View(
        (trace.page,),
        words=lambda found: (trace.sentence(found.run, found.rows), trace.SURE),
        charts=_traces,
        terminal=trace.terminal,
    ),
    "npb": View(
        (npb.page,),
        words=lambda found: (npb.sentence(its := npb.of(found)), npb.sure(its)),
        charts=lambda found: kernels.charts(programs.ranked(found.rows)),
        terminal=lambda found: npb.terminal(npb.of(found)),
        records=lambda found: {found.folder.npb_csv: npb.records(npb.of(found))},
    ),
    "calls": View(
        (calls.page,),
        words=lambda found: (calls.sentence(found.rows), calls.sure(found.rows)),
        charts=lambda found: calls.charts(found.rows),
        terminal=lambda found: calls.terminal(found.rows),
    ),
    "faults": View(
        (faults.page,),
        words=lambda found: (faults.sentence(found.rows), faults.sure(found.rows)),
        charts=lambda found: faults.charts(found.rows),
        terminal=lambda found: faults.terminal(found.rows),
    ),
    "factorial": View(
        (factorial.page,),
        words=_explained,
        charts=_effects,
    ),
    "messages": View(
        (messages.page,),
        words=lambda found: (messages.sentence(found.rows), messages.sure(found.rows)),
        charts=lambda found: queues.charts(found.rows, found.definition),
        terminal=lambda found: messages.terminal(found.rows),
        records=lambda found: {found.folder.messages_csv: messages.records(found.rows)},
    ),
    "frameworks": View(
        (frameworks.page,),
        words=lambda found: (
            frameworks.sentence(loads := costs.loads(found.rows)),
            frameworks.sure(loads),
        ),
        charts=lambda found: servers.of_frameworks(costs.loads(found.rows)),
        terminal=lambda found: frameworks.terminal(costs.loads(found.rows)),
    ),
    "instances": View(
        (instances.page,),
        words=lambda found: (
            instances.sentence(loads := arranged.loads(found.rows)),
            instances.sure(loads),
        ),
        charts=lambda found: servers.of_instances(arranged.loads(found.rows)),
        terminal=lambda found: instances.terminal(arranged.loads(found.rows)),
    ),
    "workers": View(
        (workers.page,),
        words=lambda found: (workers.sentence(its := _grids(found)), workers.sure(its)),
        charts=lambda found: list(map(grids.chart, _grids(found))),
        terminal=lambda found: workers.terminal(_grids(found)),
    ),
    "study": View(
        (regret.page, figures.of_study, figures.of_stages),
        words=lambda found: (regret.sentence(found.rows), regret.sure(found.rows)),
        charts=_study,
        records=lambda found: {
            found.folder.regret_csv: regret.records(choices.choosing(found.rows))
        },
    ),
    "bottleneck": View(
        (bottleneck.page,),
        charts=lambda found: bottleneck.charts(bottleneck.families(found.run, found.rows)),
    ),
}
