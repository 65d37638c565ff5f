"""Records of a microbenchmark: the times of each part, and the break-even sizes made from them."""

from __future__ import annotations

from typing import Literal

from restbench.experiment.cell import Kernel, Record, ServiceName, Shape
from restbench.experiment.records import SCHEMA_VERSION

Part = Literal["parse", "compute", "serialize", "dispatch", "unmarshal", "soap"]
"""`unmarshal` is reading a SOAP envelope, `soap` a whole request in SOAP."""
Verdict = Literal["from", "never", "unclear"]


class Score(Record):
    """The time of one part of a request, in microseconds, measured in several processes."""

    service: ServiceName
    part: Part
    shape: str | None = None
    """Name of the operand sizes; None for an empty loop, which has no operands."""
    kernel: Kernel | None = None
    """The kernel of a computation, or the one whose tasks an empty loop uses. None for an empty
    loop that stands for both kernels."""
    strategy: str | None = None
    """The strategy of a computation, whose time includes the dispatch, or of an empty loop."""
    rows: int | None = None
    """Rows of an empty loop; each has as many units as the study's products have columns."""
    runs_us: tuple[float, ...]
    """The mean time of a call in each process (JMH's forks, pyperf's runs)."""


class BreakEven(Record):
    """From which size on a strategy beats the one that does everything in order, for one request
    on an idle service. Rows are those of matrixOne where matrixTwo is the study's 50 x 20."""

    service: ServiceName
    strategy: str
    kernel: Kernel
    verdict: Verdict
    """`unclear`: the times do not decide it; `why` says what is open."""
    rows: float | None = None
    rows_low: float | None = None
    rows_high: float | None = None
    """Where `rows` is known, None means that the strategy may never be ahead."""
    operations: float | None = None
    """The multiply-add operations of so many rows."""
    faster: float | None
    """The time of computing in order over that of computing under the strategy, both without
    dispatch, with the ends of its interval. None where dispatch took all of the time."""
    faster_low: float | None
    faster_high: float | None
    why: str


class Microbench(Record):
    """A whole microbenchmark: `results/microbench/<stamp>.json`."""

    schema_version: int = SCHEMA_VERSION
    made: str
    """When it was made, ISO 8601."""
    machine: dict[str, str | int | float]
    """What identifies the machine (`machine.identity`)."""
    described: str
    """The machine and the versions in one line."""
    git_commit: str
    profile: str
    whole: bool
    """Whether it covers every service and strategy, in a profile whose numbers are meaningful."""
    foreign_pct: float | None = None
    """CPU use of other processes, percent of the machine: the largest of the samples taken before
    and after each service. None in older files, which have no samples."""
    shapes: dict[str, Shape]
    scores: tuple[Score, ...]
    break_evens: tuple[BreakEven, ...]
