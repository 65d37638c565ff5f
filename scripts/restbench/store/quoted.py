"""The entries of `run.json` that quote other files of a run, so that the page can be made from it
alone: claims with their ratios, the calibration, the microbenchmark, long windows."""

from __future__ import annotations

from pydantic import Field

from restbench.experiment.cell import Record
from restbench.experiment.records import BreakEven, CheckEntry


class AnswerEntry(Record):
    """The text of the page's first screen (`judge.answer`, `judge.trust`)."""

    sentence: str
    """What is best, over the whole run."""
    reasons: tuple[str, ...] = ()
    """Why to believe the sentence."""


class PartEntry(Record):
    """One ratio of a claim, and what the run says about it."""

    label: str
    """Such as `M low 30u / M low 10u`."""
    metric: str
    expect: str
    ratio: float | None = None
    """None where one of the two values is missing."""
    low: float | None = None
    """The ends of its 95 % interval; None for a single block."""
    high: float | None = None
    margin: float
    """The difference that does not count, as a part of the smaller value: 0.05 is 5 %."""
    study_value: float | None = None
    verdict: str
    headline: str
    """The verdict in words, with the interval's half-width and the minutes that are missing."""
    decides: bool = True


class ClaimEntry(Record):
    """What the run says about one claim of its claims file."""

    id: str
    text: str
    verdict: str
    headline: str
    """The verdict with its details: what is missing, which effect could have been detected."""
    why: str
    cells: tuple[str, ...] = ()
    reading: str = ""
    parts: tuple[PartEntry, ...] = ()
    warned: tuple[str, ...] = ()
    """Those of these cells that have warnings, each with its warnings."""


class CalibrationEntry(Record):
    """The calibration of the machine that held when the run began."""

    made: str
    git_commit: str
    checks: tuple[CheckEntry, ...]


class MicrobenchEntry(Record):
    """From which size on a technique pays, by the newest microbenchmark of the machine."""

    made_of: str
    """Where the numbers come from, in a sentence."""
    break_evens: tuple[BreakEven, ...]


class AgainEntry(Record):
    """A cell measured twice in each block (A/A): one throughput over the other."""

    cell: str
    ratio: float
    low: float | None = None
    """The ends of its 95 % interval over blocks; None for a single one."""
    high: float | None = None


class PredecessorEntry(Record):
    """The clearest effect of what ran just before a trial on its throughput (method, rule 2)."""

    after: str
    """What ran before: the id of a cell, `any cell of java`, `its own process` or
    `another process`."""
    effect_percent: float
    low: float
    """The ends of the effect's 95 % interval, simultaneous for all effects that were examined."""
    high: float
    p_value: float
    """Of the hypothesis that what ran before has no effect."""


class WindowEntry(Record):
    """What collectors saw during a cell's long window. Percentages of the machine are means over
    all cores; those of the service are percent of ONE core."""

    cell: str
    seconds: float
    machine_cpu_pct: float | None = None
    core_pct: tuple[float, ...] = ()
    steal_pct: float | None = None
    run_queue: float | None = None
    context_switches_per_s: float | None = None
    memory_used_mib: float | None = None
    service_cpu_pct: float | None = None
    service_peak_rss_mib: float | None = None
    heap_peak_mib: float | None = None
    gc_pause_ms: float | None = None
    threads_by_state: dict[str, float] = Field(default_factory=dict)
