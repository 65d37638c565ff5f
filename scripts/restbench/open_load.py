"""A whole open-load run: for each cell the walk to its highest rate that meets the objective."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

import httpx

from restbench import load, machine, open_step, proof, walk
from restbench.cell import Cell
from restbench.failures import EnvironmentProblem, Failure, WrongAnswers
from restbench.measure import drained
from restbench.open_experiment import OpenOrder
from restbench.open_records import Walk
from restbench.open_results import StepResult, step_result
from restbench.open_step import Rate, Way
from restbench.payload import make_payload
from restbench.placement import core_list
from restbench.records import Manifest, PlannedCell
from restbench.session import Session, open_session, renew_if_spent
from restbench.store import Run, write_json, write_model, write_text

#: JMeter's own bound on the closed load, beyond what is planned: it ends even if nobody stops it.
SPARE_S = 60.0
Say = Callable[[str], None]


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
            walker = _Walker(order, run, planned, session, say)
            return begun.model_copy(update=walker.walk())
    except (Failure, httpx.HTTPError) as error:
        wrong = ("wrong-answers",) if isinstance(error, WrongAnswers) else ()
        reason = str(error) or type(error).__name__
        say(f"FAILED {planned.cell.id}: {reason}")
        return begun.model_copy(update={"status": "failed", "reason": reason, "flags": wrong})


class _Walker:
    """One cell's walk while it goes on."""

    def __init__(
        self, order: OpenOrder, run: Run, planned: PlannedCell, session: Session, say: Say
    ) -> None:
        self._order, self._run, self._planned = order, run, planned
        self._session, self._say = session, say
        self._cell: Cell = planned.cell
        self._way = Way(run.payload(planned.cell.complexity), core_list(session.cores.load))

    def walk(self) -> dict[str, object]:
        """Prove, warm up, take steps until the search is over; returns what the record lacks."""
        self._prove()
        flags = set(self._session.take_flags())
        closed_per_s = self._closed_load()
        out_of_time = self._take_steps(closed_per_s)
        return {
            "closed_per_s": closed_per_s,
            "out_of_time": out_of_time,
            "service_cores": self._session.cores.service,
            "load_cores": self._session.cores.load,
            "commands": {"service": self._session.service.command},
            "flags": tuple(sorted(flags | set(self._session.take_flags()))),
        }

    def _prove(self) -> None:
        session, cell = self._session, self._cell
        if cell.strategy not in session.offered:
            raise EnvironmentProblem(
                f"{cell.service} {cell.strategy}: not offered by this service on "
                f"{session.runtime}; it offers {', '.join(session.offered)}"
            )
        proven = proof.prove(session.service, cell.strategy, cell.placement, session.cores.service)
        write_json(
            self._run.proofs_file,
            [each.model_dump() for each in (*self._run.proofs(), proven)],
        )

    def _closed_load(self) -> float:
        """Warm the service up with all users at once; the correct responses per second of the
        second half."""
        folder = self._run.walk_warmup(self._cell.id)
        folder.path.mkdir(parents=True, exist_ok=True)
        seconds = self._order.profile.closed_s
        wanted = load.Target(
            self._cell, self._session.service.address, self._way.payload, seconds + SPARE_S
        )
        jmeter = load.start(wanted, folder, self._way.load_cores)
        try:
            jmeter.await_started()
            time.sleep(seconds / 2)
            half_ms = round(time.time() * 1000)
            time.sleep(seconds / 2)
        finally:
            jmeter.stop()
        counted = jmeter.follower.correct_since(half_ms)
        if not drained(self._session.service):
            raise EnvironmentProblem(
                f"{self._cell.id}: after a closed load the service goes on with requests whose "
                "clients are gone; choose fewer users"
            )
        if not counted or jmeter.follower.others:
            raise EnvironmentProblem(
                f"{self._cell.id}: a closed load of {self._cell.users} users got {counted} correct "
                f"responses and {jmeter.follower.others} others: see {folder.samples}"
            )
        return round(counted / (seconds / 2), 1)

    def _take_steps(self, closed_per_s: float) -> bool:
        """Until the search is over; True where time was over first."""
        experiment, profile = self._order.experiment, self._order.profile
        search = experiment.search(profile)
        start_per_s = closed_per_s * experiment.rates.start_share
        deadline = time.monotonic() + profile.walk_max_s
        taken: list[StepResult] = []
        while rate := walk.next_rate([each.tried for each in taken], start_per_s, search):
            if time.monotonic() >= deadline:
                return True
            taken.append(self._take_step(len(taken) + 1, rate))
            self._say(f"      {_line(taken[-1])}")
        return False

    def _take_step(self, number: int, rate_per_s: float) -> StepResult:
        experiment = self._order.experiment
        rate = Rate(
            cell=self._cell,
            number=number,
            per_s=rate_per_s,
            phases=experiment.phases(rate_per_s, self._order.profile),
            arrivals=experiment.arrivals,
            seed=experiment.seed,
        )
        folder = self._run.walk_step(self._cell.id, number)
        step = open_step.offer(self._session.service, rate, self._way, folder)
        self._settle()
        result = step_result(step, folder, experiment.objective)
        if result.answered.wrong_in_load:
            raise WrongAnswers(
                f"{self._cell.id}: {result.answered.wrong_in_load} wrong answers at "
                f"{rate_per_s:g}/s: see {folder.samples}"
            )
        return result

    def _settle(self) -> None:
        """The next load meets a service that has nothing left to do: waited for, or started anew
        and warmed up."""
        if drained(self._session.service):
            return
        self._session.spent = True
        renew_if_spent(self._run, self._planned, self._session)
        if self._session.restarted:
            self._closed_load()


def _line(result: StepResult) -> str:
    latency = result.latency_ms
    shown = "no percentile" if latency is None else f"{latency:.0f} ms"
    verdict = f"not met: {'; '.join(result.reasons)}" if result.reasons else "met"
    return f"{result.step.rate_per_s:7g}/s  {shown:>9}  {verdict}"


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
