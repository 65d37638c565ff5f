"""The whole measuring chain, pointed at something known: JMeter's closed plan, the collectors, the
store's files, the analysis. Nothing of it is replaced."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from restbench.analyse import jtl, measures, open_samples
from restbench.analyse.counted import Counted
from restbench.analyse.measures import Measurement
from restbench.analyse.open_samples import Answered
from restbench.calibrate.stub import HOST, STRATEGY, Behaviour
from restbench.deploy import service
from restbench.drive.load_profile import Profile
from restbench.drive.measure import Task, measure
from restbench.drive.open_step import Rate, Way, offer
from restbench.drive.payload import ROWS, Payload, Requests, make_payload
from restbench.experiment.arrivals import Phases
from restbench.experiment.cell import Cell, Client, Shape
from restbench.experiment.records import CellRun, PlannedCell
from restbench.failures import EnvironmentProblem
from restbench.machine import ports, process
from restbench.machine.live import Live
from restbench.machine.placement import Cores, allowed_cores, core_list, place
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run

STUB_PORT = "STUB_PORT"
DEFAULT_PORT = 18500
#: The study's lowest complexity: the fastest cells, so those that ask most of the chain.
COMPLEXITY = "low"
SHAPE = Shape(rows=30, inner=20, columns=20)
#: The study's next one: so many rows that `thread-pool` makes as many threads as it ever does.
MANY_ROWS = "medium"
SHAPES = {COMPLEXITY: SHAPE, MANY_ROWS: Shape(rows=1000, inner=50, columns=20)}
SEED = 2019


@dataclass(frozen=True)
class Measured:
    """One measurement as the chain left it."""

    record: CellRun
    folder: CellFolder
    numbers: Measurement

    def correct_ms(self) -> Counted:
        """The response times of the window's correct completions."""
        window = self.record.window
        if window is None:
            raise EnvironmentProblem(f"{self.record.cell.id}: no window: {self.record.reason}")
        return jtl.read(self.folder.samples, window).correct_ms


@dataclass
class Probe:
    """Measures in a run folder of its own; each measurement is a block of it."""

    run: Run
    cores: Cores
    payloads: Mapping[str, Payload]
    """By the complexity of the cells that send them."""
    taken: int = 0
    foreign_pct: list[float] = field(default_factory=list)
    """What others did with the machine just before each measurement, percent of it."""

    def measure(
        self,
        target: service.Service,
        cell: Cell,
        profile: Profile,
        watch: Callable[[Live], None] | None = None,
        client: Client = "http-sampler",
    ) -> Measured:
        """One measurement of a service under a closed load, from its check to its numbers."""
        folder = self.next_folder(cell)
        task = Task(
            planned=PlannedCell(cell=cell, block=self.taken, order=self.taken, test_ids=()),
            profile=profile,
            requests=Requests({cell.complexity: self.payloads[cell.complexity]}),
            payload_seed=SEED,
            cores=self.cores,
            client=client,
        )
        record = measure(target, task, self.run, watch)
        if record.before is not None:
            self.foreign_pct.append(record.before.foreign_pct)
        return Measured(record, folder, measures.measurement(record, folder))

    def offer(self, target: service.Service, users: int, per_s: float, phases: Phases) -> Answered:
        """One step of an open load at an even rate; `users` is how many may be waiting at once."""
        cell = cell_of(users)
        folder = self.next_folder(cell)
        rate = Rate(cell, self.taken, per_s, phases, "constant", SEED)
        way = Way(self.run.payload(COMPLEXITY), core_list(self.cores.load))
        step = offer(target, rate, way, folder)
        if step.before is not None:
            self.foreign_pct.append(step.before.foreign_pct)
        return open_samples.read(folder.samples, folder.arrivals, phases.window_ms)

    def next_folder(self, cell: Cell) -> CellFolder:
        """Where the next measurement's files go."""
        self.taken += 1
        folder = self.run.cell(self.taken, cell.id)
        folder.path.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def stub(self, behaviour: Behaviour) -> Iterator[service.Service]:
        """A running stub; its port and rows are this probe's, whatever the behaviour says."""
        port = stub_port()
        ports.require_free(port, STUB_PORT)
        rows = self.run.payload(COMPLEXITY) / ROWS
        told = replace(behaviour, port=port, rows_file=str(rows.resolve()))
        started = start_stub(told, self.run.path / "stub.log", core_list(self.cores.service))
        try:
            service.await_ready(started)
            yield started
        finally:
            started.stop()

    @contextmanager
    def java(self) -> Iterator[service.Service]:
        """A fresh Java service."""
        cores = core_list(self.cores.service)
        started = service.start("java", "none", cores, self.run.path / "java")
        try:
            yield started
        finally:
            started.stop()


def new_probe(folder: Path) -> Probe:
    """A probe that keeps its files in `folder`."""
    run = Run(folder)
    payloads = {name: make_payload(shape, SEED, 0, 50) for name, shape in SHAPES.items()}
    for name, payload in payloads.items():
        payload.write(run.payload(name))
    return Probe(run, place("unbound", allowed_cores()), payloads)


def start_stub(behaviour: Behaviour, log: Path, cores: str) -> service.Service:
    """Start a stub; it dies with us. It may not be ready yet."""
    command = [sys.executable, "-m", "restbench.calibrate.stub", json.dumps(asdict(behaviour))]
    started = process.start(process.bound_to_us(command, cores), log)
    url = f"http://{HOST}:{behaviour.port}"
    return service.Service("java", url, [started], shlex.join(command), log)


def stub_port() -> int:
    """The stub's port, from STUB_PORT."""
    text = os.environ.get(STUB_PORT, str(DEFAULT_PORT))
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise EnvironmentProblem(f"{STUB_PORT}={text} is not a port; allowed are 1 to 65535")
    return int(text)


def cell_of(users: int, strategy: str = STRATEGY, complexity: str = COMPLEXITY) -> Cell:
    """The cell that is measured: Java, `serial` at the lowest complexity unless told otherwise."""
    return Cell(service="java", strategy=strategy, complexity=complexity, users=users)


def window_of(seconds: float, warmup_s: float, completions: int | None = None) -> Profile:
    """A window of `seconds`, or one that ends when it has its completions and is capped there."""
    return Profile(
        blocks=1,
        service_warmup_s={"java": 0, "python": 0},
        warmup_s=warmup_s,
        window_min_s=min(1.0, seconds) if completions else seconds,
        window_max_s=seconds,
        slow_window_max_s=seconds,
        enough_completions=completions or sys.maxsize,
    )
