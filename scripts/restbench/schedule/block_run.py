"""A block that is being measured: its services, what has become of it, what takes its trials and,
under load, its generator."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import httpx

from restbench.drive.engines import Engines
from restbench.drive.generator import Generator, LoadResult
from restbench.drive.payload import Requests, requests_of
from restbench.experiment.cell import Cell, ServiceGroup
from restbench.experiment.order import Order
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem, WrongAnswers, in_short
from restbench.machine import clock
from restbench.schedule.deployments import Deployments, RunningService
from restbench.schedule.pace import PlannedTrial, TrialGroup
from restbench.store.store import Run
from restbench.store.trials import Event, Trial, TrialFile


@dataclass(frozen=True)
class BlockOrder:
    """What a block is to measure, into which run, and in what time."""

    order: Order
    run: Run
    view: View
    block: int
    groups: Sequence[TrialGroup]
    seconds: float
    needed: frozenset[str] = frozenset()
    """The ids of the cells that open claims need more trials of; empty where all are alike."""
    last: int = 0
    """The last of the planned blocks that the run has time for; 0 for that of its profile."""

    @property
    def planned(self) -> int:
        """How many blocks are planned, as far as there is time for them."""
        return self.last or self.order.profile.blocks

    @property
    def cells(self) -> list[Cell]:
        """Of all groups, each once."""
        return list(dict.fromkeys(cell for each in self.groups for cell in each.cells))

    def draws(self, what: str = "") -> random.Random:
        """Random numbers for one use, which are the same when this block is measured anew."""
        seed = f"{self.order.experiment.seed} {self.block} {what}".rstrip()
        return random.Random(seed)  # noqa: S311 - an order, not a secret

    def begun(self) -> Progress:
        """What it is at when it begins now."""
        return Progress(self.block, until=time.monotonic() + self.seconds)


@dataclass
class Progress:
    """What a block is at, for its view."""

    block: int
    done: int = 0
    planned: int = 0
    """0 where nobody can know it: what comes next depends on what came before."""
    cell: str = "starting services"
    per_s: float = 0.0
    until: float = 0.0
    """When it is to end, by the monotonic clock."""
    spare_part: float = 1.0
    """Of the time of its trials, what they could do without: all where they end when it does."""


class View(Protocol):
    """What shows how a block goes on."""

    def note(self, text: str) -> None:
        """A line worth reading."""

    def show(self, progress: Progress) -> None:
        """What the block is at; called at every trial."""


@dataclass
class BlockRun:
    """A block that is being measured."""

    wanted: BlockOrder
    deployments: Deployments
    progress: Progress = field(init=False)
    lost: dict[Cell, str] = field(default_factory=dict)
    """The cells that have no further trials in this block, with the reason."""

    def __post_init__(self) -> None:
        """It begins now."""
        self.progress = self.wanted.begun()

    @property
    def order(self) -> Order:
        """What the run was asked for."""
        return self.wanted.order

    @property
    def run(self) -> Run:
        """Where all that is found is kept."""
        return self.wanted.run

    @property
    def view(self) -> View:
        """What shows how it goes on."""
        return self.wanted.view

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
        """Those that still have trials."""
        return [cell for cell in self.wanted.cells if cell not in self.lost]

    def running(self, cell: Cell) -> RunningService:
        """The service that answers a cell's requests; EnvironmentProblem where it is not up."""
        return self.deployments.running(cell)

    def lose(self, cell: Cell, kind: str, why: str) -> None:
        """No further trial of a cell in this block; the others go on."""
        self.lost[cell] = why
        self.note(kind, why, cell)
        self.view.note(f"{kind}  {cell.id}: {why}")

    def note(self, kind: str, text: str, cell: Cell | None = None) -> None:
        """Append an event of this block."""
        cell_id = None if cell is None else cell.id
        self.file.note(Event(clock.now_text(), kind, text, self.block, cell_id))

    def at(self, what: str) -> None:
        """Show what it is at."""
        self.progress.cell = what
        self.view.show(self.progress)


class Driver(Protocol):
    """A kind of measurement in one block, with all that its first trial needs."""

    @property
    def here(self) -> BlockRun:
        """The block."""

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """The trials of so much time in the order of measuring; those of a round are kept together.

        The next is asked for when those before have been taken, on which it may depend.
        """

    def trial(self, planned: PlannedTrial) -> Trial | None:
        """Take one. None where it is kept as a fact of the block, or where its cell is lost of it
        and why is noted (`BlockRun.lose`); EnvironmentProblem where it says nothing about the
        service."""

    def again(self, cell: Cell, why: str) -> str | None:
        """None where a trial that said nothing can be taken once more, and what that needs is done;
        else the reason for which its cell is lost."""


@dataclass
class LoadRun(BlockRun):
    """A block whose services answer a load generator."""

    load: Generator | Engines = field(kw_only=True)
    sent: Counter[tuple[ServiceGroup, str]] = field(default_factory=Counter)
    """How many requests each strategy of each service was sent, for the service's own count."""
    failing: set[Cell] = field(default_factory=set)
    """Those of which a request has failed in this block."""
    void: set[Cell] = field(default_factory=set)
    """Those that gave a wrong answer to a load before their trials."""

    def requests(self, cell: Cell) -> Requests:
        """What a cell sends."""
        return requests_of(self.order.experiment, cell.complexity)

    def ask(self, cell: Cell) -> None:
        """One request of each kind that a cell sends. EnvironmentProblem where it is refused,
        WrongAnswers, or an error of httpx."""
        requests = self.requests(cell)
        path = requests.path(cell.strategy, cell.kernel)
        for name, payload in requests.payloads.items():
            answer = self.running(cell).service.post(path, payload.body("look"))
            if answer.status_code != httpx.codes.OK:
                raise EnvironmentProblem(f"{name}: {answer.status_code} {answer.text[:200]}")
            if answer.content != payload.answer("look"):
                raise WrongAnswers(f"{name}: a wrong answer before the first trial")

    def prove(self) -> None:
        """Look at what only this kind of load has, before its first."""

    def keep_proof(self, found: Proof, of: str) -> None:
        """Keep and tell what a service was seen to do."""
        self.run.keep_proof(found)
        says = {True: "DOES", False: "DOES NOT", None: "NOT PROVEN"}[found.does]
        self.view.note(f"proof  {of} {says}: {found.claim}; {found.evidence}")

    def before(self, cell: Cell) -> None:
        """Make ready what a load of a cell needs."""

    def after(self, cell: Cell, sent: LoadResult, found: Trial) -> Trial:  # noqa: ARG002 - of others
        """The trial with what only this kind of load tells of it."""
        return found

    def ended(self, cell: Cell, sent: LoadResult) -> None:
        """Look at what is left of a load in which the service ended."""

    def announce(self, cell: Cell) -> None:
        """Tell the load generator what a cell's trials send where."""
        url = self.url(cell) + _connections(cell)
        self.load.cell(cell.id, url, self.run.payload(cell.complexity))

    def url(self, cell: Cell) -> str:
        """Where a cell's requests go."""
        path = self.requests(cell).path(cell.strategy, cell.kernel)
        return self.running(cell).service.base_url + path

    def count(self, cell: Cell, requests: int) -> None:
        """So many requests were sent to a cell's strategy."""
        self.sent[cell.service_group, cell.strategy] += requests

    def failed(self, cell: Cell, error: str) -> None:
        """Requests of a trial failed, the first of them with this error: noted once for a cell."""
        if cell not in self.failing:
            self.failing.add(cell)
            self.note("errors", f"the first request that failed: {error}", cell)

    def wrong(self, cell: Cell) -> None:
        """An answer was wrong in a load that is not measured: noted once for a cell."""
        if cell not in self.void:
            self.void.add(cell)
            self.note("wrong", "an answer was wrong in a load before the first trial", cell)

    def renew_if_dead(self, cell: Cell) -> str | None:
        """None where a cell's service serves, or a fresh one does in its place; else why there is
        none."""
        running = self.deployments.of(cell)
        if running is None:
            return self.deployments.lacks(cell)
        if running.service.serves():
            return None
        ending = running.service.ending()
        if running.service.attached:
            return ending
        self.note("restarted", ending, cell)
        self.view.note(f"restarted  at {cell.id}: {in_short(ending)}; a fresh one goes on")
        if not self.deployments.renew(cell):
            return f"{ending}; a fresh one does not come up: {self.deployments.lacks(cell)}"
        for each in self.cells:
            if each.service_group == cell.service_group:
                self.announce(each)
        return None


def _connections(cell: Cell) -> str:
    """How long the load generator keeps them, as the fragment of an address. The worker that
    accepts a connection keeps it, so with several workers each trial draws anew."""
    kept = "#renewed" if cell.workers > 1 else ""
    return "#each" if cell.connection == "each" else kept
