"""Builds a run's folder as the machinery leaves it, from response times that a test knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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
#: By the service's clock, of every response.
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


@dataclass
class Made:
    """A measurement to be laid down, of two seconds. `failed` says why there is none."""

    cell: Cell
    elapsed_ms: Sequence[float] = ()
    """The response time of each correct response."""
    errors: int = 0
    wrong: int = 0
    block: int = 1
    service_cpu_ms: float | None = 1_900.0
    kinds: Sequence[str] = ()
    """Of a mixed load: the kinds of the responses in turn."""
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


def steady_load(users: int, elapsed_ms: int, slow_user_ms: int | None = None) -> list[float]:
    """The response times of users without think time in two seconds; one of them may be slower."""
    slow = [float(slow_user_ms)] * (2_000 // slow_user_ms) if slow_user_ms else []
    return [float(elapsed_ms)] * round((users - bool(slow)) * 2_000 / elapsed_ms) + slow


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
    for block in {each.block for each in made}:
        run.trials.begin(block, "2026-11-21T01:50:00+00:00", {})
        run.trials.finish(block, "2026-11-21T01:52:00+00:00")
    for each in made:
        if each.failed is None:
            run.trials.add([trial_of(each)])
        else:
            at = "2026-11-21T01:51:00"
            run.trials.note(Event(at, "failed", each.failed, each.block, each.cell.id))
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


def trial_of(made: Made) -> Trial:
    """The measurement as one trial."""
    elapsed_us = np.rint(1000 * np.array(made.elapsed_ms)).astype(np.int64)
    kind_of = np.resize(np.array(made.kinds or [""]), elapsed_us.size)
    return Trial(
        block=made.block,
        round=1,
        cell=made.cell.id,
        users=made.cell.users,
        began_ms=WINDOW.start_ms,
        seconds=WINDOW.seconds,
        elapsed_us=np.sort(elapsed_us),
        errors=made.errors,
        wrong=made.wrong,
        stages_ms=STAGES_MS if elapsed_us.size else {},
        service_cpu_ms=made.service_cpu_ms,
        generator_cpu_ms=100.0,
        busy_ms=2_060.0,
        steal_ms=0.0,
        compilers_ms=0.0,
        collector_ms=0.0,
        memory_mib=100.0,
        kinds_us={kind: np.sort(elapsed_us[kind_of == kind]) for kind in dict.fromkeys(made.kinds)},
    )
