"""One block: fresh services, warm-up, then interleaved trials of every cell (method, rules 1-5)."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import httpx
import numpy as np
import numpy.typing as npt

from restbench.drive import generator, monitor
from restbench.drive.generator import (
    CORRECT,
    ERROR,
    STAGES,
    WRONG,
    Generator,
    GeneratorGone,
    Sent,
)
from restbench.drive.payload import Requests, requests_of
from restbench.experiment.cell import OPTIONAL, Cell
from restbench.experiment.order import Order
from restbench.experiment.plan import service_group
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem, StorageProblem, WrongAnswers
from restbench.machine import clock, compilers, process, speed
from restbench.machine.placement import allowed_cores, core_list, place
from restbench.prove import proof
from restbench.schedule.deployments import Deployments, Key, Running
from restbench.schedule.pace import (
    Contest,
    Pace,
    Planned,
    bands,
    interleaved,
    predicted_s,
    rounds_of,
    singles,
)
from restbench.store import proofs
from restbench.store.store import Run
from restbench.store.trials import Event, Trial, TrialFile

#: Of a warm service the compilers take no more of its CPU time (method, rule 3).
WARM_SHARE = compilers.QUIET_SHARE
#: One warming trial of a strategy: its users, and how long.
WARMING_USERS = 10
WARMING_S = 0.5
#: The load of every cell that tells how long its trials are.
PILOT_S = 0.3
#: A response time up to this is measured before a cell's trials; a longer one would take too long.
PILOT_UP_TO_S = 0.5
#: Of a block's time for trials, the part for cells that are slow or that no claim compares, and how
#: many trials a slow one has in a run at most.
SINGLES_PART = 0.45
MOST_SLOW_TRIALS = 3
NOT_MEASURED = "not-measured"
#: A JVM's garbage collector, by the names of its threads.
COLLECTORS = ("GC Thread", "G1 ")
#: A request that takes longer when nobody else sends one is not tried with many users.
LONGEST_REQUEST_S = 30.0
#: Requests that never reached the service, or whose answer never came, are in one count alone.
COUNT_TOLERANCE = 0.001


@dataclass(frozen=True)
class Wanted:
    """What a block is to measure, and in what time."""

    block: int
    contests: Sequence[Contest]
    seconds: float


@dataclass
class Progress:
    """What a block is at, for whoever watches."""

    block: int
    done: int = 0
    planned: int = 0
    cell: str = "starting services"
    per_s: float = 0.0
    until: float = 0.0
    """When it is to end, by the monotonic clock."""


class View(Protocol):
    """Who is told how a block goes on."""

    def note(self, text: str) -> None:
        """A line worth reading."""

    def show(self, progress: Progress) -> None:
        """What the block is at; told at every trial."""


@dataclass
class BlockRun:
    """A block that is being measured."""

    order: Order
    run: Run
    wanted: Wanted
    deployments: Deployments
    load: Generator
    view: View
    progress: Progress
    paces: dict[Cell, Pace] = field(default_factory=dict)
    sent: Counter[tuple[Key, str]] = field(default_factory=Counter)
    """How many requests each strategy of each service was sent, for the service's own count."""
    lost: dict[Cell, str] = field(default_factory=dict)
    """The cells that have no further trials in this block, with the reason."""

    @property
    def block(self) -> int:
        """Its number, from 1."""
        return self.wanted.block

    @property
    def file(self) -> TrialFile:
        """Where its trials are appended."""
        return self.run.trials

    @property
    def cells(self) -> list[Cell]:
        """Those that still have trials, each once."""
        every = dict.fromkeys(cell for each in self.wanted.contests for cell in each.cells)
        return [cell for cell in every if cell not in self.lost]

    def lose(self, cell: Cell, kind: str, why: str) -> None:
        """No further trial of a cell in this block; the others go on."""
        self.lost[cell] = why
        self.file.note(Event(clock.now_text(), kind, why, self.block, cell.id))
        self.view.note(f"{kind}  {cell.id}: {why}")


def measure(order: Order, run: Run, wanted: Wanted, view: View) -> None:
    """Measure one block, its start included in its time; its trials are in the run's file.

    What goes wrong with a cell is an event, and its cell has no trials. StorageProblem, and what
    interrupts, are the caller's.
    """
    ends = time.monotonic() + wanted.seconds
    file = run.trials
    cores = place("unbound", allowed_cores(), run.load_cores())
    facts = {"speed": speed.probe(), "load_cores": cores.load, "shared_cores": cores.shared}
    file.begin(wanted.block, clock.now_text(), facts)
    with _opened(order, run, wanted, view) as here:
        here.progress.until = ends
        _look_at(here)
        _prove(here)
        counted = _counted(here)
        _warm(here)
        _pilot(here)
        _measure(here, ends)
        _check_counts(here, counted)
        _check_cores(here)
    file.finish(wanted.block, clock.now_text())


@contextmanager
def _opened(order: Order, run: Run, wanted: Wanted, view: View) -> Iterator[BlockRun]:
    cells = dict.fromkeys(cell for each in wanted.contests for cell in each.cells)
    progress = Progress(wanted.block)
    view.show(progress)
    deployments = Deployments(run, wanted.block, order.experiment.settings, order.attached)
    try:
        deployments.start(dict.fromkeys(map(service_group, cells)))
        cores = next((each.cores for each in deployments.up.values()), None)
        users = max((cell.users for cell in cells), default=1)
        folder = run.path / "load" / f"block-{wanted.block}"
        load_cores = core_list(cores.load) if cores and not cores.shared else None
        with generator.started(max(users, WARMING_USERS), folder, load_cores) as load:
            yield BlockRun(order, run, wanted, deployments, load, view, progress)
    finally:
        deployments.stop()


def _look_at(here: BlockRun) -> None:
    """One request of each kind of cell: what is not offered, answers wrong or takes too long has no
    trials."""
    seen: dict[tuple[object, ...], float | Exception] = {}
    for cell in here.cells:
        if why := here.deployments.lacks(cell):
            absent = (cell.service, cell.strategy) in OPTIONAL
            here.lose(cell, "not-offered" if absent else "failed", why)
            continue
        kind = (service_group(cell), cell.strategy, cell.complexity, cell.kernel)
        if kind not in seen:
            seen[kind] = _one_request(here, cell)
        found = seen[kind]
        if isinstance(found, Exception):
            here.lose(cell, "wrong" if isinstance(found, WrongAnswers) else "failed", str(found))
        elif found > LONGEST_REQUEST_S:
            here.lose(cell, "too-slow", f"a single request takes {found:.0f} s")
        else:
            _announce(here, cell)


def _one_request(here: BlockRun, cell: Cell) -> float | Exception:
    """How long it takes; what is wrong with it."""
    running = _running(here, cell)
    begun = time.monotonic()
    try:
        for name, payload in _requests(here, cell).payloads.items():
            answer = running.service.post(cell.strategy, cell.kernel, payload.body("look"))
            if answer.status_code != httpx.codes.OK:
                return EnvironmentProblem(f"{name}: {answer.status_code} {answer.text[:200]}")
            if answer.content != payload.answer("look"):
                return WrongAnswers(f"{name}: a wrong product before the first trial")
    except httpx.HTTPError as error:
        _renew_if_dead(here, cell)
        return EnvironmentProblem(f"no answer to one request: {error or type(error).__name__}")
    return time.monotonic() - begun


def _requests(here: BlockRun, cell: Cell) -> Requests:
    return requests_of(here.order.experiment, cell.complexity)


def _running(here: BlockRun, cell: Cell) -> Running:
    running = here.deployments.of(cell)
    if running is None:
        raise EnvironmentProblem(here.deployments.lacks(cell) or "its service is not up")
    return running


def _announce(here: BlockRun, cell: Cell) -> None:
    base = _running(here, cell).service.base_url
    url = f"{base}/matrix/{cell.strategy}?kernel={cell.kernel}"
    here.load.cell(cell.id, url, here.run.payload(cell.complexity))


def _prove(here: BlockRun) -> None:
    """Each strategy of each service, once a run."""
    known = {(each.service, each.strategy, each.placement) for each in here.run.proofs()}
    for cell in here.cells:
        key = (cell.service, cell.strategy, cell.placement)
        if key in known or cell in here.lost:
            continue
        known.add(key)
        here.progress.cell = f"proof of {cell.service} {cell.strategy}"
        here.view.show(here.progress)
        found = _proof(here, cell)
        if found is None:
            for other in here.cells:
                if (other.service, other.strategy, other.placement) == key:
                    here.lose(other, "failed", "its service dies of a few requests at once")
            continue
        proofs.keep(here.run, found)
        says = {True: "DOES", False: "DOES NOT", None: "NOT PROVEN"}[found.does]
        name = f"{cell.service} {cell.strategy} ({cell.placement})"
        here.view.note(f"proof  {name} {says}: {found.claim}; {found.evidence}")


def _proof(here: BlockRun, cell: Cell) -> Proof | None:
    """None where the service dies of it twice."""
    for _attempt in range(2):
        running = _running(here, cell)
        found = proof.prove(running.service, cell.strategy, cell.placement, running.cores.service)
        if running.service.serves():
            return found
        if not _renew_if_dead(here, cell):
            break
    return None


def _warm(here: BlockRun) -> None:
    """Short loads on every strategy in turn, the smallest size of each, until a service's compilers
    are quiet in a whole turn or its time is up."""
    smallest: dict[tuple[object, ...], Cell] = {}
    for cell in sorted(here.cells, key=lambda each: _work(here, each)):
        smallest.setdefault((service_group(cell), cell.strategy, cell.kernel), cell)
    waiting = list(smallest.values())
    begun = time.monotonic()
    spent = dict.fromkeys((service_group(cell) for cell in waiting), 0.0)
    while waiting:
        shares: dict[object, list[float]] = {}
        for cell in waiting:
            here.progress.cell = f"warming up {cell.service} {cell.strategy}"
            here.view.show(here.progress)
            before = time.monotonic()
            users = min(WARMING_USERS, here.load.users)
            share = _compilers_share(here, cell, users)
            spent[service_group(cell)] += time.monotonic() - before
            shares.setdefault(service_group(cell), []).append(share)
        waiting = [
            cell
            for cell in waiting
            if cell not in here.lost
            and max(shares.get(service_group(cell), [0.0])) > WARM_SHARE
            and spent[service_group(cell)] < here.order.profile.warm_max_s[cell.service]
        ]
    here.view.note(f"block {here.block}: warm after {time.monotonic() - begun:.0f} s")


def _compilers_share(here: BlockRun, cell: Cell, users: int) -> float:
    """Of the service's CPU time under a short load, what its compilers took; 0 where the cell is
    lost of it."""
    running = here.deployments.of(cell)
    pids = running.service.pids() if running else ()
    before_ms, worked_ms = compilers.cpu_ms(pids), process.cpu_ms(pids)
    if _short_load(here, cell, users, WARMING_S) is None:
        return 0.0
    worked_ms = process.cpu_ms(pids) - worked_ms
    return (compilers.cpu_ms(pids) - before_ms) / worked_ms if worked_ms > 0 else 0.0


def _work(here: BlockRun, cell: Cell) -> int:
    return min(each.shape.products for each in _requests(here, cell).payloads.values())


def _pilot(here: BlockRun) -> None:
    """How long each cell's trials are, from its response time: that of earlier blocks or of the
    same cell with fewer users where it is long, else that of a short load, which also warms it up.
    What would take longer than the profile gives has no trials."""
    told: dict[str, float] = {}
    for each in here.file.blocks():
        told |= each.facts.get("response_s", {})
    told |= {cell: found for cell, (_, found) in here.file.tried().items()}
    known = {cell: told[cell.id] for cell in here.cells if cell.id in told}
    cores = max((len(each.cores.service) for each in here.deployments.up.values()), default=1)
    for cell in sorted(here.cells, key=lambda each: each.users):
        here.progress.cell = cell.id
        here.view.show(here.progress)
        found = known.get(cell) or predicted_s(cell, known, cores)
        if found is None or found <= PILOT_UP_TO_S:
            found = _response_s(here, cell)
        if found is None:
            continue
        known[cell] = found
        here.paces[cell] = Pace(found, once=found > here.order.profile.slow_round_s)
        limit = here.order.profile.longest_round_s
        if found > limit and not here.order.experiment.test_ids(cell):
            _not_measured(here, cell, f"the profile's limit is {limit:g} s")
    found_s = {cell.id: round(pace.response_s, 6) for cell, pace in here.paces.items()}
    here.file.fact(here.block, "response_s", found_s)


def _not_measured(here: BlockRun, cell: Cell, why: str) -> None:
    """No trial of a slow cell; told in one block of a run."""
    told = {each.cell for each in here.file.events() if each.kind == NOT_MEASURED}
    pace = here.paces[cell]
    text = (
        f"a round of its users takes {pace.response_s:.0f} s, {why}; it needs {pace.seconds:.0f} s"
    )
    if cell.id in told:
        here.lost[cell] = text
    else:
        here.lose(cell, NOT_MEASURED, text)


def _response_s(here: BlockRun, cell: Cell) -> float | None:
    """The mean over all requests of a short load; None, and the cell is lost, where none was
    right."""
    sent = _short_load(here, cell, cell.users, PILOT_S)
    if sent is None:
        return None
    correct = sent.records[sent.records["outcome"] == CORRECT]
    return float(correct["elapsed_us"].mean()) / 1e6


def _short_load(here: BlockRun, cell: Cell, users: int, seconds: float) -> Sent | None:
    """A load that is not measured, its last answers waited for; None, and the cell is lost, where
    no answer was right twice, the second time on a fresh service."""
    error = "its service is gone"
    for _attempt in range(2):
        running = here.deployments.of(cell)
        if running is None:
            break
        sent = here.load.trial(cell.id, users, 0.0, seconds, running.service.pids())
        here.sent[service_group(cell), cell.strategy] += sent.records.size
        if (sent.records["outcome"] == CORRECT).any():
            return sent
        error = sent.first_error or "no answer to a short load"
        if not _renew_if_dead(here, cell):
            break
    here.lose(cell, "failed", error)
    return None


def _measure(here: BlockRun, ends: float) -> None:
    seconds = ends - time.monotonic()
    alone = _alone(here, SINGLES_PART * seconds)
    compared = [
        band
        for each in here.wanted.contests
        if each.compared
        for band in bands(replace(each, cells=_fast(here, each.cells)), here.paces)
    ]
    left_s = seconds - sum(count * here.paces[cell].seconds for cell, count in alone.items())
    rounds = rounds_of(compared, here.paces, left_s)
    shuffler = random.Random(f"{here.order.experiment.seed} {here.block}")  # noqa: S311 - an order
    plan = interleaved(
        [*compared, *(Contest(cell.id, (cell,)) for cell in alone)],
        rounds | {cell.id: count for cell, count in alone.items()},
        shuffler,
    )
    here.progress.planned = sum(map(len, plan))
    for turns in plan:
        trials = [each for planned in turns if (each := _planned(here, planned)) is not None]
        here.file.add(trials)
        for trial in trials:
            if trial.wrong:
                cell = next(each.cell for each in turns if each.cell.id == trial.cell)
                here.lose(cell, "wrong", f"{trial.wrong} answers were wrong in one trial")


def _fast(here: BlockRun, cells: Iterable[Cell]) -> tuple[Cell, ...]:
    paces = here.paces
    return tuple(
        cell for cell in cells if cell in paces and cell not in here.lost and not paces[cell].once
    )


def _alone(here: BlockRun, seconds: float) -> dict[Cell, int]:
    """Which cells outside the rounds have trials in this block, and how many: slow ones in one
    block of the planned ones, those that no claim compares in each, as far as the time goes. Those
    that had none after the planned blocks have none; beyond these slow ones have some more."""
    planned = here.order.profile.blocks
    tried = {cell: blocks for cell, (blocks, _) in here.file.tried().items()}
    compared = {
        cell for each in here.wanted.contests if each.compared for cell in _fast(here, each.cells)
    }
    most_slow = 1 if here.block <= planned else MOST_SLOW_TRIALS
    open_ones = {
        cell: pace
        for cell, pace in here.paces.items()
        if cell not in here.lost
        and cell not in compared
        and tried.get(cell.id, 0) < (most_slow if pace.once else planned)
    }
    in_tables = [cell for cell in open_ones if here.order.experiment.test_ids(cell)]
    claimed = {cell for each in here.wanted.contests if each.compared for cell in each.cells}
    had = {cell: tried.get(cell.id, 0) for cell in open_ones}
    found = singles(open_ones, had, in_tables, claimed, seconds)
    if here.block == planned:
        for cell in open_ones:
            if cell not in found and not had[cell]:
                _not_measured(here, cell, "the run had no time for it")
    return found


def _counted(here: BlockRun) -> dict[tuple[Key, str], tuple[Running, float | None]]:
    """How many requests each strategy has answered by its service's own count."""
    found = {}
    for cell in here.cells:
        running = _running(here, cell)
        key = (service_group(cell), cell.strategy)
        found[key] = (running, monitor.answered_requests(running.service, cell.strategy))
    return found


def _check_counts(
    here: BlockRun, before: Mapping[tuple[Key, str], tuple[Running, float | None]]
) -> None:
    """Whether services counted what was sent to them: it is two programs' word for one number. One
    that was started anew meanwhile began to count anew."""
    gaps: dict[str, float] = {}
    for (key, strategy), (running, first) in before.items():
        if first is None or here.deployments.up.get(key) is not running:
            continue
        last = monitor.answered_requests(running.service, strategy)
        if last is None:
            continue
        told, sent = last - first, here.sent[key, strategy]
        if abs(told - sent) > COUNT_TOLERANCE * sent:
            text = f"{key[0]} {strategy}: {sent} requests were sent, the service counted {told:.0f}"
            here.view.note(f"count-mismatch  {text}")
            gaps |= {
                cell.id: abs(told - sent) / max(told, 1.0)
                for cell in here.paces
                if (service_group(cell), cell.strategy) == (key, strategy)
            }
    here.file.fact(here.block, "count_gap", gaps)


def _check_cores(here: BlockRun) -> None:
    """Whether services kept to the cores that they were given."""
    shares = {
        key: process.off_cores_share(running.service.pids(), running.cores.service)
        for key, running in here.deployments.up.items()
    }
    found = {cell.id: share for cell in here.paces if (share := shares.get(service_group(cell)))}
    here.file.fact(here.block, "off_cores_share", found)


def _planned(here: BlockRun, planned: Planned) -> Trial | None:
    here.progress.done += 1
    if planned.cell in here.lost:
        return None
    here.progress.cell = planned.cell.id
    pace = here.paces[planned.cell]
    trial = _trial(here, planned, pace.keep_s, pace.drop_s, planned.cell.users)
    here.progress.per_s = trial.completions / trial.seconds if trial else 0.0
    here.view.show(here.progress)
    return trial


def _trial(
    here: BlockRun, planned: Planned, keep_s: float, drop_s: float, users: int
) -> Trial | None:
    """One trial; None, and the cell is lost, where it has none twice, the second time on a fresh
    service."""
    for _attempt in range(2):
        try:
            trial, error = _taken(here, planned, keep_s, drop_s, users)
        except (StorageProblem, GeneratorGone):
            raise
        except EnvironmentProblem as problem:
            trial, error = None, str(problem)
        if trial is not None and (trial.completions or trial.wrong):
            return trial
        if not _renew_if_dead(here, planned.cell):
            break
    if planned.cell not in here.lost:
        here.lose(planned.cell, "failed", error or "no correct answer in a whole trial")
    return None


def _renew_if_dead(here: BlockRun, cell: Cell) -> bool:
    """Whether there is a fresh service to try again with, or the old one serves."""
    running = here.deployments.of(cell)
    if running is None:
        return False
    if running.service.serves():
        return True
    text = (
        f"the {cell.service} service died: {process.tail(running.service.log, 5)}"
        if running.service.log
        else "gone"
    )
    here.file.note(Event(clock.now_text(), "restarted", text, here.block, cell.id))
    here.view.note(f"restarted  {cell.service} died at {cell.id}; a fresh one goes on")
    alive = here.deployments.renew(cell)
    for each in here.cells:
        if alive and service_group(each) == service_group(cell):
            _announce(here, each)
    return alive


def _taken(
    here: BlockRun, planned: Planned, keep_s: float, drop_s: float, users: int
) -> tuple[Trial | None, str]:
    running = _running(here, planned.cell)
    pids = running.service.pids()
    before = _helpers(pids)
    sent = here.load.trial(planned.cell.id, users, drop_s, keep_s, pids)
    here.sent[service_group(planned.cell), planned.cell.strategy] += sent.records.size
    after = _helpers(pids)
    return reduced(
        here.block, planned, users, sent, pids, [b - a for a, b in zip(before, after, strict=True)]
    ), sent.first_error


def _helpers(pids: tuple[int, ...]) -> tuple[float, float]:
    """CPU time so far of compilers and garbage collectors, in milliseconds."""
    return compilers.cpu_ms(pids), process.threads_cpu_ms(pids, COLLECTORS)


def reduced(  # noqa: PLR0913, PLR0917 - what a trial came to
    block: int,
    planned: Planned,
    users: int,
    sent: Sent,
    pids: Sequence[int],
    helpers_ms: Sequence[float],
) -> Trial:
    """What is kept of a trial. What compilers and collectors took is known of the whole trial: what
    is measured gets its share of it."""
    kept = sent.measured
    correct = kept[kept["outcome"] == CORRECT]
    service_ms = float(sent.closed.service_ms - sent.opened.service_ms)
    whole_ms = sent.closed.service_ms - sent.begun.service_ms
    part = service_ms / whole_ms if whole_ms > 0 else 1.0
    kinds = {
        name: np.sort(correct["elapsed_us"][correct["kind"] == number]).astype(np.int64)
        for number, name in enumerate(sent.kinds)
        if len(sent.kinds) > 1
    }
    return Trial(
        block=block,
        round=planned.round,
        cell=planned.cell.id,
        users=users,
        began_ms=sent.opened.epoch_ms,
        seconds=sent.seconds,
        elapsed_us=np.sort(correct["elapsed_us"]).astype(np.int64),
        errors=int((kept["outcome"] == ERROR).sum()),
        wrong=int((sent.records["outcome"] == WRONG).sum()),
        stages_ms=_stages_ms(correct),
        arm=planned.arm,
        service_cpu_ms=service_ms if pids else None,
        generator_cpu_ms=float(sent.closed.generator_ms - sent.opened.generator_ms),
        busy_ms=float(sent.closed.busy_ms - sent.opened.busy_ms),
        steal_ms=float(sent.closed.steal_ms - sent.opened.steal_ms),
        compilers_ms=helpers_ms[0] * part,
        collector_ms=helpers_ms[1] * part,
        memory_mib=_resident_mib(pids),
        kinds_us=kinds,
    )


def _stages_ms(correct: npt.NDArray[Any]) -> dict[str, float]:
    """The mean of each stage over the responses that told it."""
    told = {name: correct["stages_ms"][:, place] for place, name in enumerate(STAGES)}
    known = {name: values[~np.isnan(values)] for name, values in told.items()}
    return {name: round(float(v.mean()), 6) for name, v in known.items() if v.size}


def _resident_mib(pids: Sequence[int]) -> float:
    return sum(process.resident_mib(pid) for pid in pids)
