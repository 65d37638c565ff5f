"""What a run leaves on disk, as models: the raw facts that analysis reads and nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from restbench.experiment.cell import DEFAULT_FRAMEWORKS, PROVEN, Build, Cell, Record

#: The version of the form of every record (`store.OLDEST` is the oldest that can be read).
SCHEMA_VERSION = 9


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
    """The services that others ran, with their addresses."""
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
    """How many measurements were kept."""
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


class Calibration(Record):
    """The checks of this machine's measuring chain: `results/calibrations/<stamp>.json`."""

    schema_version: int = SCHEMA_VERSION
    made: str
    """When the checks were made, ISO 8601."""
    machine: dict[str, str | int | float]
    """What identifies the machine (`machine.identity`), its speed included, and what else the
    numbers depend on (`machine.made_with`)."""
    git_commit: str
    checks: tuple[CalibrationCheck, ...]
    ceiling_per_s: float | None
    """Requests per second of the load generator against a stub that answers at once."""
    generator_share: float | None = None
    """The load generator's share of its CPU time and the service's, with `serial` at low."""
    load_cores: int | None = None
    """How many cores the load generator gets for itself on this machine; 0: it has none."""
