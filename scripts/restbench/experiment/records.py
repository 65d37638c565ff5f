"""What a run leaves on disk, as models: the raw facts that analysis reads and nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from restbench.experiment.cell import DEFAULT_FRAMEWORKS, PROVEN, Build, Cell, Record

#: The form of every record (`store.OLDEST` is the oldest that is read).
SCHEMA_VERSION = 9


class Window(Record):
    """A measured interval on the machine's wall clock, milliseconds since the epoch: what ends in
    [start_ms, end_ms) belongs to it."""

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
    """None where others run the service."""


class Proof(Record):
    """What the operating system saw while a strategy served requests, before the benchmark."""

    service: str
    strategy: str
    placement: str
    does: bool | None
    """None where the process cannot be looked at (an attached service)."""
    claim: str
    evidence: str
    build: Build = "checkout"
    framework: str = ""
    """Empty: the service's default."""
    handoff: str = "thread"
    instances: int = 1

    @property
    def key(self) -> tuple[str, ...]:
        """Of what it is a proof, as a cell tells it (`Cell.proof_key`)."""
        framework = self.framework or DEFAULT_FRAMEWORKS[self.service]
        told = self.model_dump() | {"framework": framework}
        return tuple(str(told[each]) for each in PROVEN)


class PlannedCell(Record):
    """One line of the manifest: what is to be measured, in the order of measuring."""

    cell: Cell
    block: int
    order: int
    test_ids: tuple[str, ...]


class BuiltCommit(Record):
    """A commit whose services are compared with another's."""

    asked: str
    """As the command line named it; `.` is the working tree as it was."""
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
    """The services that others ran, with their addresses."""
    builds: dict[Build, BuiltCommit] = Field(default_factory=dict)
    """The commits that are compared, where `restbench ab` made the run."""


class Manifest(RunRecord):
    """The run's identity, `manifest.json`: written before the first cell, then only `status`."""

    schema_version: int = SCHEMA_VERSION
    run: str
    experiment: str
    profile: str
    title: str
    plan: tuple[PlannedCell, ...]
    """What is to be measured; once complete, what was: the blocks that the stop rule asked for."""
    claims_sha256: str | None = None
    """Of the claims file as it was before the run (`claims.toml`); None where there is none."""
    stopped: str | None = None
    """Of forms up to 7: why no further block was measured."""


class Interruption(Record):
    """A run that had ended before its last cell, and went on: a line of `interruptions.jsonl`."""

    how: Literal["interrupted", "killed", "extended"]
    """`interrupted`: it ended in order (Ctrl-C, a full disk); `killed`: it had no time to;
    `extended`: it was complete, and more blocks were asked for."""
    ended: str
    """When, ISO 8601; of a killed one, when it last wrote something."""
    resumed: str
    kept: int
    """How many measurements were kept."""
    lost: tuple[str, ...]
    """Those in flight, which are measured anew, by their folders' names in the run."""
    git_commit: str
    """Of the harness that goes on."""
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
    """Where it failed: what that means for the numbers measured here, in a line."""


class CalibrationCheck(CheckEntry):
    """With its numbers."""

    values: dict[str, float]


class Calibration(Record):
    """What makes this machine's numbers believable: `results/calibrations/<stamp>.json`."""

    schema_version: int = SCHEMA_VERSION
    made: str
    """When, ISO 8601."""
    machine: dict[str, str | int | float]
    """What identifies the machine (`machine.identity`), its speed included, and what else the
    numbers depend on (`machine.made_with`)."""
    git_commit: str
    checks: tuple[CalibrationCheck, ...]
    ceiling_per_s: float | None
    """Requests per second of the load generator against a stub that answers at once."""
    generator_share: float | None = None
    """Of the CPU time of service and load generator with `serial` at low, the generator's."""
    load_cores: int | None = None
    """The cores that the load generator gets for itself on this machine; 0: it has none."""
