"""A block that is being measured: its order, its progress and its services; the interface of the
drivers that take its trials; and blocks under load, with their load generator."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx
import numpy as np
import numpy.typing as npt

from restbench.deploy import programs
from restbench.drive.engines import Engines
from restbench.drive.generator import Generator, LoadResult
from restbench.drive.payload import Payload, path_of, requests_of
from restbench.experiment.cell import OPTIONAL, Cell, ServiceGroup
from restbench.experiment.order import Order
from restbench.experiment.records import Proof
from restbench.failures import (
    EnvironmentProblem,
    Failure,
    NotOffered,
    Refused,
    WrongAnswers,
    first_line,
)
from restbench.machine import clock
from restbench.schedule.deployments import Deployments, RunningService
from restbench.schedule.pace import PlannedTrial, TrialGroup
from restbench.show.progress import BlockProgress, ProgressView
from restbench.store.store import Run
from restbench.store.trials import Event, Trial, TrialFile


@dataclass
class BlockOrder:
    """What a block is to measure, into which run, and in what time."""

    order: Order
    run: Run
    view: ProgressView
    block: int
    """The block's number, from 1; 0 for long windows."""
    groups: Sequence[TrialGroup]
    seconds: float
    needed: frozenset[str] = frozenset()
    """The ids of the cells that open claims need more trials of; empty: all cells are alike."""
    planned: int = 0
    """How many blocks are planned, as far as the run has time for them."""
    is_followed: bool = False
    """Whether the run has time for a further block after this one."""

    @property
    def cells(self) -> list[Cell]:
        """The cells of all groups, each once."""
        return list(dict.fromkeys(cell for each in self.groups for cell in each.cells))

    def draws(self, what: str = "") -> random.Random:
        """A random generator for the use that `what` names. It gives the same numbers when this
        block is measured anew."""
        seed = f"{self.order.experiment.seed} {self.block} {what}".rstrip()
        return random.Random(seed)  # noqa: S311 - an order, not a secret

    def begun(self) -> BlockProgress:
        """The progress of the block if it begins now."""
        return BlockProgress(self.block, until=time.monotonic() + self.seconds)


@dataclass
class BlockRun(BlockOrder):
    """A block that is being measured; made of its order by `BlockRun(**vars(order), ...)`."""

    deployments: Deployments = field(kw_only=True)
    progress: BlockProgress = field(init=False)
    spare_part: float = field(default=1.0, init=False)
    """The share of the trials' time beyond the least that they need; 1 where trials simply fill
    the time that there is."""
    missing_s: float = field(default=0.0, init=False)
    """Seconds that the block lacked for one trial of every cell, negative where it had more; 0
    where cells have several trials in a block."""
    lost: dict[Cell, str] = field(default_factory=dict)
    """The cells that have no further trials in this block, with the reason."""
    alone_s: dict[Cell, float] = field(default_factory=dict)
    """The seconds that one request of each kind of a cell took without other load."""
    noted: set[tuple[str, Cell]] = field(default_factory=set)
    """The kinds of event that a cell has once (`note_once`)."""

    def __post_init__(self) -> None:
        """Begin the block now."""
        self.progress = self.begun()

    @property
    def file(self) -> TrialFile:
        """The file to which trials and events are appended."""
        return self.run.trials

    @property
    def cells(self) -> list[Cell]:
        """The cells that are not lost."""
        return [cell for cell in super().cells if cell not in self.lost]

    def running(self, cell: Cell) -> RunningService:
        """The service that answers a cell's requests; EnvironmentProblem where it is not up."""
        return self.deployments.running(cell)

    def lose(self, cell: Cell, kind: str, why: str) -> None:
        """Give up a cell in this block and note why; the other cells go on."""
        self.lost[cell] = why
        self.note(kind, why, cell)
        self.view.note(f"{kind}  {cell.id}: {why}")

    def fail(self, cell: Cell, error: Failure) -> None:
        """Give up a cell because of an error, whose class is the kind of the event (`kind_of`)."""
        self.lose(cell, kind_of(cell, error), str(error))

    def note(self, kind: str, text: str, cell: Cell) -> None:
        """Append an event of a cell in this block."""
        self.file.note(Event(clock.now_text(), kind, text, self.block, cell.id))

    def note_once(self, kind: str, text: str, cell: Cell) -> None:
        """Append an event, except where the cell has one of this kind from here already."""
        if (kind, cell) not in self.noted:
            self.noted.add((kind, cell))
            self.note(kind, text, cell)

    def announce(self, cell: Cell) -> None:
        """Tell what sends the requests where a cell's service is."""

    def renew_if_dead(self, cell: Cell, deployments: Deployments | None = None) -> str | None:
        """Replace a cell's service by a fresh one if it does not serve any more; `deployments` has
        it where the block's own do not. None where a service serves now; else the reason why none
        does."""
        up = deployments or self.deployments
        running = up.of(cell)
        if running is None:
            return str(up.lacks(cell))
        if running.service.serves():
            return None
        ending = running.service.ending()
        if running.service.attached:
            return ending
        self.note("restarted", ending, cell)
        self.view.note(f"restarted  at {cell.id}: {first_line(ending)}; a fresh service continues")
        if not up.renew(cell):
            return f"{ending}; a fresh service does not start: {up.lacks(cell)}"
        for each in self.cells:
            if each.service_group == cell.service_group:
                self.announce(each)
        return None

    def at(self, what: str) -> None:
        """Show what the block is doing now."""
        self.progress.cell = what
        self.view.show(self.progress)


def kind_of(cell: Cell, error: Failure) -> str:
    """The kind of the event of a cell that is given up because of an error. It is no failure that
    this machine has no such framework, or its runtime no such strategy."""
    if isinstance(error, WrongAnswers):
        return "wrong"
    if isinstance(error, Refused):
        return "refused"
    if isinstance(error, NotOffered) and (
        (cell.service, cell.strategy) in OPTIONAL
        or programs.why_unavailable(cell.service, cell.framework)
    ):
        return "not-offered"
    return "failed"


class Driver(Protocol):
    """Takes the trials of one kind of measurement in one block. What they need is up already."""

    @property
    def here(self) -> BlockRun:
        """The block that is being measured."""

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """The trials for so many seconds, round by round; those of a round are stored together.

        The caller takes all trials of a round before it asks for the next round, which may depend
        on them.
        """

    def trial(self, planned: PlannedTrial) -> Trial | None:
        """Take one trial. None where its result is kept as a fact of the block, or where its cell
        was lost (`BlockRun.lose`). Raises EnvironmentProblem where the trial has no valid result
        and a second attempt may have one (`again`), one of `block.FINAL` where none can."""

    def again(self, cell: Cell, why: str) -> str | None:
        """Prepare the second attempt at a trial that had no valid result for the reason `why`. None
        where it can be taken; else the reason for which its cell is lost."""


@dataclass
class OnceEach:
    """The base of drivers whose trials share nothing, without `trial`: a round is one trial of one
    cell, and a block measures every cell once, as far as there is time."""

    here: BlockRun
    _retried: set[Cell] = field(default_factory=set, init=False)

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """Every cell once, in random order: first the cells that open claims need, then those with
        trials in the fewest blocks so far. Trials that fit into the time that is left come before
        trials that do not. A trial that begins before the block's time is over is finished. Time
        that is left at the end is used for up to two more trials of the needed cells."""
        here, began = self.here, time.monotonic()
        ends = began + seconds
        tried = {cell: blocks for cell, (blocks, _) in here.file.tried().items()}
        cells, needed = here.cells, here.needed
        here.draws().shuffle(cells)
        cells.sort(key=lambda each: (each.id not in needed, tried.get(each.id, 0)))
        here.progress.planned = len(cells)
        is_first, untried, round_s = True, list[Cell](), 0.0
        for number in (1, 2, 3):
            left = [each for each in cells if number == 1 or each.id in needed]
            while left:
                left_s = ends - time.monotonic()
                cell = next((each for each in left if self.least_s(each) <= left_s), left[0])
                left.remove(cell)
                fits = self.least_s(cell) <= left_s or number == 1
                if is_first or (left_s > 0 and fits):
                    yield [PlannedTrial(number, cell)]
                elif number == 1:
                    untried.append(cell)
                    if cell.id not in tried:
                        here.lose(cell, "not-measured", "the block had no time for it")
                is_first = False
            round_s = round_s or time.monotonic() - began
        mean_s = round_s / max(1, len(cells) - len(untried))
        lacked_s = sum(max(mean_s, self.least_s(each)) for each in untried)
        here.missing_s = lacked_s - (time.monotonic() - began - round_s)

    def least_s(self, cell: Cell) -> float:  # noqa: ARG002 - overrides use it
        """Seconds that a trial of the cell takes at least; 0 where that is not known."""
        return 0.0

    def again(self, cell: Cell, why: str) -> str | None:
        """After a cell's first failure None: the failure is noted, and a service that has ended is
        replaced. After later failures the reason `why` (Driver)."""
        if cell in self._retried:
            return why
        self._retried.add(cell)
        self.here.note("retried", why, cell)
        self.here.view.note(f"{cell.id}: second attempt: {first_line(why)}")
        self.here.renew_if_dead(cell)
        return None


def ended_now(
    planned: PlannedTrial, block: int, seconds: float, elapsed_us: npt.ArrayLike, **its: Any
) -> Trial:
    """A trial without a load generator that took so many seconds and ends now, with the response
    times of its correct responses and the further members `its`."""
    return Trial(
        block=block,
        round=planned.round,
        cell=planned.cell.id,
        users=planned.cell.users,
        began_ms=round(1000 * (clock.now().timestamp() - seconds)),
        seconds=seconds,
        elapsed_us=np.sort(np.rint(elapsed_us).astype(np.int64)),
        **its,
    )


@dataclass
class LoadRun(BlockRun):
    """A block whose services answer a load generator."""

    load: Generator | Engines = field(kw_only=True)
    sent: Counter[tuple[ServiceGroup, str]] = field(default_factory=Counter)
    """How many requests each strategy of each service was sent, for the service's own count."""

    def requests(self, cell: Cell) -> Mapping[str, Payload]:
        """What a cell sends (`requests_of`)."""
        return requests_of(self.order.experiment, cell.complexity)

    def ask(self, cell: Cell) -> None:
        """Send one request of each kind that a cell sends. Raises EnvironmentProblem where one is
        refused, WrongAnswers where an answer is wrong, or an error of httpx."""
        for name, payload in self.requests(cell).items():
            path = path_of(payload.workload, cell.strategy, cell.kernel)
            answer = self.running(cell).service.post(path, payload.body("look"))
            if answer.status_code != httpx.codes.OK:
                raise EnvironmentProblem(f"{name}: {answer.status_code} {answer.text[:200]}")
            if answer.content != payload.answer("look"):
                raise WrongAnswers(f"{name}: a wrong answer before the first trial")

    def prove(self) -> None:
        """Prove what only this kind of load needs, before the first load."""

    def keep_proof(self, found: Proof, of: str) -> None:
        """Store a proof of a service's behaviour, and show it."""
        self.run.keep_proof(found)
        says = {True: "DOES", False: "DOES NOT", None: "NOT PROVEN"}[found.does]
        self.view.note(f"proof  {of} {says}: {found.claim}; {found.evidence}")

    def before(self, cell: Cell, drop_s: float) -> None:
        """Prepare what a load on a cell needs, of which so many seconds are dropped."""

    def after(self, cell: Cell, sent: LoadResult, found: Trial) -> Trial:  # noqa: ARG002 - of others
        """The trial with the values that only this kind of load has."""
        return found

    def ended(self, cell: Cell, sent: LoadResult) -> None:
        """Check what remains after a load during which the service ended."""

    def announce(self, cell: Cell) -> None:
        """Tell the load generator what a cell's trials send, and to which address."""
        url = self.url(cell) + _connections(cell)
        self.load.cell(cell.id, url, self.run.payload(cell.complexity))

    def url(self, cell: Cell) -> str:
        """Where a cell's requests go."""
        payload, *_ = self.requests(cell).values()
        path = path_of(payload.workload, cell.strategy, cell.kernel)
        return self.running(cell).service.base_url + path

    def count(self, cell: Cell, requests: int) -> None:
        """Add to the number of requests that were sent to a cell's strategy."""
        self.sent[cell.service_group, cell.strategy] += requests


def _connections(cell: Cell) -> str:
    """How long the load generator keeps connections, as the fragment of an address. A connection
    stays with the worker that accepted it, so with several workers each trial opens new ones."""
    kept = "#renewed" if cell.workers > 1 else ""
    return "#each" if cell.connection == "each" else kept
