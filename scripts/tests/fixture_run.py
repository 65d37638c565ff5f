"""Builds a run's folder as the machinery leaves it, from samples that a test knows one by one."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from jtl_lines import Sample, jtl

from restbench.experiment.cell import Cell
from restbench.experiment.experiment import Experiment, load
from restbench.experiment.records import CellRun, Manifest, PlannedCell, Proof, Usage, Window
from restbench.store.store import Run
from restbench.store.writing import write_json, write_model, write_text

FIXTURES = Path(__file__).parent / "fixtures"
#: Lies inside the recorded sar and pidstat fixtures: their second and third sample.
START = 1_795_225_867_500
WINDOW = Window(start_ms=START, end_ms=START + 2_000, ended="enough")
#: The processes of pidstat.txt: the busy one is the service, the sleeping one the load.
SERVICE_PID, LOAD_PID = 14528, 14527

EXPERIMENT = (FIXTURES / "mini.toml").read_text(encoding="utf-8")

MACHINE = {
    "processor": "A processor",
    "cores_online": 2,
    "memory_mib": 24_064,
    "kernel": "6.1.0",
    "system": "Debian GNU/Linux 12",
    "java": 'openjdk version "17.0.15"',
    "python": "3.11.7",
    "packages": {"numpy": "2.4.6"},
}


@dataclass
class Made:
    """A measurement to be laid down. `failed` says why there is none."""

    cell: Cell
    samples: list[Sample] = field(default_factory=list)
    block: int = 1
    service_cpu_ms: float | None = 1_900.0
    service_requests: float | None = None
    flags: tuple[str, ...] = ()
    failed: str | None = None
    tail: str = ""


def cell(text: str) -> Cell:
    """A cell from `java serial low 10` or `python process-per-request low 10 core0`."""
    service, strategy, complexity, users, *placement = text.split()
    return Cell.model_validate(
        {
            "service": service,
            "strategy": strategy,
            "complexity": complexity,
            "users": int(users),
            "placement": placement[0] if placement else "unbound",
        }
    )


def steady_load(users: int, elapsed_ms: int, slow_user_ms: int | None = None) -> list[Sample]:
    """Users without think time from 1 s before the window to 0.5 s after it, in steps of their
    response time; one of them may be slower. Ends are spread over the response time."""
    samples = []
    for user in range(users):
        step = slow_user_ms if slow_user_ms and user == 0 else elapsed_ms
        first = START - 1_000 + user * elapsed_ms // users
        samples += [Sample(end, step) for end in range(first, START + 2_500, step)]
    return sorted(samples, key=lambda sample: sample.end_ms)


def build(
    path: Path, made: list[Made], unmeasured: tuple[Cell, ...] = (), experiment: str = EXPERIMENT
) -> Run:
    """Lay down a whole run: experiment, manifest, machine, proofs, raw data."""
    run = Run(path)
    write_text(run.experiment_file, experiment)
    definition = load(run.experiment_file)
    cells = [(each.cell, each.block) for each in made] + [(each, 1) for each in unmeasured]
    plan = tuple(
        PlannedCell(cell=each, block=block, order=order, test_ids=definition.test_ids(each))
        for order, (each, block) in enumerate(cells, start=1)
    )
    write_model(run.manifest_file, _manifest(run, plan))
    write_json(run.machine_file, MACHINE)
    write_json(run.proofs_file, [proof.model_dump() for proof in PROOFS])
    for entry, planned in zip(made, plan, strict=False):
        _lay_down(run, entry, planned, definition)
    return run


PROOFS = (
    Proof(
        service="java",
        strategy="serial",
        placement="unbound",
        does=True,
        claim="the request's own thread does the work",
        evidence="http-exec-1 used 99 % of the CPU time",
    ),
    Proof(
        service="java",
        strategy="pinned",
        placement="unbound",
        does=False,
        claim="one worker is bound to one core",
        evidence="pinned-0 may run on 0,1 <both>",
    ),
    Proof(
        service="python",
        strategy="process-per-request",
        placement="unbound",
        does=None,
        claim="a process of the pool does the work",
        evidence="attached: nothing can be seen",
    ),
)


def _manifest(run: Run, plan: tuple[PlannedCell, ...]) -> Manifest:
    return Manifest(
        run=run.name,
        experiment="mini",
        profile="quick",
        title="A small study",
        seed=7,
        started="2026-11-21T01:50:00+00:00",
        finished="2026-11-21T01:52:00+00:00",
        status="complete",
        git_commit="0123456789abcdef0123456789abcdef01234567",
        git_dirty=False,
        command="restbench run mini",
        plan=plan,
    )


def _lay_down(run: Run, made: Made, planned: PlannedCell, definition: Experiment) -> None:
    folder = run.cell(made.block, made.cell.id)
    folder.path.mkdir(parents=True)
    if made.failed is None:
        folder.samples.write_text(jtl(made.samples) + made.tail, encoding="utf-8")
        shutil.copy(FIXTURES / "sar.json", folder.sar_json)
        shutil.copy(FIXTURES / "pidstat.txt", folder.pidstat)
        folder.metrics.write_text(_metrics(), encoding="utf-8")
    write_model(folder.record, _record(made, planned, definition))


def _record(made: Made, planned: PlannedCell, definition: Experiment) -> CellRun:
    mix = definition.mix(made.cell.complexity)
    answered = sum(sample.code.isdigit() for sample in made.samples)
    usage = Usage(
        service_cpu_ms=made.service_cpu_ms,
        load_cpu_ms=100.0,
        service_requests=made.service_requests or answered + made.cell.users // 2,
    )
    return CellRun(
        cell=made.cell,
        shape=None if mix else definition.shape(made.cell.complexity),
        mix=mix,
        test_ids=planned.test_ids,
        block=made.block,
        order=planned.order,
        status="failed" if made.failed else "measured",
        reason=made.failed,
        window=None if made.failed else WINDOW,
        warmup_s=1.0,
        usage=None if made.failed else usage,
        service_cores=(0, 1),
        load_cores=(0, 1),
        service_pids=(SERVICE_PID,),
        load_pid=LOAD_PID,
        payload_seed=7,
        flags=made.flags,
    )


def _metrics() -> str:
    """Five samples a half second apart, from half a second before the window to its end."""
    lines = []
    for n in range(5):
        values = {
            'jvm_memory_used_bytes{area="heap",id="G1 Eden Space"}': (10 + n) * 2**20,
            'jvm_memory_used_bytes{area="heap",id="G1 Old Gen"}': 5 * 2**20,
            'jvm_memory_used_bytes{area="nonheap",id="Metaspace"}': 900 * 2**20,
            'jvm_gc_pause_seconds_sum{action="end of minor GC",cause="G1"}': 0.010 * n,
            'jvm_threads_states_threads{state="runnable"}': 4 + 2 * (n % 2),
            'jvm_threads_states_threads{state="blocked"}': 1,
        }
        lines.append(json.dumps({"t_ms": START - 500 + 500 * n, "values": values}) + "\n")
    return "".join(lines) + '{"t_ms": 17952'
