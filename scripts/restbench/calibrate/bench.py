"""The measuring chain that every check uses: the load generator of runs, against a stub whose
behaviour is known or a fresh Java service. No part of the chain is replaced."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from restbench.calibrate.stub import HOST, STRATEGY, Behaviour
from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import generator, relay
from restbench.drive.generator import CORRECT, Generator, LoadResult
from restbench.drive.payload import ANSWER_REST, Payload, make_payload, path_of
from restbench.drive.wrk import Load
from restbench.experiment.cell import Cell, Shape
from restbench.failures import EnvironmentProblem
from restbench.machine import ports, process
from restbench.machine.placement import Cores, allowed_cores, core_list, place

#: The study's lowest complexity: the fastest cells, which demand most of the chain.
COMPLEXITY = "low"
PAYLOAD: Payload = make_payload(Shape(rows=30, inner=20, columns=20), 2019, 0, 50)
#: The number of users of a service, as in the study's lightest load.
USERS = 10
CELL = Cell(service="java", strategy=STRATEGY, complexity=COMPLEXITY, users=USERS)

SEED = 2019

Tell = Callable[[str], None]
A = TypeVar("A")


@dataclass
class Bench:
    """The checks' folder, the cores of service and load generator, a callback for progress."""

    folder: Path
    tell: Tell
    cores: Cores = field(default_factory=lambda: place("unbound", allowed_cores()))
    foreign_ms: float = 0.0
    """CPU time of everything but service and load generator, over all trials so far."""
    machine_ms: float = 0.0
    """CPU time that all cores together had in these trials."""

    @property
    def payload(self) -> Path:
        """The folder of the request bodies, which are written when first needed."""
        if not (self.folder / COMPLEXITY / ANSWER_REST).exists():
            PAYLOAD.write(self.folder / COMPLEXITY)
        return self.folder / COMPLEXITY

    def turns(self, what: str, arms: Sequence[A], count: int, every: int) -> Iterator[list[A]]:
        """The arms in random order, so many times; at every so many turns a line says `what`."""
        shuffler = random.Random(SEED)  # noqa: S311 - an order, not a secret
        for number in range(1, count + 1):
            if number % every == 1:
                self.tell(f"{what}, {number} of {count}")
            yield shuffler.sample(arms, len(arms))

    def generator(self, users: int) -> AbstractContextManager[Generator]:
        """A load generator as in a run."""
        return generator.started(users, self.folder / f"load-{users}", self.cores.own_load)

    def stub(self, load: Generator, behaviour: Behaviour) -> AbstractContextManager[Service]:
        """A running stub, to which the generator's trials go; its port and answer are set here."""
        port, answer = ports.free(), str((self.payload / ANSWER_REST).resolve())
        reported = json.dumps(asdict(replace(behaviour, port=port, answer_file=answer)))
        command = [sys.executable, "-m", "restbench.calibrate.stub", reported]
        return self._announced(load, port, command, core_list(self.cores.service))

    def relayed(
        self, load: Generator, target: Service, delay_ms: int
    ) -> AbstractContextManager[Service]:
        """A relay to `target`, on the generator's cores, to which the generator's trials go."""
        port = ports.free()
        command = relay.command((HOST, port), target.address, delay_ms)
        return self._announced(load, port, command, self.cores.own_load)

    @contextmanager
    def _announced(
        self, load: Generator, port: int, command: list[str], cores: str | None
    ) -> Iterator[Service]:
        """Run a command that serves at this port, and direct the generator's trials to it."""
        log = self.folder / f"port-{port}.log"
        started = process.start(process.bound_to_us(command, cores), log)
        with Service("java", f"http://{HOST}:{port}", [started], log=log) as running:
            service.await_ready(running)
            self.announce(load, running, STRATEGY)
            yield running

    def java(self) -> Service:
        """A fresh Java service, on a port of its own."""
        cores = core_list(self.cores.service)
        return service.start("java", "none", cores, self.folder / "java", port=ports.free())

    def announce(self, load: Generator, target: Service, *strategies: str) -> None:
        """Direct the trials of these strategies to this service."""
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
    ) -> LoadResult:
        """One trial; `times_s` are the seconds that are dropped and the seconds that are kept."""
        sent = load.trial(strategy, users, *times_s, pids, arrivals)
        before_ms, after_ms = (
            mark.busy_ms - mark.service_ms - mark.generator_ms
            for mark in (sent.opened, sent.closed)
        )
        self.foreign_ms += max(0.0, after_ms - before_ms)
        self.machine_ms += 1000 * sent.seconds * len(allowed_cores())
        return sent


def load_of(sent: LoadResult) -> Load:
    """A trial's result in the form of wrk's. EnvironmentProblem where no answer was right."""
    opened, closed = sent.opened, sent.closed
    correct = int((sent.measured["outcome"] == CORRECT).sum())
    if not correct:
        raise EnvironmentProblem(
            f"no answer of a trial was right: {sent.first_error or 'none came'}"
        )
    return Load(
        correct,
        per_s=correct / sent.seconds,
        service_ms=(closed.service_ms - opened.service_ms) / correct,
        generator_ms=(closed.generator_ms - opened.generator_ms) / correct,
    )


def url_of(target: Service, strategy: str) -> str:
    """The URL of a strategy of the service."""
    return target.base_url + path_of("matrix", strategy)
