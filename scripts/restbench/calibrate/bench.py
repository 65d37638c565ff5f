"""What every check measures with: the load generator of runs, against a stub whose truth is known
or a fresh Java service. Nothing of the chain is replaced."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from restbench.calibrate.stub import HOST, STRATEGY, Behaviour
from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import generator, relay
from restbench.drive.generator import Generator, Sent
from restbench.drive.payload import ANSWER_REST, Payload, make_payload, path_of
from restbench.experiment.cell import Cell, Shape
from restbench.machine import ports, process
from restbench.machine.placement import Cores, allowed_cores, core_list, place

#: The study's lowest complexity: the fastest cells, so those that ask most of the chain.
COMPLEXITY = "low"
PAYLOAD: Payload = make_payload(Shape(rows=30, inner=20, columns=20), 2019, 0, 50)
#: A service is asked by so many, as the study's lightest load.
USERS = 10

Tell = Callable[[str], None]


@dataclass
class Bench:
    """A folder for what the checks write, the cores of both sides, and the view of its progress."""

    folder: Path
    tell: Tell
    cores: Cores = field(default_factory=lambda: place("unbound", allowed_cores()))
    foreign_ms: float = 0.0
    """CPU time of everything but service and load generator, over all trials so far."""
    machine_ms: float = 0.0
    """What all cores together had in that time."""

    @property
    def payload(self) -> Path:
        """The folder of what is sent."""
        if not (self.folder / COMPLEXITY / ANSWER_REST).exists():
            PAYLOAD.write(self.folder / COMPLEXITY)
        return self.folder / COMPLEXITY

    @contextmanager
    def generator(self, users: int) -> Iterator[Generator]:
        """A load generator as a run's: on cores of its own where there are enough."""
        cores = None if self.cores.shared else core_list(self.cores.load)
        with generator.started(users, self.folder / f"load-{users}", cores) as load:
            yield load

    @contextmanager
    def stub(self, load: Generator, behaviour: Behaviour) -> Iterator[Service]:
        """A running stub, announced to the load generator; port and answer are set here."""
        answer = str((self.payload / ANSWER_REST).resolve())
        configured = replace(behaviour, port=ports.free(), answer_file=answer)
        command = [sys.executable, "-m", "restbench.calibrate.stub", json.dumps(asdict(configured))]
        line = process.bound_to_us(command, core_list(self.cores.service))
        log = self.folder / "stub.log"
        url = f"http://{HOST}:{configured.port}"
        with Service("java", url, [process.start(line, log)], log=log) as stub:
            service.await_ready(stub)
            self.announce(load, stub, STRATEGY)
            yield stub

    @contextmanager
    def relayed(self, load: Generator, target: Service, delay_ms: int) -> Iterator[None]:
        """The generator's trials go to a stub through a relay, on the generator's cores."""
        own = HOST, ports.free()
        cores = None if self.cores.shared else core_list(self.cores.load)
        line = process.bound_to_us(relay.command(own, target.address, delay_ms), cores)
        log = self.folder / "relay.log"
        started = [process.start(line, log)]
        with Service("java", "http://{}:{}".format(*own), started, log=log) as way:
            service.await_ready(way)
            self.announce(load, way, STRATEGY)
            yield

    def java(self) -> Service:
        """A fresh Java service, on a port of its own."""
        cores = core_list(self.cores.service)
        return service.start("java", "none", cores, self.folder / "java", port=ports.free())

    def announce(self, load: Generator, target: Service, *strategies: str) -> None:
        """The trials of these names go to this service."""
        for name in strategies:
            load.cell(name, url_of(target, name), self.payload)

    def trial(  # noqa: PLR0913 - what a trial is made of
        self,
        load: Generator,
        strategy: str,
        users: int,
        times_s: tuple[float, float],
        pids: Sequence[int],
        *,
        arrivals: Path | None = None,
    ) -> Sent:
        """One trial; `times_s` are what is dropped and what is kept."""
        sent = load.trial(strategy, users, *times_s, pids, arrivals)
        busy_ms, known_ms = (
            sum(getattr(sent.closed, name) - getattr(sent.opened, name) for name in names)
            for names in (("busy_ms",), ("service_ms", "generator_ms"))
        )
        self.foreign_ms += max(0.0, busy_ms - known_ms)
        self.machine_ms += 1000 * sent.seconds * len(allowed_cores())
        return sent


def url_of(target: Service, strategy: str) -> str:
    """Where its requests go."""
    return target.base_url + path_of("matrix", strategy)


def cell_of(strategy: str) -> Cell:
    """The cell of a service's trials."""
    return Cell(service="java", strategy=strategy, complexity=COMPLEXITY, users=USERS)
