"""What a microbenchmark leaves on disk: each part's times, and what they say together."""

from __future__ import annotations

from typing import Literal

from restbench.experiment.cell import Kernel, Record, ServiceName, Shape
from restbench.experiment.records import SCHEMA_VERSION

Part = Literal["parse", "compute", "serialize", "dispatch", "unmarshal", "soap"]
"""`unmarshal` is reading an envelope, `soap` all of a request in SOAP."""
Verdict = Literal["from", "never", "unclear"]


class Score(Record):
    """The time of one part of a request, in microseconds, over processes of its own."""

    service: ServiceName
    part: Part
    shape: str | None = None
    """Name of the operands' sizes; of an empty loop, which has none, None."""
    kernel: Kernel | None = None
    """Of a computation, or of an empty loop in the same tasks; None of one that stands for both."""
    strategy: str | None = None
    """Of a computation, whose dispatch is in its time, or of an empty loop."""
    rows: int | None = None
    """Of an empty loop: a row has as many units as the study's products have columns."""
    runs_us: tuple[float, ...]
    """The mean time of a call in each process (JMH's forks, pyperf's runs)."""


class BreakEven(Record):
    """From which size on a strategy beats the one that does everything in order, for one request
    on an idle service; rows are those of the study's 50 x 20 matrix."""

    service: ServiceName
    strategy: str
    kernel: Kernel
    verdict: Verdict
    """`unclear`: the times do not tell whether it computes faster at all."""
    rows: float | None = None
    rows_low: float | None = None
    rows_high: float | None = None
    """None next to a known `rows`: it may be never."""
    operations: float | None = None
    """Multiplications with an addition, of so many rows."""
    faster: float | None
    """Computing in order over computing so, dispatch apart; with the ends of its interval. None
    where dispatch took all of the time."""
    faster_low: float | None
    faster_high: float | None
    why: str


class Microbench(Record):
    """`results/microbench/<stamp>.json`."""

    schema_version: int = SCHEMA_VERSION
    made: str
    """When, ISO 8601."""
    machine: dict[str, str | int | float]
    """What identifies the machine (`machine.identity`)."""
    described: str
    """The machine and the versions in one line."""
    git_commit: str
    profile: str
    whole: bool
    """Every service and strategy, in a profile whose numbers mean something."""
    foreign_pct: float | None = None
    """What others used of the machine, percent: the most of looks around each service. None in
    those of a time when nobody looked."""
    shapes: dict[str, Shape]
    scores: tuple[Score, ...]
    break_evens: tuple[BreakEven, ...]
