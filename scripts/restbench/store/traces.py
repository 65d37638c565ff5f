"""A trace: its raw file next to the trials, and its entry in `run.json`.

Moments are seconds from the start of the trace; times are milliseconds.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from restbench.experiment.cell import Record

#: A series of `run.json` has no more points than that.
MOST_POINTS = 600
#: The interval between two samples of the database, in seconds.
LOOK_EVERY_S = 5.0
#: Prefix of the columns that count errors of one code; their sum is `errors_per_s`.
BY_CODE = "errors_of_"
#: `steady` needs the whole interval within 5 %, `drifting` all of it outside (`analyse.trace`).
CourseVerdict = Literal["steady", "drifting", "oscillating", "too-imprecise"]


class Course(Record):
    """One column over time, in equal steps; the first step begins with the trace."""

    column: str
    """Its name, which ends with the unit."""
    step_s: float
    values: tuple[float | None, ...]
    """None for a step in which no request that has the value ended."""


class JoinedCourse(Course):
    """A course of at most 600 points: its steps are as wide as that requires."""

    values: Annotated[tuple[float | None, ...], Field(max_length=MOST_POINTS)]


class IncidentEntry(Record):
    """Something that happened (`observe.incidents`). For a single moment both ends are equal."""

    kind: str
    begin_s: float
    end_s: float
    text: str = ""


class TraceRecord(Record):
    """The identity of a trace, as in both `trace.json` and `run.json`."""

    cell: str
    block: int
    began_ms: int
    """Milliseconds since the epoch."""
    seconds: int
    rate_per_s: float | None = None
    """The offered rate of an open load; None for a closed load: each user waited for its answer."""
    errors: dict[str, int] = Field(default_factory=dict)
    """Errors by code (`014`), or by HTTP status where the answer has no code; `none` counts
    requests without an answer."""


class FullTrace(TraceRecord):
    """`trace.json`: all observations of a trace, from which every statement on it is made."""

    keeps_population: bool = True
    """Whether each user takes as many messages as it sends."""
    courses: tuple[Course, ...]
    samples: tuple[dict[str, Any], ...] = ()
    """The samples of the database's monitor (`observe.database`)."""
    incidents: tuple[IncidentEntry, ...] = ()


class SteadyEntry(Record):
    """Whether a column was steady over the trace."""

    verdict: CourseVerdict
    cv: float
    """Coefficient of variation of the means of 10 s."""
    last_over_first: float
    """The mean of the last third over that of the first."""
    low: float | None = None
    """The ends of that ratio's 95 % interval, from means of 30 s; None where a third has fewer than
    two of them or a mean is 0. Both are 0 where the last third has no answer."""
    high: float | None = None

    @property
    def half_width_pct(self) -> float | None:
        """The half-width of the interval in percent; None without an interval."""
        return 100 * (math.sqrt(self.high / self.low) - 1) if self.low and self.high else None


class StallEntry(Record):
    """A second whose throughput is less than a fifth of the median, or 0."""

    second: int
    per_s: float
    because: tuple[str, ...] = ()
    """The kinds of incidents during that second; empty where the stall is unexplained."""


class CountEntry(Record):
    """The number and total time of the incidents of one kind."""

    kind: str
    count: int
    seconds: float
    longest_s: float


class FaultEntry(Record):
    """The effect of a fault: the throughput before it and in its last half."""

    kind: str
    begin_s: float
    end_s: float
    before_per_s: float
    during_per_s: float
    dead_rows: float | None = None
    """The largest number of dead rows that the database reported."""


class TraceEntry(TraceRecord):
    """A trace as `run.json` has it."""

    most_errors_per_s: dict[str, float] = Field(default_factory=dict)
    """The most errors in one second, by code. A point of the series may be the mean of several
    seconds."""
    throughput: SteadyEntry | None = None
    """None where the first third of the trace had no answer, or the trace is shorter than 30 s."""
    response: SteadyEntry | None = None
    """Of the response time. None where the first or last third had no answer, or the trace is
    shorter than 30 s."""
    stalls: tuple[StallEntry, ...] = ()
    growth: float | None = None
    """The table's bytes in the last third over those in the second. None without a database, or
    where users do not take as many messages as they send."""
    rows: tuple[float, float] | None = None
    """Live rows as the database reports them, at the start and at the end."""
    fault: FaultEntry | None = None
    counts: tuple[CountEntry, ...] = ()
    incidents: tuple[IncidentEntry, ...] = ()
    """The longest incident of each kind at each point of the series, in order of their start."""
    waits: dict[str, float] = Field(default_factory=dict)
    """Mean number of active backends by wait event, over the monitor's samples."""
    bloat: dict[str, float] = Field(default_factory=dict)
    """Measures of `pgstattuple` for the whole table, at the end."""
    totals: dict[str, float] = Field(default_factory=dict)
    """By how much the database's counters grew, from the first sample to the last."""
    series: tuple[JoinedCourse, ...] = ()
