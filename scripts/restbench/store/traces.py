"""A trace: its raw file next to the trials, and what `run.json` has of it.

Moments are seconds from the begin of what was measured; times are milliseconds.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from restbench.experiment.cell import Record

#: A series of `run.json` has no more points than that.
MOST_POINTS = 600
#: How often the database is looked at, in seconds.
LOOK_EVERY_S = 5.0
#: How the columns of errors begin that are told by code; their sum is `errors_per_s`.
BY_CODE = "errors_of_"
#: `steady` needs the whole interval within 5 %, `drifting` all of it outside (`analyse.trace`).
CourseVerdict = Literal["steady", "drifting", "oscillating", "too-imprecise"]


class Course(Record):
    """A column over time: equal steps, the first begins with the trace."""

    column: str
    """With its unit."""
    step_s: float
    values: tuple[float | None, ...]
    """None where nothing ended in a step that could tell it."""


class JoinedCourse(Course):
    """One whose steps are as wide as its points need."""

    values: Annotated[tuple[float | None, ...], Field(max_length=MOST_POINTS)]


class IncidentEntry(Record):
    """Something that happened (`observe.incidents`); of a moment both ends are the same."""

    kind: str
    begin_s: float
    end_s: float
    text: str = ""


class TraceRecord(Record):
    """What a trace is, in both of its files."""

    cell: str
    """Its id."""
    block: int
    began_ms: int
    """Milliseconds since the epoch."""
    seconds: int
    rate_per_s: float | None = None
    """What was offered; None: each user waited for its answer."""
    errors: dict[str, int] = Field(default_factory=dict)
    """By code (`014`), or by status where an answer has none; `none` where none came."""


class FullTrace(TraceRecord):
    """`trace.json`: what was seen, in full; all that is said of a trace is made of it."""

    keeps_population: bool = True
    """Whether each user takes as many messages as it sends."""
    courses: tuple[Course, ...]
    samples: tuple[dict[str, Any], ...] = ()
    """Of the database's monitor (`observe.database`)."""
    incidents: tuple[IncidentEntry, ...] = ()


class SteadyEntry(Record):
    """How a column went."""

    verdict: CourseVerdict
    cv: float
    """Coefficient of variation of the means of 10 s."""
    last_over_first: float
    """The mean of the last third over that of the first."""
    low: float | None = None
    """The ends of its 95 % interval, from means of 30 s; None where a third has not two of them.
    Both 0 where the last third has no answer."""
    high: float | None = None

    @property
    def half_width_pct(self) -> float | None:
        """Of the interval, percent."""
        return 100 * (math.sqrt(self.high / self.low) - 1) if self.low and self.high else None


class StallEntry(Record):
    """A second with less than a fifth of the median throughput, or none."""

    second: int
    per_s: float
    because: tuple[str, ...] = ()
    """What happened in it; empty: unexplained."""


class CountEntry(Record):
    """All incidents of a kind."""

    kind: str
    count: int
    seconds: float
    longest_s: float


class FaultEntry(Record):
    """What a fault did: throughput before it, and in the last half of it."""

    kind: str
    begin_s: float
    end_s: float
    before_per_s: float
    during_per_s: float
    dead_rows: float | None = None
    """The most that the database counted."""


class TraceEntry(TraceRecord):
    """A trace as `run.json` has it."""

    most_errors_per_s: dict[str, float] = Field(default_factory=dict)
    """By code, in one second: a point of the series may be the mean of several."""
    throughput: SteadyEntry | None = None
    """None where the first third of the trace had no answer, or it is shorter than 30 s."""
    response: SteadyEntry | None = None
    """None where the first or last third had none."""
    stalls: tuple[StallEntry, ...] = ()
    growth: float | None = None
    """The table's bytes, last third over second third; None without a database, or where the load
    leaves messages."""
    rows: tuple[float, float] | None = None
    """Live rows by the database's count: at the begin, at the end."""
    fault: FaultEntry | None = None
    counts: tuple[CountEntry, ...] = ()
    incidents: tuple[IncidentEntry, ...] = ()
    """Of each kind the longest, in the order of their begin."""
    waits: dict[str, float] = Field(default_factory=dict)
    """Backends at work by what they wait for, the mean of the monitor's looks."""
    bloat: dict[str, float] = Field(default_factory=dict)
    """At the end, of the whole table (`pgstattuple`)."""
    totals: dict[str, float] = Field(default_factory=dict)
    """By how much counts of the database grew."""
    series: tuple[JoinedCourse, ...] = ()
