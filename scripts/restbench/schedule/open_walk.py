"""One cell's walk: warm up, offer rate after rate until the search is over."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from restbench.analyse import jtl
from restbench.analyse.open_results import StepResult, step_result
from restbench.drive import load, open_step
from restbench.drive.open_step import Rate, Way
from restbench.drive.quiet import drained
from restbench.drive.session import Session, renew_if_spent
from restbench.experiment import walk
from restbench.experiment.cell import Cell
from restbench.experiment.open_experiment import OpenOrder
from restbench.experiment.records import PlannedCell, Window
from restbench.failures import EnvironmentProblem, NotOffered, WrongAnswers
from restbench.machine.conditions import Conditions
from restbench.machine.placement import core_list
from restbench.prove import proof
from restbench.store import proofs
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run

#: JMeter's own bound on the closed load, beyond what is planned: it ends even if nobody stops it.
SPARE_S = 60.0
Say = Callable[[str], None]


class Walker:
    """The walk while it goes on."""

    def __init__(
        self, order: OpenOrder, run: Run, planned: PlannedCell, session: Session, say: Say
    ) -> None:
        """`say` is told each step's outcome, in a line."""
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
            raise NotOffered(
                f"{cell.service} {cell.strategy}: not offered by this service on "
                f"{session.runtime}; it offers {', '.join(session.offered)}"
            )
        proven = proof.prove(session.service, cell.strategy, cell.placement, session.cores.service)
        proofs.keep(self._run, proven)

    def _closed_load(self) -> float:
        """Warm the service up with a few users; the correct responses per second of the
        second half."""
        folder = self._run.walk_warmup(self._cell.id)
        folder.path.mkdir(parents=True, exist_ok=True)
        half = self._load_closed(folder)
        if not drained(self._session.service):
            raise EnvironmentProblem(
                f"{self._cell.id}: after a closed load the service goes on with requests whose "
                "clients are gone; choose fewer closed_users"
            )
        found = jtl.read(folder.samples, half)
        if found.wrong_in_load:
            raise WrongAnswers(
                f"{self._cell.id}: {found.wrong_in_load} wrong answers to a closed load"
            )
        counted, errors = found.count("correct"), found.count("error")
        if errors or not counted:
            raise EnvironmentProblem(
                f"{self._cell.id}: a closed load got {counted} correct responses and {errors} "
                f"errors: see {folder.samples}"
            )
        return round(counted / half.seconds, 1)

    def _load_closed(self, folder: CellFolder) -> Window:
        """Its second half, which is warmer."""
        seconds = self._order.profile.closed_s
        address = self._session.service.address
        users = {"users": self._order.experiment.rates.closed_users}
        cell = self._cell.model_copy(update=users)
        wanted = load.Target(cell, address, self._way.payload, seconds + SPARE_S)
        conditions = Conditions(folder.path)
        jmeter = load.start(wanted, folder, self._way.load_cores)
        try:
            jmeter.await_started()
            open_step.go_on(self._session.service, jmeter, conditions, seconds / 2)
            half_ms = round(time.time() * 1000)
            open_step.go_on(self._session.service, jmeter, conditions, seconds / 2)
            end_ms = round(time.time() * 1000)
        finally:
            jmeter.stop()
        conditions.check_end()
        return Window(start_ms=half_ms, end_ms=end_ms, ended="capped")

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
    shown = "no answer" if latency == math.inf else shown
    verdict = f"not met: {'; '.join(result.reasons)}" if result.reasons else "met"
    return f"{result.step.rate_per_s:7g}/s  {shown:>9}  {verdict}"
