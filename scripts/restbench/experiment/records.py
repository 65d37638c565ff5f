"""What a run leaves on disk, as models: the raw facts that analysis reads and nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from restbench.experiment.cell import (
    DEFAULT_FRAMEWORKS,
    PROVEN,
    Build,
    Cell,
    Kernel,
    Record,
    ServiceName,
    Shape,
)

#: The version of the form of every record (`store.OLDEST` is the oldest that can be read).
SCHEMA_VERSION = 9
#: Of a microbenchmark: `unmarshal` is reading a SOAP envelope, `soap` a whole request in SOAP.
Part = Literal["parse", "compute", "serialize", "dispatch", "unmarshal", "soap"]
Verdict = Literal["from", "never", "unclear"]


class Window(Record):
    """A measured interval on the machine's wall clock, milliseconds since the epoch. Requests that
    end in [start_ms, end_ms) belong to it."""

    start_ms: int
    end_ms: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end_ms - self.start_ms) / 1000


class LongWindow(Record):
    """One long window of one cell: `window.json`. The raw files lie next to it."""

    schema_version: int = SCHEMA_VERSION
    window: Window
    service_pids: tuple[int, ...]
    """Empty where others run the service (`--attach`)."""


class Proof(Record):
    """What the operating system saw while a strategy served requests, before the benchmark."""

    service: str
    strategy: str
    placement: str
    does: bool | None
    """None where the process cannot be inspected (an attached service)."""
    claim: str
    evidence: str
    build: Build = "checkout"
    framework: str = ""
    """Empty: the service's default."""
    handoff: str = "thread"
    instances: int = 1

    @property
    def key(self) -> tuple[str, ...]:
        """What it proves, in the form of `Cell.proof_key`."""
        framework = self.framework or DEFAULT_FRAMEWORKS[self.service]
        reported = self.model_dump() | {"framework": framework}
        return tuple(str(reported[each]) for each in PROVEN)


class PlannedCell(Record):
    """One entry of the manifest's plan: a cell in a block, with its place in the plan's order."""

    cell: Cell
    block: int
    order: int
    test_ids: tuple[str, ...]


class BuiltCommit(Record):
    """A commit whose services are compared with another's."""

    asked: str
    """The commit as the command line named it; `.` is the working tree as it was then."""
    git_commit: str
    git_dirty: bool

    def __str__(self) -> str:
        """For people: `HEAD~ (1a2b3c4)`."""
        changed = " with local changes" if self.git_dirty else ""
        return f"{self.asked} ({self.git_commit[:7]}{changed})"


class RunRecord(Record):
    """What `manifest.json` and `run.json` both say of a run."""

    command: str
    git_commit: str
    git_dirty: bool | None
    """None where the commit is not known."""
    seed: int
    status: Literal["running", "complete", "interrupted"]
    started: str
    finished: str | None = None
    attached: dict[str, str] = Field(default_factory=dict)
    builds: dict[Build, BuiltCommit] = Field(default_factory=dict)
    """The commits that are compared, where `restbench ab` made the run."""


class Manifest(RunRecord):
    """The run's identity, `manifest.json`: written before the first cell. The end of the run sets
    `status` and `finished` and, once complete, `plan`."""

    schema_version: int = SCHEMA_VERSION
    run: str
    experiment: str
    profile: str
    title: str
    plan: tuple[PlannedCell, ...]
    """What is to be measured; of a complete run what was: blocks that the stop rule asked for."""
    claims_sha256: str | None = None
    """The SHA-256 of the claims file as it was before the run (`claims.toml`); None without one."""
    stopped: str | None = None
    """In records of form 7 or older only: why no further block was measured."""


class Interruption(Record):
    """A run that had ended before its last cell, and went on: a line of `interruptions.jsonl`."""

    how: Literal["interrupted", "killed", "extended"]
    """`interrupted`: it ended in order (Ctrl-C, a full disk); `killed`: it had no time to;
    `extended`: it was complete, and more blocks were asked for."""
    ended: str
    """When the run ended, ISO 8601; if it was killed, when it last wrote something."""
    resumed: str
    kept: int
    lost: tuple[str, ...]
    """What was in flight and is measured anew, such as `block 3`."""
    git_commit: str
    """The commit of the harness with which the run goes on."""
    git_dirty: bool | None


class CheckEntry(Record):
    """One check of the measuring chain against something known."""

    name: str
    question: str
    measured: str
    """What came out, in words, with its unit."""
    limit: str
    passed: bool
    follows: str = ""
    """If it failed: what that means for the numbers measured on this machine, in a line."""


class CalibrationCheck(CheckEntry):
    """A check with the numbers that it measured."""

    values: dict[str, float]


class MachineFinding(Record):
    """What was found out about a machine at some time; runs on that machine quote it."""

    schema_version: int = SCHEMA_VERSION
    made: str
    """When it was made, ISO 8601."""
    machine: dict[str, str | int | float]
    """What identifies the machine (`machine.identity`), its speed included, and what else the
    numbers depend on (`machine.made_with`)."""
    git_commit: str


class Calibration(MachineFinding):
    """The checks of this machine's measuring chain: `results/calibrations/<stamp>.json`."""

    checks: tuple[CalibrationCheck, ...]
    ceiling_per_s: float | None
    """Requests per second of the load generator against a stub that answers at once."""
    generator_share: float | None = None
    """The load generator's share of its CPU time and the service's, with `serial` at low."""
    load_cores: int | None = None
    """How many cores the load generator gets for itself on this machine; 0: it has none."""


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


class Microbench(MachineFinding):
    """A whole microbenchmark: `results/microbench/<stamp>.json`."""

    described: str
    """The machine and the versions in one line."""
    profile: str
    whole: bool
    """Whether it covers every service and strategy, in a profile whose numbers are meaningful."""
    foreign_pct: float | None = None
    """CPU use of other processes, percent of the machine: the largest of the samples taken before
    and after each service. None in older files, which have no samples."""
    shapes: dict[str, Shape]
    scores: tuple[Score, ...]
    break_evens: tuple[BreakEven, ...]
