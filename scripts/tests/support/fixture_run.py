"""Builds a run's folder as the machinery leaves it, from samples that a test knows one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from restbench.analyse import measures
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.experiment import load
from restbench.experiment.records import Manifest, PlannedCell, Proof, Window
from restbench.store.store import Run
from restbench.store.trials import Event, Trial
from restbench.store.writing import write_json, write_model, write_text

FIXTURES = Path(__file__).parent / "fixtures"
#: Lies inside the recorded sar and pidstat fixtures: their second and third sample.
START = 1_795_225_867_500
WINDOW = Window(start_ms=START, end_ms=START + 2_000)
#: By the service's clock, of every sample.
STAGES_MS = {"queue": 0.5, "parse": 1.0, "compute": 2.0, "serialize": 0.25}

EXPERIMENT = (FIXTURES / "mini.toml").read_text(encoding="utf-8")

MACHINE = {
    "processor": "A processor",
    "cores_online": 2,
    "cores_allowed": [0, 1],
    "memory_mib": 24_064,
    "kernel": "6.1.0",
    "system": "Debian GNU/Linux 12",
    "java": 'openjdk version "17.0.15"',
    "python": "3.11.7",
    "packages": {"numpy": "2.4.6"},
}


@dataclass(frozen=True)
class Sample:
    """One request, told by its END, as the window counts it. Correct unless said otherwise."""

    end_ms: int
    elapsed_ms: int
    code: str = "200"
    success: bool = True
    kind: str = ""
    """Of a mixed load."""
    elapsed_us: int | None = None


def error(end_ms: int, elapsed_ms: int = 5, code: str = "503") -> Sample:
    """A request that the service refused, or that never reached it."""
    return Sample(end_ms, elapsed_ms, code, success=False)


def wrong_answer(end_ms: int, elapsed_ms: int = 5) -> Sample:
    """Status 200 with another product."""
    return Sample(end_ms, elapsed_ms, success=False)


@dataclass
class Made:
    """A measurement to be laid down. `failed` says why there is none."""

    cell: Cell
    samples: list[Sample] = field(default_factory=list)
    block: int = 1
    service_cpu_ms: float | None = 1_900.0
    failed: str | None = None


def cell(text: str) -> Cell:
    """A cell from `java serial low 10` or `python process-per-request low 10 core0`, and from
    `python serial low 10 framework=fastapi`."""
    service, strategy, complexity, users, *others = text.split()
    named = dict(each.split("=", 1) for each in others if "=" in each)
    placement = [each for each in others if "=" not in each]
    return Cell.model_validate(
        {
            "service": service,
            "strategy": strategy,
            "complexity": complexity,
            "users": int(users),
            "placement": placement[0] if placement else "unbound",
            **named,
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


def begun(path: Path, experiment: str, cells: Iterable[tuple[Cell, int]], **known: Any) -> Run:
    """All of a run but its trials; `cells` with their blocks, `known` of the manifest."""
    run = Run(path)
    write_text(run.experiment_file, experiment)
    definition = load(run.experiment_file)
    plan = tuple(
        PlannedCell(cell=each, block=block, order=order, test_ids=definition.test_ids(each))
        for order, (each, block) in enumerate(cells, start=1)
    )
    manifest = {
        "run": run.name,
        "experiment": definition.name,
        "profile": "quick",
        "title": definition.title,
        "seed": 7,
        "started": "2026-11-21T01:50:00+00:00",
        "finished": "2026-11-21T01:52:00+00:00",
        "status": "complete",
        "git_commit": "0123456789abcdef0123456789abcdef01234567",
        "git_dirty": False,
        "command": f"restbench run {definition.name}",
        "plan": plan,
    }
    write_model(run.manifest_file, Manifest.model_validate(manifest | known))
    write_json(run.machine_file, MACHINE)
    write_json(run.proofs_file, [proof.model_dump() for proof in PROOFS])
    return run


def build(
    path: Path, made: list[Made], unmeasured: tuple[Cell, ...] = (), experiment: str = EXPERIMENT
) -> Run:
    """Lay down a whole run: experiment, manifest, machine, proofs, trials."""
    cells = [(each.cell, each.block) for each in made] + [(each, 1) for each in unmeasured]
    run = begun(path, experiment, cells)
    for entry in made:
        _lay_down(run, entry)
    return run


def row_of(path: Path, *made: Made) -> Row:
    """The row of a run of one cell."""
    (row,) = measures.rows(build(path / "run", list(made)))
    return row


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


def _lay_down(run: Run, made: Made) -> None:
    known = {each.block for each in run.trials.blocks()}
    if made.block not in known:
        run.trials.begin(made.block, "2026-11-21T01:50:00+00:00", {})
    run.trials.finish(made.block, "2026-11-21T01:52:00+00:00")
    if made.failed is not None:
        run.trials.note(
            Event("2026-11-21T01:51:00", "failed", made.failed, made.block, made.cell.id)
        )
        return
    run.trials.add([trial_of(made)])


def trial_of(made: Made) -> Trial:
    """The samples that end in the window, as one trial."""
    inside = [each for each in made.samples if WINDOW.start_ms <= each.end_ms < WINDOW.end_ms]
    correct = [each for each in inside if each.success]

    def elapsed_us(samples: list[Sample]) -> npt.NDArray[np.int64]:
        known = [each.elapsed_us or 1000 * each.elapsed_ms for each in samples]
        return np.sort(np.array(known, dtype=np.int64))

    kinds = dict.fromkeys(each.kind for each in correct if each.kind)
    wrong = [each for each in made.samples if not each.success and each.code == "200"]
    return Trial(
        block=made.block,
        round=1,
        cell=made.cell.id,
        users=made.cell.users,
        began_ms=WINDOW.start_ms,
        seconds=WINDOW.seconds,
        elapsed_us=elapsed_us(correct),
        errors=sum(not each.success and each.code != "200" for each in inside),
        wrong=len(wrong),
        stages_ms=STAGES_MS if correct else {},
        service_cpu_ms=made.service_cpu_ms,
        generator_cpu_ms=100.0,
        busy_ms=2_060.0,
        steal_ms=0.0,
        compilers_ms=0.0,
        collector_ms=0.0,
        memory_mib=100.0,
        kinds_us={kind: elapsed_us([e for e in correct if e.kind == kind]) for kind in kinds},
    )
