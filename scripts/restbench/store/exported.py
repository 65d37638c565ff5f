"""A whole run in one file, `run.json`: results, verdicts, machine and versions.

It is written from the trials at a run's end, and again by `restbench report`. The page, the tables
and comparisons are made from this file alone (`analyse.exported`), so a copy of a run needs no
trials. Its JSON schema is `run.schema.json` next to this module, and `experiment.columns` explains
what is a column of a table. What a driver does not measure is absent, never 0.
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

#: The version of the file's format. A file of another version is refused.
FORMAT_VERSION = 1

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
    """A remark on a number that, unlike a warning, has no size."""

    kind: str
    text: str


class CellEntry(Record):
    """A cell over all its blocks: a row of the tables."""

    id: str
    factors: dict[str, str | int]
    """The level of every factor in `experiment.cell.FACTORS`."""
    test_ids: tuple[str, ...] = ()
    """The study's tests that this cell answers."""
    shape: Shape | None = None
    """The operand sizes. Absent where requests have several sizes (`mix`) or are no matrices."""
    mix: tuple[Kind, ...] = ()
    logs: Logs | None = None
    """Numbers of lines and rules, where a request consists of lines of a log."""
    throughput_per_s: Estimate | None = None
    cpu_ms_per_request: Estimate | None = None
    mean_ms: Estimate | None = None
    p50_ms: Estimate | None = None
    p95_ms: Estimate | None = None
    p99_ms: Estimate | None = None
    extras: dict[str, Estimate] = Field(default_factory=dict)
    """Metrics that only the cell's driver measures, by name, over the blocks that have them. Where
    all values are above 0, mean and interval are geometric."""
    blocks: Count
    """The number of blocks in which the cell was measured."""
    trials: Count
    """The number of trials in these blocks."""
    warnings: tuple[WarningEntry, ...]
    notes: tuple[NoteEntry, ...]


class KindEntry(Record):
    """One kind of request of a mix in one block: correct responses alone."""

    completions: Count
    mean_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None


class BlockEntry(Record):
    """One cell in one block: the results of all its trials together, or why there are none.

    Throughput is `completions / seconds`. The response time from Little's law, N/X in milliseconds,
    is `1000 users seconds / completions`.
    """

    cell: str
    block: int
    trials: Count | None = None
    completions: Count | None = None
    """Correct responses."""
    errors: Count = 0
    wrong_answers: Count = 0
    seconds: float | None = None
    """The total time that was kept of the trials."""
    cpu_ms_per_request: float | None = None
    generator_share: float | None = None
    users_in_flight: float | None = None
    mean_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    within_block_se: float | None = None
    """Relative standard error of the throughput over the block's trials."""
    load_cpu_pct: float | None = None
    machine_cpu_pct: float | None = None
    """CPU use of all processes, percent of the cores that the run may use; `steal_pct` and
    `foreign_pct` are percentages of the same."""
    steal_pct: float | None = None
    """CPU time that the hypervisor took away."""
    foreign_pct: float | None = None
    """CPU time that went to neither service nor load generator."""
    compile_share: float | None = None
    """The compilers' share of the service's CPU time, 0 to 1."""
    gc_share: float | None = None
    """The garbage collector's share of the service's CPU time, 0 to 1."""
    count_gap: float | None = None
    """The difference between the service's and the load generator's count of a strategy's requests,
    as a part of the service's."""
    start_gap: float | None = None
    """The difference that the start of the trials makes to the throughput, as a part of that of the
    rest (method, rule 3); 0 where chance explains it."""
    off_cores_share: float | None = None
    """The share of the service's CPU time on cores that it was not given, 0 to 1."""
    connections: Sequence[Sequence[Count]] | None = None
    """For each trial with several workers and kept connections: the number of connections of each
    worker that has any, the largest first."""
    memory_mib: float | None = None
    queue_ms: float | None = None
    parse_ms: float | None = None
    compute_ms: float | None = None
    serialize_ms: float | None = None
    kinds: Mapping[str, KindEntry] = Field(default_factory=dict)
    """The kinds of requests of a mix, by name."""
    extras: Mapping[str, float] = Field(default_factory=dict)
    flags: tuple[str, ...] = ()
    reason: str | None = None
    """Why the block has no result, or an incomplete one."""
    warnings: tuple[WarningEntry, ...]


class StepEntry(Record):
    """One rate of an open load, offered once, with the outcome of the arrivals in its window.

    Latency counts from the intended moment of sending, over ALL arrivals: one without a correct
    answer is slower than any other.
    """

    cell: str
    block: int
    rate_per_s: float
    achieved_per_s: float
    """Correct answers per second."""
    arrivals: Count
    unsent: Count = 0
    """Arrivals that were not sent when the load was over."""
    late: Count = 0
    """Arrivals that were sent over 10 ms late."""
    errors: Count = 0
    wrong_answers: Count = 0
    lateness_p95_ms: float | None = None
    sent_p95_ms: float | None = None
    """95th percentile of the latency from the actual moment of sending."""
    p50_ms: float | None = None
    """This percentile and the next three are None where the arrivals are too few, or where the
    percentile falls on an arrival without a correct answer."""
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    load_cpu_pct: float | None = None
    met: bool
    reasons: tuple[str, ...] = ()


class SeriesEntry(JoinedCourse):
    """One column of a cell's long window over time."""

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
    """The machine. Its identity is the first four members, the number of `cores_allowed` and the
    speed."""

    processor: str | None = None
    cores_online: int | None = None
    memory_mib: int | None = None
    virtualisation: str | None = None
    speed: tuple[SpeedEntry, ...] = ()


class DatabaseEntry(Record):
    """A PostgreSQL server that a run used."""

    version: str
    settings: dict[str, str]
    """The settings that differ from PostgreSQL's defaults."""
    fdatasync_us: float | None = None
    """Time of an fdatasync of 8 KiB on the disk of its data; None for a short run, which does not
    measure it."""


class VersionsEntry(Facts):
    """What the numbers depend on besides the machine: versions of runtimes, tools and builds."""

    java: str | None = None
    python: str | None = None
    jmeter: str | None = None
    packages: dict[str, str | None] | None = None
    measured: dict[str, str] | None = None
    """Fingerprints of the builds of services and load generator."""
    databases: dict[str, DatabaseEntry] | None = None
    """The databases of message loads, by the settings that cells name."""


class ManifestEntry(RunRecord):
    """The identity of the run, and how long it took."""

    minutes: float
    """The total time of the finished blocks."""
    last_block_minutes: float | None = None
    """The time of the last of them; None in older runs."""
    interruptions: Count = 0
    interrupted: tuple[Interruption, ...] = ()
    planned_blocks: Count | None = None
    spent_s: dict[str, float] = Field(default_factory=dict)
    """Time by phase; only in older runs."""


class ExperimentEntry(Record):
    """The experiment as it was when the run began, with its claims."""

    name: str
    title: str
    profile: str
    toml: str
    claims_toml: str | None = None
    claims_sha256: str | None = None


class RunExport(Record):
    """A whole run, as `run.json` holds it."""

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
    """The steps of an open load, in the order of measuring."""
    series: tuple[SeriesEntry, ...]
    """The columns of long windows over time; empty where the run has no long window."""
    traces: tuple[TraceEntry, ...] = ()
    """In the order of block and cell."""
    proofs: tuple[Proof, ...]
    answer: AnswerEntry | None = None
    calibration: CalibrationEntry | None = None
    microbench: MicrobenchEntry | None = None
    again: tuple[AgainEntry, ...] = ()
    predecessor: PredecessorEntry | None = None
    """None where cells have too few trials in a block, and in older files."""
    factorial: dict[str, Any] | None = None
    """The effects of a factorial design (`analyse.factorial`); None without a design, or where no
    block has every corner of it."""
    windows: tuple[WindowEntry, ...] = ()

    @property
    def described(self) -> dict[str, Any]:
        """The facts on machine and versions, as in `machine.json`, without unknown ones."""
        facts = self.machine.model_dump(exclude={"speed"}) | self.versions.model_dump()
        return {name: value for name, value in facts.items() if value is not None}

    @property
    def cores_allowed(self) -> Sequence[int] | None:
        """The cores that the run could use; None where that is not recorded."""
        found: Sequence[int] | None = self.described.get("cores_allowed")
        return found

    @property
    def speeds(self) -> list[Mapping[str, float]]:
        """The machine's speed at the start of each block for which it was measured."""
        return [each.model_dump(exclude={"block"}) for each in self.machine.speed]


def schema() -> dict[str, Any]:
    """The JSON schema of the file, as `run.schema.json` has it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RunExport.model_json_schema(),
        "title": "run.json",
    }


def read(path: Path) -> RunExport:
    """Read a run. Raises Unreadable (one line) where the file holds none or has another format."""
    document = store.read_object(path, _MEND)
    if (form := document.get("form")) != FORMAT_VERSION:
        raise Unreadable(f"{path}: of form {form}, this version reads {FORMAT_VERSION}: {_MEND}")
    return store.read_model(path, RunExport, _MEND)


_MEND = "make it again with 'restbench report', or restore it from a copy"


def write(path: Path, run: RunExport) -> None:
    """Write the file atomically. Each entry of a list has its own line, so that two versions can be
    compared line by line."""
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
    """Round numbers to six significant digits: no interval is that narrow; it halves the file."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value
