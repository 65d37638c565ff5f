"""What a block does before its first trial: look at each cell, prove each strategy, warm up."""

from __future__ import annotations

import time

import httpx

from restbench.deploy import programs
from restbench.drive.generator import CORRECT, WRONG, LoadResult
from restbench.experiment.cell import OPTIONAL, Cell
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem, WrongAnswers
from restbench.machine import jvm, process
from restbench.prove import proof
from restbench.schedule.block_run import LoadRun
from restbench.schedule.deployments import RunningService

#: Of a warm service the compilers take no more of its CPU time: a method now and then (method,
#: rule 3). On cores that a load keeps busy they get a share and no more: what takes a core four
#: seconds takes fifteen to twenty, and the throughput of a fresh JVM was a third lower so long.
WARM_SHARE = 0.02
#: One warming trial of a strategy: its users, and how long.
WARMING_USERS = 10
WARMING_S = 0.5
#: A request that takes longer when nobody else sends one is not tried with many users.
LONGEST_REQUEST_S = 30.0


def look(here: LoadRun) -> None:
    """One request of each kind of cell: what is not offered, answers wrong or takes too long has no
    trials."""
    seen: dict[tuple[object, ...], float | Exception] = {}
    for cell in here.cells:
        if why := here.deployments.lacks(cell):
            is_up = here.deployments.of(cell) is not None
            absent = is_up and (cell.service, cell.strategy) in OPTIONAL
            absent = absent or bool(programs.lacking(cell.service, cell.framework))
            here.lose(cell, "not-offered" if absent else "failed", why)
            continue
        kind = (cell.service_group, cell.strategy, cell.complexity, cell.kernel, cell.technique)
        if kind not in seen:
            seen[kind] = _one_request(here, cell)
        found = seen[kind]
        if isinstance(found, Exception):
            here.lose(cell, "wrong" if isinstance(found, WrongAnswers) else "failed", str(found))
        elif found > LONGEST_REQUEST_S:
            here.lose(cell, "too-slow", f"a single request takes {found:.0f} s")
        else:
            here.announce(cell)


def _one_request(here: LoadRun, cell: Cell) -> float | Exception:
    """How long it takes; what is wrong with it, the second time where its service had ended."""
    for attempt in (1, 2):
        begun, running = time.monotonic(), here.running(cell)
        try:
            here.ask(cell)
            return time.monotonic() - begun
        except WrongAnswers as error:
            return error
        except EnvironmentProblem as error:  # a front's word for a service that has ended, too
            found = error
        except httpx.HTTPError as error:
            text = f"no answer to one request: {error or type(error).__name__}"
            found = EnvironmentProblem(text)
        if lack := here.renew_if_dead(cell):
            return EnvironmentProblem(lack)
        if attempt == 2 or here.running(cell).service is running.service:
            break
    return found


def prove(here: LoadRun) -> None:
    """Each strategy of each service, once a run."""
    known = {each.key for each in here.run.proofs()}
    # With several workers a request is seen in any of them: the fewest are looked at.
    for cell in sorted(here.cells, key=lambda each: each.workers):
        key = cell.proof_key
        if key in known or cell in here.lost:
            continue
        known.add(key)
        here.at(f"proof of {' '.join([cell.service, cell.strategy, *cell.unusual])}")
        found = _proof(here, cell)
        if isinstance(found, str):
            for other in here.cells:
                if other.proof_key == key:
                    here.lose(other, "failed", found)
            continue
        name = f"{cell.service} {cell.strategy} ({', '.join([cell.placement, *cell.unusual])})"
        here.keep_proof(found, name)


def _proof(here: LoadRun, cell: Cell) -> Proof | str:
    """How the service ended, where it does so during both of two attempts, or why it is not up."""
    ending = ""
    for _attempt in range(2):
        if lack := here.deployments.lacks(cell):
            return lack
        running = here.running(cell)
        found = [proof.prove(each, cell, cores) for each, cores in running.instances()]
        if running.service.serves():
            return proof.of_all(found)
        ending = f"while a few requests were watched {running.service.ending()}"
        if lack := here.renew_if_dead(cell):
            return lack
    return ending


def warm(here: LoadRun) -> None:
    """Short loads on every strategy in turn, the smallest size of each workload, until a service's
    compilers are quiet in a whole turn or its time is up."""
    smallest: dict[tuple[object, ...], Cell] = {}
    requests = {cell: here.requests(cell) for cell in here.cells}
    work = {cell: min(it.work for it in of.payloads.values()) for cell, of in requests.items()}
    for cell in sorted(requests, key=lambda each: work[each]):
        what = (requests[cell].workload, cell.kernel, cell.technique)
        smallest.setdefault((cell.service_group, cell.strategy, *what), cell)
    waiting = list(smallest.values())
    begun = time.monotonic()
    spent = dict.fromkeys((cell.service_group for cell in waiting), 0.0)
    while waiting:
        shares: dict[object, list[float]] = {}
        for cell in waiting:
            here.at(f"warming up {cell.service} {cell.strategy}")
            before = time.monotonic()
            share = _compilers_share(here, cell)
            spent[cell.service_group] += time.monotonic() - before
            shares.setdefault(cell.service_group, []).append(share)
        waiting = [
            cell
            for cell in waiting
            if cell not in here.lost
            and max(shares.get(cell.service_group, [0.0])) > WARM_SHARE
            and spent[cell.service_group] < here.order.profile.warm_max_s[cell.service]
        ]
    here.view.note(f"block {here.block}: warm after {time.monotonic() - begun:.0f} s")


def _compilers_share(here: LoadRun, cell: Cell) -> float:
    """Of the service's CPU time under a short load, what its compilers took; 0 where the cell is
    lost of it."""
    running = here.deployments.of(cell)
    pids = running.service.pids() if running else ()
    before_ms, worked_ms = jvm.compilers_cpu_ms(pids), process.cpu_ms(pids)
    if short_load(here, cell, WARMING_USERS, WARMING_S) is None:
        return 0.0
    worked_ms = process.cpu_ms(pids) - worked_ms
    return (jvm.compilers_cpu_ms(pids) - before_ms) / worked_ms if worked_ms > 0 else 0.0


def short_load(here: LoadRun, cell: Cell, users: int, seconds: float) -> LoadResult | None:
    """A closed load that is not measured, its last answers waited for; None, and the cell is lost,
    where no answer was right twice, the second time on a fresh service. One that was wrong voids
    the cell in this block, as in a trial (method, rule 5)."""
    error = "its service is gone"
    for _attempt in range(2):
        running = here.deployments.of(cell)
        if running is None:
            break
        sent = _not_measured(here, cell, running, users, seconds)
        if (sent.records["outcome"] == CORRECT).any():
            return sent
        error = sent.first_error or "no answer to a short load"
        if lack := here.renew_if_dead(cell):
            error = lack
            break
    here.lose(cell, "failed", error)
    return None


def renewed(here: LoadRun, cell: Cell) -> str | None:
    """None where a cell's service serves, or a fresh one does that its users have warmed up: a
    trial may be over before the first answer of a cold one. Else why there is none."""
    before, lack = here.deployments.of(cell), here.renew_if_dead(cell)
    now = here.deployments.of(cell)
    if before and now and now.service is not before.service:
        _not_measured(here, cell, now, cell.users, WARMING_S)
    return lack


def _not_measured(
    here: LoadRun, cell: Cell, at: RunningService, users: int, seconds: float
) -> LoadResult:
    here.before(cell)
    sent = here.load.trial(cell.id, users, 0.0, seconds, at.service.pids())
    here.count(cell, sent.records.size)
    if (sent.records["outcome"] == WRONG).any():
        here.wrong(cell)
    return sent
