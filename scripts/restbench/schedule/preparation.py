"""What a block does before its first trial: check each cell, prove each strategy, warm up."""

from __future__ import annotations

import time

import httpx

from restbench.deploy.service import REQUEST_TIMEOUT_S
from restbench.drive.generator import CORRECT, WRONG, LoadResult
from restbench.experiment.cell import Cell, ServiceGroup
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem, Failure, WrongAnswers
from restbench.machine import jvm, process
from restbench.prove import proof
from restbench.schedule.block_run import LoadRun
from restbench.schedule.deployments import RunningService

#: A service is warm when its compilers take no more than this share of its CPU time (method, rule
#: 3). Compilers get only a share of cores that a load keeps busy: four seconds of compilation then
#: take fifteen to twenty, and the throughput of a fresh JVM was a third lower for that time.
WARM_SHARE = 0.02
#: The users and the seconds of one short load that warms up a strategy.
WARMING_USERS = 10
WARMING_S = 0.5
#: A cell has no trials if a single request without any other load takes longer than this, which is
#: as long as the client waits for an answer.
LONGEST_REQUEST_S = REQUEST_TIMEOUT_S


def look(here: LoadRun) -> None:
    """Check each kind of cell with one request of each kind that it sends. Cells that are not
    offered, answer wrongly or take too long are lost; the load generator gets the others."""
    seen: dict[tuple[object, ...], float | Failure] = {}
    for cell in here.cells:
        if lack := here.deployments.lacks(cell):
            here.fail(cell, lack)
            continue
        kind = (cell.service_group, cell.strategy, cell.complexity, cell.kernel, cell.technique)
        if kind not in seen:
            seen[kind] = _one_request(here, cell)
        found = seen[kind]
        if isinstance(found, Failure):
            here.fail(cell, found)
        elif found > LONGEST_REQUEST_S:
            here.lose(cell, "too-slow", f"a single request takes {found:.0f} s")
        else:
            here.alone_s[cell] = found
            here.announce(cell)


def _one_request(here: LoadRun, cell: Cell) -> float | Failure:
    """How many seconds the check of a cell takes; else its error. If the service had ended, a
    second attempt on a fresh one decides."""
    found: float | Failure
    for attempt in (1, 2):
        begun, running = time.monotonic(), here.running(cell)
        try:
            here.ask(cell)
            return time.monotonic() - begun
        except WrongAnswers as error:
            return error
        except EnvironmentProblem as error:  # also a front's answer for a service that has ended
            found = error
        except httpx.ReadTimeout:  # slow, if the service still serves
            found = time.monotonic() - begun
        except httpx.HTTPError as error:
            text = f"no answer to one request: {error or type(error).__name__}"
            found = EnvironmentProblem(text)
        if lack := here.renew_if_dead(cell):
            return EnvironmentProblem(lack)
        if attempt == 2 or here.running(cell).service is running.service:
            break
    return found


def prove(here: LoadRun) -> None:
    """Prove each strategy of each service, once in a run."""
    known = {each.key for each in here.run.proofs()}
    # Any of several workers may run a request: a cell with the fewest workers is proven.
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
    """The proof; or, in words, how the service ended during both of two attempts, or why it is not
    up."""
    ending = ""
    for _attempt in range(2):
        if why := here.deployments.lacks(cell):
            return str(why)
        running = here.running(cell)
        found = [proof.prove(each, cell, cores) for each, cores in running.instances()]
        if running.service.serves():
            return proof.merged(found)
        ending = f"during the requests of the proof {running.service.ending()}"
        if lack := here.renew_if_dead(cell):
            return lack
    return ending


def warm(here: LoadRun) -> None:
    """Warm up each service by short loads on each of its strategies, with the smallest level of
    each workload, until its compilers are quiet (WARM_SHARE) in a whole pass or its time is up. By
    which of these each service was warm is a fact of the block."""
    smallest: dict[tuple[object, ...], Cell] = {}
    sent = {cell: [*here.requests(cell).values()] for cell in here.cells}
    work = {cell: min(it.work for it in payloads) for cell, payloads in sent.items()}
    for cell in sorted(sent, key=lambda each: work[each]):
        what = (sent[cell][0].workload, cell.kernel, cell.technique)
        smallest.setdefault((cell.service_group, cell.strategy, *what), cell)
    waiting = list(smallest.values())
    begun = time.monotonic()
    spent = dict.fromkeys((cell.service_group for cell in waiting), 0.0)
    quiet: dict[ServiceGroup, bool] = {}
    while waiting:
        shares: dict[ServiceGroup, list[float]] = {}
        for cell in waiting:
            here.at(f"warming up {cell.service} {cell.strategy}")
            before = time.monotonic()
            share = _compilers_share(here, cell)
            spent[cell.service_group] += time.monotonic() - before
            shares.setdefault(cell.service_group, []).append(share)
        quiet |= {group: max(found) <= WARM_SHARE for group, found in shares.items()}
        waiting = [
            cell
            for cell in waiting
            if cell not in here.lost
            and not quiet[cell.service_group]
            and spent[cell.service_group] < here.order.profile.warm_max_s[cell.service]
        ]
    by = {group.name: "quiet" if is_quiet else "maximum" for group, is_quiet in quiet.items()}
    here.file.fact(here.block, "warm_by", by)
    late = ", ".join(name for name, end in by.items() if end == "maximum")
    whether = f"; the compilers of {late} were still busy at the maximum" if late else ""
    here.view.note(f"block {here.block}: warm after {time.monotonic() - begun:.0f} s{whether}")


def _compilers_share(here: LoadRun, cell: Cell) -> float:
    """The compilers' share of the service's CPU time under a short load, 0 to 1; 0 if the cell is
    lost in that load."""
    running = here.deployments.of(cell)
    pids = running.service.pids() if running else ()
    before_ms, worked_ms = jvm.compilers_cpu_ms(pids), process.cpu_ms(pids)
    if short_load(here, cell, WARMING_USERS, WARMING_S) is None:
        return 0.0
    worked_ms = process.cpu_ms(pids) - worked_ms
    return (jvm.compilers_cpu_ms(pids) - before_ms) / worked_ms if worked_ms > 0 else 0.0


def short_load(here: LoadRun, cell: Cell, users: int, seconds: float) -> LoadResult | None:
    """A closed load that is not measured and whose last answers are awaited. None, and the cell is
    lost, where two attempts have no correct answer; a service that ended in the first is replaced.
    A wrong answer voids the cell in this block, as in a trial (method, rule 5)."""
    error = "its service has ended"
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
    """Replace a cell's service if it does not serve any more, and warm up the fresh one by the
    cell's users: a trial may be over before the first answer of a cold service. None where a
    service serves now; else the reason why none does."""
    before, lack = here.deployments.of(cell), here.renew_if_dead(cell)
    now = here.deployments.of(cell)
    if before and now and now.service is not before.service:
        _not_measured(here, cell, now, cell.users, WARMING_S)
    return lack


def _not_measured(
    here: LoadRun, cell: Cell, at: RunningService, users: int, seconds: float
) -> LoadResult:
    here.before(cell, 0.0)
    sent = here.load.trial(cell.id, users, 0.0, seconds, at.service.pids())
    here.count(cell, sent.records.size)
    if (sent.records["outcome"] == WRONG).any():
        here.note_once("wrong", "an answer was wrong in a load before the first trial", cell)
    return sent
