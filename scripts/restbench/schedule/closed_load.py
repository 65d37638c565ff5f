"""The driver of closed loads: users who wait for their answers, trials as long as a cell's response
time asks for, in interleaved rounds (method, rules 2, 3 and 6)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from restbench.drive import monitor, wrk
from restbench.drive.generator import CORRECT, LoadResult
from restbench.experiment.cell import Cell
from restbench.experiment.level import Messages
from restbench.experiment.profile import MOST_BLOCKS
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.failures import CellsFailed, EnvironmentProblem
from restbench.observe import connections
from restbench.schedule.allocation import RESPONSE_S, enough_blocks, known_response_s
from restbench.schedule.block_run import LoadRun
from restbench.schedule.pace import (
    BETWEEN_S,
    Pace,
    PlannedTrial,
    TrialGroup,
    bands,
    interleaved,
    least_rounds,
    least_seconds,
    predicted_s,
    round_seconds,
    rounds_of,
    trials_outside_rounds,
)
from restbench.schedule.preparation import WARMING_S, renewed, short_load
from restbench.schedule.reduction import loaded
from restbench.store.trials import Trial

#: Seconds of the pilot, a short load on a cell from which the length of its trials follows.
PILOT_S = 0.3
#: A known or predicted response time above this is used as it is: its pilot would take too long.
PILOT_UP_TO_S = 0.5
#: The part of a block's time for trials that is for cells that are slow or that no claim compares;
#: and the largest number of blocks in which a slow cell has trials.
SINGLES_PART = 0.45
#: The same in the first FEWEST_BLOCKS blocks of a run with more, if open claims need the time: all
#: other cells have trials in these blocks, and slow cells can be measured later.
EARLY_PART = 0.25
#: The same from the last planned block on, if cells had no trial so far and further blocks follow.
LATE_PART = 0.7
MOST_SLOW_TRIALS = 3
#: The most seconds that a block keeps of a cell where claims need the time: from then on blocks
#: differ more than trials do, and only further blocks narrow the interval.
MOST_KEPT_S = 20.0
#: The least share of the planned time that a trial must keep. The kept part begins and ends with an
#: answer. Where the first answer comes after both planned moments, the part lasts microseconds, and
#: a second answer in it would count as thousands per second.
LEAST_PART = 0.25
#: A trial of a mix of sizes is repeated where it has less than this part of the length that its own
#: longest response time asks for: a pilot may end before users have piled up at the large requests.
LEAST_PART_OF_A_MIX = 2 / 3
NOT_MEASURED = "not-measured"
#: The arm of a load by wrk, its seconds (wrk counts whole ones), and the seconds it takes in all.
WRK, WRK_S, WRK_WHOLE_S = "wrk", 1.0, 1.2


@dataclass
class ClosedDriver:
    """Closed loads in one block (Driver)."""

    here: LoadRun
    paces: dict[Cell, Pace] = field(default_factory=dict)
    blocks_of: dict[str, int] = field(default_factory=dict)
    """By cell id: in how many blocks the cell has trials so far."""
    drawn: dict[str, list[list[int]]] = field(default_factory=dict)
    """By cell id: for each trial, the numbers of connections of the workers that have any."""
    lengthened: set[Cell] = field(default_factory=set)
    """The cells whose last attempt kept too little, so that their next trial is longer."""

    def pilot(self) -> None:
        """Set the pace of each cell from its response time. A long response time is taken from
        earlier blocks, or predicted from the same cell with fewer users; others are measured by a
        short load, which also warms up the cell. A mix of sizes, whose longest response time is
        needed too, has a second one of that length. A cell slower than the profile's limit has no
        trials, unless it is in the study's tables; nor a pilot, where one request shows it."""
        here = self.here
        measured_s = known_response_s(here.file)
        self.blocks_of |= {name: blocks for name, (blocks, _) in here.file.tried().items()}
        known = {cell: measured_s[cell.id] for cell in here.cells if cell.id in measured_s}
        for cell in sorted(here.cells, key=lambda each: each.users):
            here.at(cell.id)
            experiment, level = here.order.experiment, cell.complexity
            has_sizes, slow_s = bool(experiment.mix(level)), here.order.profile.slow_round_s
            is_mix = has_sizes or bool(experiment.size(level, Messages))
            limit_s = here.order.profile.longest_round_s
            limit_s = math.inf if experiment.test_ids(cell) else limit_s
            running = here.deployments.of(cell)
            cores = len(running.cores.service) if running else 1
            found, longest_s = known.get(cell) or predicted_s(cell, known, cores), 0.0
            # Of a mix, `alone_s` is the sum over its sizes, not the mean.
            alone_s = 0.0 if is_mix else here.alone_s.get(cell, 0.0)
            least_s = alone_s * cell.users / min(cell.users, cores)
            if found is None and least_s > limit_s:
                found = least_s
            most_s = slow_s if has_sizes else PILOT_UP_TO_S
            if found is None or (found <= most_s and self._is_still_measured(cell, found)):
                sent = short_load(here, cell, cell.users, PILOT_S)
                if sent is not None and has_sizes:
                    # Only while the longest request lasts do users pile up at the large ones.
                    sent = short_load(here, cell, cell.users, max(PILOT_S, longest_answer_s(sent)))
                found = None if sent is None else response_time_s(sent, cell.users)
                longest_s = longest_answer_s(sent) if sent is not None and has_sizes else 0.0
            if found is None:
                continue
            known[cell] = found
            self.paces[cell] = Pace(found, found > slow_s, cell.users, is_mix, longest_s)
            if found > limit_s:
                self._not_measured(cell, f"the profile's limit is {limit_s:g} s")
        found_s = {cell.id: round(pace.response_s, 6) for cell, pace in self.paces.items()}
        here.file.fact(here.block, RESPONSE_S, found_s)

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """All rounds of the block, planned before the first; the loads by wrk are one round."""
        here, paces = self.here, self.paces
        where = here.order.experiment.wrk
        by_wrk = [cell for cell in paces if where and where.matches(cell)]
        seconds -= len(by_wrk) * WRK_WHOLE_S
        alone = self._outside_rounds(seconds)
        compared = [
            band
            for each in here.groups
            if each.compared
            for band in bands(replace(each, cells=self._fast(each.cells)), paces, here.needed)
        ]
        left_s = seconds - sum(count * paces[cell].seconds for cell, count in alone.items())
        rounds = rounds_of(compared, paces, left_s, MOST_KEPT_S if here.needed else math.inf)
        rounds_s = sum(rounds[each.name] * round_seconds(each, paces) for each in compared)
        spare_s, whole_s = rounds_s - least_seconds(compared, paces), rounds_s + seconds - left_s
        here.spare_part = spare_s / whole_s if whole_s else 0.0
        shuffler = here.draws()
        plan = interleaved(
            [*compared, *(TrialGroup(cell.id, (cell,)) for cell in alone)],
            rounds | {cell.id: count for cell, count in alone.items()},
            shuffler,
        )
        if by_wrk:
            loads = [PlannedTrial(1, cell, WRK) for cell in by_wrk]
            plan.insert(shuffler.randrange(len(plan) + 1), shuffler.sample(loads, len(loads)))
        here.progress.planned = sum(map(len, plan))
        yield from plan

    def trial(self, planned: PlannedTrial) -> Trial | None:
        """Let a cell's users send for as long as its pace says. None for a load by wrk, which is no
        trial of the cell: its result is a fact of the block."""
        if planned.arm == WRK:
            self._by_wrk(planned.cell)
            return None
        here, cell, pace = self.here, planned.cell, self.paces[planned.cell]
        service = here.running(cell).service
        self._await_ports(cell)
        here.before(cell, pace.drop_s)
        sent, found = loaded(here, planned, pace.drop_s, pace.keep_s)
        self._await_ports(cell)
        counts: list[int] = []
        is_kept = cell.connection == "kept" and not service.front_pids()
        if cell.workers > 1 and is_kept and here.load.pid:
            counts = connections.counts(service.address[1], service.pids(), here.load.pid)
            found = replace(found, extras={**found.extras, **connections.spread(counts)})
        is_whole = found.completions and sent.seconds >= LEAST_PART * pace.keep_s
        if not is_whole and not found.wrong:
            # The answers that came later show how long the second attempt has to be.
            if response_s := response_time_s(sent, cell.users):
                self.paces[cell] = replace(pace, response_s=response_s)
                self.lengthened.add(cell)
            raise EnvironmentProblem(sent.first_error or "no answer while it was measured")
        if pace.longest_s and not found.wrong and cell not in self.lengthened:
            longer = replace(pace, longest_s=max(pace.longest_s, longest_answer_s(sent)))
            if pace.keep_s < LEAST_PART_OF_A_MIX * longer.keep_s:
                self.paces[cell] = longer
                self.lengthened.add(cell)
                raise EnvironmentProblem("its longest response took too long for the trial")
        if cell in self.lengthened:
            # The machine may have paused for a moment: later trials need not be as long.
            self.lengthened.discard(cell)
            response_s = response_time_s(sent, cell.users) or pace.response_s
            self.paces[cell] = replace(pace, response_s=response_s)
        if counts and not planned.arm:
            its = self.drawn.setdefault(cell.id, [])
            its.append(counts)
            here.file.fact(here.block, "connections", {cell.id: its})
        return found

    def _await_ports(self, cell: Cell) -> None:
        """Wait where the loads of a cell with new connections left too many ports in TIME-WAIT."""
        if cell.connection == "each" and connections.await_ports():
            text = f"over {connections.MOST_WAITING} ports were in TIME-WAIT"
            self.here.note("ports-awaited", text, cell)

    def again(self, cell: Cell, why: str) -> str | None:  # noqa: ARG002 - the same for any reason
        """Repeat on the same service, or on a fresh one where it has ended (Driver)."""
        return renewed(self.here, cell)

    def _by_wrk(self, cell: Cell) -> None:
        here = self.here
        service, (payload,) = here.running(cell).service, here.requests(cell).values()
        body = here.load.folder / "body.json"
        body.write_bytes(payload.body(WRK))
        before = monitor.answered_requests(service, cell.strategy)
        found: wrk.Load | None = None
        try:
            client = wrk.Client(body, cell.users, here.run.cores().own_load)
            found = client.load(cell.id, here.url(cell), WRK_S, service.pids)
        except CellsFailed as error:
            here.note("no-limit", f"under wrk: {error}", cell)
        after = monitor.answered_requests(service, cell.strategy)
        # Requests that wrk cut off at its end are in the service's count only.
        reported = found.requests if found else 0
        here.count(cell, round(sum(after) - sum(before)) if before and after else reported)
        if found:
            extras = {"wrk_per_s": found.per_s, "wrk_cpu_ms_per_request": found.service_ms}
            here.file.fact(here.block, "extras", {cell.id: extras})

    def _fast(self, cells: Iterable[Cell]) -> tuple[Cell, ...]:
        paces, lost = self.paces, self.here.lost
        return tuple(
            cell
            for cell in cells
            if cell in paces
            and cell not in lost
            and not paces[cell].is_single_trial
            and self._is_still_measured(cell, paces[cell].response_s)
        )

    def _is_still_measured(self, cell: Cell, response_s: float) -> bool:
        """Whether a cell is still measured. False where open claims need the time for other cells
        and this cell already has enough blocks."""
        needed = self.here.needed
        if not needed or cell.id in needed:
            return True
        enough = enough_blocks(response_s, self.here.order.profile.slow_round_s)
        return self.blocks_of.get(cell.id, 0) < enough

    def _outside_rounds(self, seconds: float) -> dict[Cell, int]:
        """The cells outside the rounds that have trials in this block, and how many, as far as the
        time allows. Cells that open claims need come first, as a trial or two may decide a claim;
        then those with the fewest blocks so far, among these the cells of the study's tables, then
        those that claims compare, then the quickest.

        In the planned blocks a slow cell is measured in one block, a cell that no claim compares in
        each block. From the last planned block on, cells without a trial so far may take most of
        the block, if further blocks follow. In further blocks slow cells are measured some more
        times, unless an open claim needs the time. A slow cell that an open claim needs is measured
        in as many blocks as an interval needs."""
        here = self.here
        planned = here.planned
        groups = [each for each in here.groups if each.compared]
        compared = {cell for each in groups for cell in self._fast(each.cells)}
        is_short_of_time = here.block <= planned or bool(here.needed)
        open_ones = {
            cell: pace
            for cell, pace in self.paces.items()
            if cell not in here.lost
            and cell not in compared
            and self._is_still_measured(cell, pace.response_s)
            and self.blocks_of.get(cell.id, 0)
            < (self._most_slow(cell, is_short_of_time) if pace.is_single_trial else planned)
        }
        in_tables = {cell for cell in open_ones if here.order.experiment.test_ids(cell)}
        claimed = {cell for each in groups for cell in each.cells}
        had = {cell: self.blocks_of.get(cell.id, 0) for cell in open_ones}
        part = SINGLES_PART
        if here.needed and here.block <= FEWEST_BLOCKS < planned:
            part = EARLY_PART
        elif planned <= here.block and here.is_followed and 0 in had.values():
            part = LATE_PART

        def rank(cell: Cell) -> tuple[bool, int, bool, bool, float]:
            is_needed, pace = cell.id in here.needed, open_ones[cell]
            return (
                not is_needed,
                had[cell],
                cell not in in_tables,
                cell not in claimed,
                pace.seconds,
            )

        found = trials_outside_rounds(
            sorted(open_ones, key=rank),
            self.paces,
            {cell for cell in in_tables if not had[cell]},
            part * seconds,
        )
        if here.block == planned:
            for cell in open_ones:
                if cell not in found and not had[cell]:
                    self._not_measured(cell, "the run had no time for this")
        return found

    def _most_slow(self, cell: Cell, is_short_of_time: bool) -> int:
        """The largest number of blocks in which a slow cell is measured. One that an open claim
        needs is measured in every block beyond the planned ones: from the fourth block on, a
        verdict has to be confirmed by the next block."""
        if cell.id in self.here.needed:
            # One more, as the cell that it is compared with may be missing in its first block.
            return 1 + FEWEST_BLOCKS if self.here.block <= self.here.planned else MOST_BLOCKS
        return 1 if is_short_of_time else MOST_SLOW_TRIALS

    def _not_measured(self, cell: Cell, why: str) -> None:
        """Give up a slow cell in this block; the event is noted once in a run."""
        reported = {each.cell for each in self.here.file.events() if each.kind == NOT_MEASURED}
        pace = self.paces[cell]
        text = (
            f"one answer to each of its users takes {pace.response_s:.0f} s, {why}; the cell "
            f"needs {least_rounds([cell], self.paces) * pace.seconds / 60:.1f} minutes of a block"
        )
        if cell.id in reported:
            self.here.lost[cell] = text
        else:
            self.here.lose(cell, NOT_MEASURED, text)


def least_block_s(groups: Sequence[TrialGroup]) -> float:
    """Seconds that a block of these cells takes at least, as far as is known before it: one pass of
    warm-up, a pilot of each cell, and trials as if every cell were quick, with the A/A arm (AGAIN).
    The start of services and their proofs are not included."""
    cells = [cell for each in groups for cell in each.cells]
    # Many short trials take as long as one of a second, which `is_mix` gives.
    quickest = dict.fromkeys(cells, Pace(0.0, is_mix=True))
    warmed = {(cell.service_group, cell.strategy) for cell in cells}
    trials_s = sum(round_seconds(each, quickest) for each in groups if each.compared)
    return len(warmed) * WARMING_S + len(cells) * (PILOT_S + BETWEEN_S) + trials_s


def response_time_s(sent: LoadResult, users: int) -> float | None:
    """The response time as users over throughput (Little's law), from a load whose last answers
    were awaited; None where no answer was correct. The mean of the first responses would be half of
    it where requests queue, as all users begin at once."""
    correct = sent.records[sent.records["outcome"] == CORRECT]
    if not correct.size:
        return None
    whole_us = float((correct["start_us"] + correct["elapsed_us"]).max())
    return users * whole_us / 1e6 / int(correct.size)


def longest_answer_s(sent: LoadResult) -> float:
    """The longest response time of a load that has a correct answer."""
    correct = sent.records[sent.records["outcome"] == CORRECT]
    return float(correct["elapsed_us"].max()) / 1e6
