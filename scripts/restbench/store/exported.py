"""A whole run in one file, `run.json`: what it measured, found and was made with.

Made of the trials at a run's end, and again by `restbench report`. Page, tables and comparisons
are made of it alone (`analyse.exported`), so it is what is kept of a run. Its form for programs
is `run.schema.json` next to this module. What a driver does not measure is absent, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from restbench.experiment.cell import Kind, Record, Shape
from restbench.experiment.level import Logs
from restbench.experiment.records import Interruption, Proof, RunRecord
from restbench.failures import Unreadable
from restbench.store import store
from restbench.store.quoted import (
    AgainEntry,
    AnswerEntry,
    CalibrationEntry,
    ClaimEntry,
    MicrobenchEntry,
    PredecessorEntry,
    WindowEntry,
)
from restbench.store.traces import JoinedCourse, TraceEntry
from restbench.store.writing import write_text

#: Of a file of this form. Another number is another form, which is refused.
FORM = 1

Count = Annotated[int, Field(ge=0)]


class Estimate(Record):
    """A mean over blocks with the ends of its 95 % t interval, in the unit of its name."""

    value: float
    low: float | None
    """None below three blocks."""
    high: float | None


class WarningEntry(Record):
    """What may have biased a number, and by how much at most."""

    kind: str
    bias_percent: float

    def __str__(self) -> str:
        """Such as `steal ≤ 3.2 %`."""
        return f"{self.kind} ≤ {self.bias_percent:.1f} %"


class NoteEntry(Record):
    """What else to know before believing a number; it has no size."""

    kind: str
    text: str


class CellEntry(Record):
    """A cell over all its blocks: a row of the tables."""

    id: str
    factors: dict[str, str | int]
    """Level by factor, of every factor there is (`experiment.cell.FACTORS`)."""
    test_ids: tuple[str, ...] = ()
    """Of the study's tests that it answers."""
    shape: Shape | None = None
    """Of its operands; absent where its requests are of several sizes, those of `mix`, or no
    matrices."""
    mix: tuple[Kind, ...] = ()
    logs: Logs | None = None
    """Lines and rules, where its requests are lines of a log."""
    throughput_per_s: Estimate | None = None
    """Correct responses."""
    cpu_ms_per_request: Estimate | None = None
    """Of the service, for each correct response."""
    mean_ms: Estimate | None = None
    p50_ms: Estimate | None = None
    p95_ms: Estimate | None = None
    p99_ms: Estimate | None = None
    extras: dict[str, Estimate] = Field(default_factory=dict)
    """What only its driver measures, by name, over the blocks that have it. Where all of them are
    above 0 the mean is the geometric one, with its interval."""
    blocks: Count
    """In how many it was measured."""
    trials: Count
    """Of how many trials they are made."""
    warnings: tuple[WarningEntry, ...]
    notes: tuple[NoteEntry, ...]


class KindEntry(Record):
    """One kind of request of a mix in one block: correct responses alone."""

    completions: Count
    mean_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None


class BlockEntry(Record):
    """A cell in one block, all its trials together, or the reason why there is nothing of it.

    Throughput is `completions / seconds`, N/X `1000 users seconds / completions`.
    """

    cell: str
    """Its id."""
    block: int
    trials: Count | None = None
    completions: Count | None = None
    """Correct responses."""
    errors: Count = 0
    wrong_answers: Count = 0
    seconds: float | None = None
    """What was kept of the trials, together."""
    cpu_ms_per_request: float | None = None
    generator_share: float | None = None
    """Of the CPU time of service and load generator, what the generator took; 0 to 1."""
    users_in_flight: float | None = None
    """X R of all completions: how many users were waiting for an answer, on average."""
    mean_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    within_block_se: float | None = None
    """Relative standard error of the throughput over the block's trials."""
    load_cpu_pct: float | None = None
    """The load generator, percent of one core."""
    machine_cpu_pct: float | None = None
    """Everything, percent of the cores that the run may use; so are the next two."""
    steal_pct: float | None = None
    """What the hypervisor took away."""
    foreign_pct: float | None = None
    """What went to neither service nor load generator."""
    compile_share: float | None = None
    """Of the service's CPU time, what its compilers took; 0 to 1."""
    gc_share: float | None = None
    """The same of garbage collection."""
    count_gap: float | None = None
    """By how much the service's count of a strategy's requests differs from the load generator's,
    over the service's."""
    start_gap: float | None = None
    """By how much the start of its trials makes the throughput another than that of the rest, as a
    part of that (method, rule 3); 0 where chance would do."""
    off_cores_share: float | None = None
    """Of the service's CPU time, what it took on cores that it was not given; 0 to 1."""
    connections: Sequence[Sequence[Count]] | None = None
    """Of each trial with several workers and kept connections: how many each worker has that has
    any, most first."""
    memory_mib: float | None = None
    queue_ms: float | None = None
    parse_ms: float | None = None
    compute_ms: float | None = None
    serialize_ms: float | None = None
    kinds: Mapping[str, KindEntry] = Field(default_factory=dict)
    """Of a mix: each kind of its requests."""
    extras: Mapping[str, float] = Field(default_factory=dict)
    """What only its driver measures, by name."""
    flags: tuple[str, ...] = ()
    reason: str | None = None
    """Why there is nothing, or less than there should be."""
    warnings: tuple[WarningEntry, ...]


class StepEntry(Record):
    """One rate of an open load, offered once: what came of the arrivals of its window.

    Latency counts from the intended moment, over ALL of them: an arrival without a correct answer
    is slower than any other.
    """

    cell: str
    """Its id."""
    block: int
    rate_per_s: float
    """What was offered."""
    achieved_per_s: float
    """Correct answers."""
    arrivals: Count
    unsent: Count = 0
    """Of the arrivals, those not sent when the load was over."""
    late: Count = 0
    """Of the arrivals, those sent over 10 ms late."""
    errors: Count = 0
    wrong_answers: Count = 0
    lateness_p95_ms: float | None = None
    sent_p95_ms: float | None = None
    """Of the latency from the moment of sending."""
    p50_ms: float | None = None
    """None, as the next three: the arrivals are too few for it, or it falls on one without a
    correct answer."""
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    load_cpu_pct: float | None = None
    """The load generator, percent of one core."""
    met: bool
    """Whether it met the experiment's objective."""
    reasons: tuple[str, ...] = ()
    """Why it did not."""


class SeriesEntry(JoinedCourse):
    """A column of a cell's long window."""

    cell: str


class SpeedEntry(Record):
    """How fast the machine was when a block began (`machine.speed`)."""

    block: int
    integer_loops_per_s: float
    copied_gib_per_s: float


class Facts(BaseModel):
    """Facts by name; further ones are allowed."""

    model_config = ConfigDict(frozen=True, extra="allow")


class MachineEntry(Facts):
    """The machine: its first four members, number of `cores_allowed` and speed are its identity."""

    processor: str | None = None
    cores_online: int | None = None
    memory_mib: int | None = None
    virtualisation: str | None = None
    speed: tuple[SpeedEntry, ...] = ()


class DatabaseEntry(Record):
    """A PostgreSQL."""

    version: str
    settings: dict[str, str]
    """Those that are not its own defaults."""
    fdatasync_us: float | None = None
    """Of 8 KiB where its data lie; None of a short run, which does not ask."""


class VersionsEntry(Facts):
    """What the numbers depend on and is no machine: runtimes, tools, builds."""

    java: str | None = None
    python: str | None = None
    jmeter: str | None = None
    packages: dict[str, str | None] | None = None
    measured: dict[str, str] | None = None
    """Fingerprints of the builds of services and load generator."""
    databases: dict[str, DatabaseEntry] | None = None
    """Of messages, by the settings that cells name."""


class ManifestEntry(RunRecord):
    """Which run it is."""

    minutes: float
    """What its finished blocks took."""
    interruptions: Count = 0
    interrupted: tuple[Interruption, ...] = ()
    """Each of them."""
    planned_blocks: Count | None = None
    spent_s: dict[str, float] = Field(default_factory=dict)
    """Of runs of before: what their time went to, by phase."""


class ExperimentEntry(Record):
    """The experiment as it was when the run began, with its claims."""

    name: str
    title: str
    profile: str
    toml: str
    claims_toml: str | None = None
    claims_sha256: str | None = None


class RunExport(Record):
    """A run."""

    form: int
    run: str
    experiment: ExperimentEntry
    manifest: ManifestEntry
    machine: MachineEntry
    versions: VersionsEntry
    claims: tuple[ClaimEntry, ...]
    cells: tuple[CellEntry, ...]
    """In the order of the experiment's file."""
    blocks: tuple[BlockEntry, ...]
    """By cell, in the order of `cells`, then by number."""
    steps: tuple[StepEntry, ...] = ()
    """Of an open load, in the order of measuring."""
    series: tuple[SeriesEntry, ...]
    """Of long windows; none where the run has none."""
    traces: tuple[TraceEntry, ...] = ()
    """By block and cell."""
    proofs: tuple[Proof, ...]
    answer: AnswerEntry | None = None
    calibration: CalibrationEntry | None = None
    microbench: MicrobenchEntry | None = None
    again: tuple[AgainEntry, ...] = ()
    predecessor: PredecessorEntry | None = None
    """None where cells have too few trials in a block, and in files of before."""
    windows: tuple[WindowEntry, ...] = ()

    @property
    def described(self) -> dict[str, Any]:
        """The machine and its versions as `machine.json` had them."""
        facts = self.machine.model_dump(exclude={"speed"}) | self.versions.model_dump()
        return {name: value for name, value in facts.items() if value is not None}

    @property
    def cores_allowed(self) -> Sequence[int] | None:
        """The cores that the run could use; None where nothing says so."""
        found: Sequence[int] | None = self.described.get("cores_allowed")
        return found

    @property
    def speeds(self) -> list[Mapping[str, float]]:
        """Of each block that was probed."""
        return [each.model_dump(exclude={"block"}) for each in self.machine.speed]


def schema() -> dict[str, Any]:
    """The JSON schema of the file, as `run.schema.json` has it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RunExport.model_json_schema(),
        "title": "run.json",
    }


def read(path: Path) -> RunExport:
    """A run from its file; Unreadable, in one line, where it is none or of another form."""
    document = store.read_object(path, _MEND)
    if (form := document.get("form")) != FORM:
        raise Unreadable(f"{path}: of form {form}, this version reads {FORM}: {_MEND}")
    return store.read_model(path, RunExport, _MEND)


_MEND = "make it again with 'restbench report', or restore it from a copy"


def write(path: Path, run: RunExport) -> None:
    """Write the file, whole or not at all: a line for each entry of a list, so that two versions
    can be told apart line by line."""
    values = run.model_dump(mode="json", exclude_defaults=True)
    members = ",\n".join(f'"{name}": {_lines(value)}' for name, value in values.items())
    write_text(path, f"{{\n{members}\n}}\n")


def _lines(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _compact(value)
    return "[\n" + ",\n".join(map(_compact, value)) + "\n]"


def _compact(value: object) -> str:
    return json.dumps(_rounded(value), ensure_ascii=False, separators=(",", ":"))


def _rounded(value: Any) -> Any:
    """Numbers in six significant digits: no interval is as narrow, and the file half as long."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value
