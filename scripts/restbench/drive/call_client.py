"""The client programs that make batches of calls, one in Java and one in Python.

A program runs for many batches. It reads one JSON object per line and answers each with one line;
all its other output goes to its log.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from restbench import ROOT
from restbench.deploy import programs
from restbench.experiment.calls import Client
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import process
from restbench.store.writing import write_text

JAR = ROOT / "java-service" / "client" / "target" / "restbench-calls.jar"
#: How long a program may take from its start to its first answer.
START_S = 60.0
#: Time that a batch may take in addition to the time limits of its calls.
SPARE_S = 60.0


class Record(BaseModel):
    """A JSON object from a program; members that have no field here are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Hello(Record):
    """The strategies and transports that a program offers."""

    strategies: tuple[str, ...]
    transports: tuple[str, ...]


class BatchResult(Record):
    """The result of a batch."""

    elapsed_s: float
    outcomes: int
    done: int
    failed: dict[str, int]
    """Number of failed calls by the kind of failure; after `REFUSED` follows the error code."""
    cancelled: int
    wrong: int
    attempts: int
    cpu_s: float
    """CPU time of the program over the whole batch."""
    peak_in_flight: int
    threads: dict[str, int]
    """The most threads at once, by their name without its number."""
    stages: dict[str, dict[str, float]]
    """By stage (S, C, D and P): its `wall_s`, summed over all calls."""
    compile_s: float


class CallLine(Record):
    """A line of a batch's log: one call."""

    index: int
    outcome: Literal["done", "failed", "cancelled"]
    stage: str | None = None
    kind: str | None = None
    error_code: str | None = None
    s_ms: float | None = None
    c_ms: float | None = None
    d_ms: float | None = None
    p_ms: float | None = None
    result: dict[str, Any] | None = None
    """The answer of a kernel, with the member names of the REST answer."""

    @property
    def failure(self) -> str:
        """Why there is no result, in words."""
        return " ".join(filter(None, (self.outcome, self.stage, self.kind, self.error_code)))


@dataclass(frozen=True)
class Batch:
    """One batch of calls; a field that is None is not sent to the program."""

    url: str
    """URL of the endpoint, with its query."""
    calls: int
    inputs: Path
    """A JSON list of request bodies, which the calls use in rotation."""
    transport: str = "rest"
    workload: str = "matrix"
    strategy: str = "sequential"
    threads: int = 1
    teams: tuple[int, ...] | None = None
    in_flight: int = 64
    per_call_s: float = 30.0
    retries: bool = False
    expected: Path | None = None
    """A JSON list of the correct products."""
    only: tuple[int, ...] | None = None
    log: Path | None = None
    loop_threads: int | None = None
    """Threads of the Java client that work within one document."""


Answer = TypeVar("Answer", bound=Record)


@dataclass
class CallClient:
    """A running program, made by `running`."""

    name: Client
    log: Path
    start: Callable[[], subprocess.Popen[bytes]]

    def __post_init__(self) -> None:
        """Start the program."""
        self.started = self.start()

    def renew_if_dead(self) -> bool:
        """Start an ended program again; returns whether it had ended. For the main thread only."""
        if self.started.poll() is None:
            return False
        self.end()
        self.started = self.start()
        return True

    def end(self) -> None:
        """Stop the program with all its processes."""
        process.stop(self.started)
        for pipe in (self.started.stdin, self.started.stdout):
            with suppress(BrokenPipeError):  # the program never read the last request
                _pipe(pipe).close()

    def hello(self) -> Hello:
        """What the program offers. EnvironmentProblem where it does not answer."""
        return self._asked({"do": "hello"}, START_S, Hello)

    def batch(self, batch: Batch) -> BatchResult:
        """Make the calls and wait for their end, for at most the sum of their time limits and
        SPARE_S.

        BadConfiguration where the program refuses an option; EnvironmentProblem where it ends, or
        takes too long.
        """
        said = {name: value for name, value in asdict(batch).items() if value is not None}
        max_s = batch.per_call_s * batch.calls + SPARE_S
        return self._asked({"do": "batch", **said}, max_s, BatchResult)

    def _asked(self, asked: Mapping[str, Any], max_s: float, form: type[Answer]) -> Answer:
        try:
            pipe = _pipe(self.started.stdin)
            pipe.write(json.dumps(asked, default=str).encode() + b"\n")
            pipe.flush()
        except BrokenPipeError as error:
            raise self._lost("ended") from error
        line = self._line(max_s)
        try:
            said = json.loads(line)
            if isinstance(said, dict) and "error" in said:
                raise BadConfiguration(f"{self.name} client: {said['error']}")
            return form.model_validate(said)
        except (ValueError, ValidationError) as error:
            raise self._lost(f"answered {line[:100]!r}") from error

    def _line(self, max_s: float) -> bytes:
        """Read a line; kill the program where it takes longer than `max_s`."""
        ends, patience = time.monotonic() + max_s, threading.Timer(max_s, self.started.kill)
        patience.start()
        try:
            line = _pipe(self.started.stdout).readline()
        finally:
            patience.cancel()
        if line.endswith(b"\n"):
            return line
        is_late = time.monotonic() >= ends
        raise self._lost(f"has not answered for {max_s:g} s" if is_late else "ended")

    def _lost(self, what: str) -> EnvironmentProblem:
        """Kill the program, whose next line could answer an older request; returns the error."""
        self.started.kill()
        self.started.wait()
        return EnvironmentProblem(
            f"the {self.name} client {what}; its log ends:\n{process.tail(self.log)}"
        )


@contextmanager
def running(
    name: Client, log: Path, cores: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[CallClient]:
    """A client program on `cores` (as `taskset -c` takes them), which ends with the with-block. To
    be entered in the main thread. EnvironmentProblem where it is not built."""
    line = process.bound_to_us(_COMMANDS[name](settings or {}), cores)
    client = CallClient(
        name, log, lambda: process.start(line, log, dict(settings or {}), is_asked=True)
    )
    try:
        yield client
    finally:
        client.end()


def read_log(path: Path) -> tuple[CallLine, ...]:
    """The lines of a batch's log in their order; an incomplete line is left out."""
    lines = path.read_bytes().splitlines(keepends=True)
    return tuple(CallLine.model_validate_json(each) for each in lines if each.endswith(b"\n"))


def write_inputs(path: Path, bodies: list[Any]) -> Path:
    """Write a file for Batch.inputs or Batch.expected, atomically; returns its path."""
    write_text(path, json.dumps(bodies))
    return path


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - the program was started with both pipes
    return pipe


_PYTHON = programs.python_program("-m", "restbench_client", folders=(ROOT / "scripts",))
_COMMANDS: dict[Client, Callable[[Mapping[str, str]], list[str]]] = {
    "java": lambda settings: programs.java_command(settings, JAR),
    "python": lambda _settings: _PYTHON,
}
