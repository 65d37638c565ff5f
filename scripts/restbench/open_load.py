"""A whole open-load run: for each cell the walk to its highest rate that meets the objective."""

from __future__ import annotations

from datetime import datetime

import httpx

from restbench import load, machine
from restbench.failures import Failure, WrongAnswers
from restbench.open_experiment import OpenOrder
from restbench.open_records import Walk
from restbench.open_walk import Say, Walker
from restbench.payload import make_payload
from restbench.records import Manifest, PlannedCell
from restbench.session import open_session
from restbench.store import Run, write_json, write_model, write_text


def execute(order: OpenOrder, run: Run, say: Say) -> None:
    """Walk every cell of the plan; a failed walk is recorded and the run goes on.

    What is started is stopped, however this ends.
    """
    manifest = _begin(order, run)
    status = "interrupted"
    try:
        for planned in order.plan:
            say(f"{planned.order}/{len(order.plan)}  {planned.cell.id}")
            write_model(run.walk_record(planned.cell.id), _walk_cell(order, run, planned, say))
        status = "complete"
    finally:
        write_model(
            run.manifest_file, manifest.model_copy(update={"status": status, "finished": _now()})
        )


def _begin(order: OpenOrder, run: Run) -> Manifest:
    commit, dirty = machine.git_commit()
    experiment = order.experiment
    manifest = Manifest(
        run=run.name,
        experiment=experiment.name,
        profile=order.profile_name,
        title=experiment.title,
        seed=experiment.seed,
        started=_now(),
        status="running",
        git_commit=commit,
        git_dirty=dirty,
        command=order.command,
        plan=order.plan,
    )
    write_text(run.experiment_file, order.experiment_text)
    write_json(run.machine_file, machine.describe() | {"jmeter": load.version()})
    for complexity in {each.cell.complexity for each in order.plan}:
        make_payload(
            experiment.shape(complexity),
            experiment.seed,
            experiment.element_min,
            experiment.element_max,
        ).write(run.payload(complexity))
    write_model(run.manifest_file, manifest)
    return manifest


def _walk_cell(order: OpenOrder, run: Run, planned: PlannedCell, say: Say) -> Walk:
    """The record of a cell's walk, on a service process of its own."""
    begun = Walk(
        cell=planned.cell,
        shape=order.experiment.shape(planned.cell.complexity),
        order=planned.order,
        status="walked",
    )
    try:
        with open_session(run, planned, order.attached) as session:
            walker = Walker(order, run, planned, session, say)
            return begun.model_copy(update=walker.walk())
    except (Failure, httpx.HTTPError) as error:
        wrong = ("wrong-answers",) if isinstance(error, WrongAnswers) else ()
        reason = str(error) or type(error).__name__
        say(f"FAILED {planned.cell.id}: {reason}")
        return begun.model_copy(update={"status": "failed", "reason": reason, "flags": wrong})


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
