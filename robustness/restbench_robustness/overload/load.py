"""Requests with their right answers, and a load by wrk, which sends them and judges the answers."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

import httpx

from restbench.drive.payload import make_payload
from restbench.experiment.cell import Shape
from restbench.failures import EnvironmentProblem
from restbench.machine import watch

SEED = 2019
LOW = Shape(rows=30, inner=20, columns=20)
HIGH = Shape(rows=2000, inner=50, columns=20)
#: A row times a column: a body of about 3 MB for a product of one element.
LARGE = Shape(rows=1, inner=500_000, columns=1)
#: The most frequent request of a flood: narrow operands need much work for few bytes to send.
WORK = Shape(rows=200, inner=10, columns=200)
#: The same where an element is a task or a thread, which takes tens of microseconds.
WORK_OF_TASKS = Shape(rows=40, inner=10, columns=40)
#: A column times a row: a task an element is more than a request may have.
MANY_TASKS = Shape(rows=1001, inner=1, columns=1001)
SCRIPT = Path(__file__).with_name("flood.lua")
PRIORITY = -15
"""Nice value of wrk."""
LONGER_THAN_ANYTHING_S = 86_400


class Verdict(StrEnum):
    """The result of one request."""

    RIGHT = "right"
    """200 with the exact product, or for a wrong body the error of the contract."""
    REFUSED = "refused"
    """503 with code 008 and Retry-After."""
    FAULT = "fault"
    """500 with code 099."""
    LOST = "lost"
    """The connection was refused, closed or reset before a whole answer had arrived."""
    HUNG = "hung"
    """No whole answer within the stated time."""
    WRONG = "wrong"
    """Anything else."""


@dataclass(frozen=True)
class Kind:
    """Requests that differ only in their id; `rest` follows the id in the body. Kinds are drawn in
    proportion to their `weight`."""

    weight: int
    rest: bytes
    status: int = 200
    code: str = ""
    answer_rest: bytes = b""
    """The right answer after its id; empty for an error."""
    query: str = ""

    def body(self, number: int) -> bytes:
        """The body of the request with this id."""
        return b'{"requestId":%d,' % number + self.rest

    def judge(self, number: int, answer: httpx.Response) -> Verdict:
        """The verdict on an answer to the valid request with this id."""
        if answer.status_code == 200:
            right = b'{"requestId":"%d",' % number + self.answer_rest
            return Verdict.RIGHT if answer.content == right else Verdict.WRONG
        with contextlib.suppress(ValueError, TypeError, KeyError):
            said = answer.status_code, answer.json()["errorCode"]
            later = answer.headers.get("retry-after", "")
            if said == (503, "008") and later.isdigit() and int(later) > 0:
                return Verdict.REFUSED
            if said == (500, "099"):
                return Verdict.FAULT
        return Verdict.WRONG


def valid(shape: Shape, weight: int = 1, query: str = "") -> Kind:
    """A kind with two random matrices and their exact product."""
    payload = make_payload(shape, SEED, 0, 50)
    rest, answer_rest = payload.body_rest.encode(), payload.answer_rest.encode()
    return Kind(weight, rest, answer_rest=answer_rest, query=query)


def overload_mix(strategy: str) -> list[Kind]:
    """The kinds of a flood: mostly WORK, some LOW, few HIGH and LARGE, and errors that are found
    early or late in a body. Where an element is a task or a thread, also more than are allowed."""
    rest = valid(LOW).rest
    unequal = (
        b'"matrixOne":{"columnCount":2,"rows":[{"value":"1,2"}]},'
        b'"matrixTwo":{"columnCount":1,"rows":[{"value":"1"}]}}'
    )
    is_per_element = strategy.endswith("-per-element")
    return [
        valid(WORK_OF_TASKS if is_per_element else WORK, 850),
        valid(LOW, 80),
        valid(HIGH, 8, "?kernel=native"),
        valid(LARGE, 2),
        Kind(20, unequal, 422, "001"),
        Kind(20, rest[:-40], 400, "002"),
        Kind(20, rest[:-5] + b'x"}]}}', 422, "005"),
        *([Kind(20, valid(MANY_TASKS).rest, 413, "011")] if is_per_element else []),
    ]


@dataclass(frozen=True)
class Outcome:
    """The results of all requests of a load."""

    counts: Counter[Verdict]
    seconds: float
    slowest_s: float
    examples: list[str] = field(default_factory=list)
    """A few results that are neither right nor refused."""

    @property
    def per_s(self) -> float:
        """Requests per second, whatever their results."""
        return self.counts.total() / self.seconds

    def only(self, *verdicts: Verdict) -> bool:
        """Whether all results are among these verdicts, and at least one is right."""
        ended = {verdict for verdict, number in self.counts.items() if number}
        return ended <= set(verdicts) and Verdict.RIGHT in ended

    def __str__(self) -> str:
        """All counts, the slowest time, and the examples."""
        counted = [f"{number} {verdict}" for verdict, number in self.counts.most_common() if number]
        reported = f"{', '.join(counted) or 'none'}, the slowest in {self.slowest_s:.1f} s"
        return "; ".join([reported, *self.examples])


@dataclass(frozen=True)
class Load:
    """A closed load: each connection sends its next request after the answer to the last one.

    `timeout_s` bounds the time of each request.
    """

    address: tuple[str, int]
    path: str
    kinds: Sequence[Kind]
    connections: int
    timeout_s: float
    seed: int = 1

    def run(self, seconds: float) -> Outcome:
        """Run the load for so many seconds, then wait until all requests are answered."""
        with self.running() as ended:
            time.sleep(seconds)
            return ended()

    @contextmanager
    def running(self) -> Iterator[Callable[[], Outcome]]:
        """Run wrk, with a high scheduling priority where permitted.

        Yields the function that ends the load and returns its outcome.
        """
        with tempfile.TemporaryDirectory(prefix="load-", dir=watch.begin()) as folder:
            self._write(Path(folder))
            host, port = self.address
            options = ["-t1", f"-c{self.connections}", f"-d{LONGER_THAN_ANYTHING_S}s"]
            options += [f"--timeout={math.ceil(self.timeout_s)}s", "-s", str(SCRIPT)]
            environment = {"RESTBENCH_KINDS": folder, "RESTBENCH_SEED": str(self.seed)}
            with subprocess.Popen(
                ["wrk", *options, f"http://{host}:{port}{self.path}"],
                env=os.environ | environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ) as wrk:
                with contextlib.suppress(PermissionError):
                    os.setpriority(os.PRIO_PROCESS, wrk.pid, PRIORITY)
                try:
                    yield partial(_ended, wrk, Path(folder), self.timeout_s)
                finally:
                    wrk.kill()

    def _write(self, folder: Path) -> None:
        """Write the kinds as flood.lua reads them: one line per kind, and files with its bytes."""
        lines = []
        for number, kind in enumerate(self.kinds, start=1):
            lines.append(f"{number}\t{kind.weight}\t{kind.status}\t{kind.code}\t{kind.query}\n")
            (folder / f"{number}.rest").write_bytes(kind.rest)
            (folder / f"{number}.answer").write_bytes(kind.answer_rest)
        (folder / "kinds").write_text("".join(lines))


def _ended(wrk: subprocess.Popen[str], folder: Path, timeout_s: float) -> Outcome:
    """End the load: send no more requests, and wait up to `timeout_s` for those in flight.

    Raises EnvironmentProblem where wrk fails or its report is incomplete.
    """
    (folder / "over").touch()
    timer = threading.Timer(timeout_s, wrk.send_signal, [signal.SIGINT])
    timer.start()
    lines = []
    for line in wrk.stdout or ():
        lines.append(line.rstrip("\n").split("\t"))
        if lines[-1] == ["drained"]:
            wrk.send_signal(signal.SIGINT)
    timer.cancel()
    code = wrk.wait()
    found = {key: float(values[0]) for key, *values in lines if key.endswith("_us")}
    if code or len(found) != 2:
        raise EnvironmentProblem(f"wrk ended with {code}: {lines[-3:]}")
    return Outcome(
        Counter({Verdict(line[1]): int(line[2]) for line in lines if line[0] == "count"}),
        found["duration_us"] / 1e6,
        found["slowest_us"] / 1e6,
        [line[1] for line in lines if line[0] == "example"],
    )
