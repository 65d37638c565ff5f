"""JMeter, and the load generator of interleaved trials: one JMeter, which takes orders over a
socket.

Its orders, records and answers are described in `jmeter-plans/README.md`, "Trials".
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from restbench import ROOT
from restbench.failures import EnvironmentProblem
from restbench.machine import machine_cpu, process, watch

PLANS = ROOT / "jmeter-plans"
PLAN = PLANS / "trials.jmx"
LAUNCHER = PLANS / "jmeter.sh"
HOME = PLANS / "target" / "apache-jmeter"
#: The sampler of trials, and the program that makes many dashboards in one JVM.
PROGRAMS = HOME / "lib" / "ext" / "restbench-programs.jar"
#: From JMeter's start to its connection, on a busy machine.
START_TIMEOUT_S = 60.0
LOOK_S = 0.2
#: Time in addition to that of a trial: the generator waits up to 130 s for the last answers.
ANSWER_TIMEOUT_S = 150.0
#: JMeter's JVM runs for minutes here, so its C2 compiler pays off; the launcher's flags are for
#: runs of seconds. Its heap holds the records of one trial, and one body and answer of each size.
JVM_ARGUMENTS = "-XX:TieredStopAtLevel=4 -XX:CICompilerCount=2"
CORRECT, ERROR, WRONG = 0, 1, 2
#: Stages of a request in the service. The last two are parts of `compute`.
STAGES = ("queue", "parse", "compute", "serialize", "connection", "database")
#: Layout of a request in the file of records, which the generator's `Trial.Records` writes.
RECORD = np.dtype(
    [
        ("start_us", "<i8"),
        ("elapsed_us", "<i4"),
        ("latency_us", "<i4"),
        ("status", "<i2"),
        ("outcome", "i1"),
        ("kind", "i1"),
        ("user", "<i2"),
        ("late_ms", "<u2"),
        ("stages_ms", "<f4", len(STAGES)),
        ("token", "<i8"),
        ("code", "i1"),
    ]
)


def require_jmeter() -> None:
    """EnvironmentProblem when JMeter has not been set up, or has no Java to run on."""
    if not _jars():
        raise EnvironmentProblem("JMeter is not set up: run 'make setup'")
    java = str(Path(os.environ.get("JAVA_HOME", ""), "bin", "java"))
    if shutil.which(java if "JAVA_HOME" in os.environ else "java") is None:
        raise EnvironmentProblem(
            "JMeter's Java is missing: apt-get install openjdk-17-jdk-headless, or set JAVA_HOME"
        )


def version() -> str:
    """JMeter's version, from the name of its jar; `none` where it is not installed."""
    jars = _jars()
    return jars[0].stem.rpartition("-")[2] if jars else "none"


def _jars() -> list[Path]:
    return sorted(HOME.glob("bin/ApacheJMeter-*.jar"))


class GeneratorGone(EnvironmentProblem):
    """JMeter died or does not answer: nothing more can be sent."""


@dataclass(frozen=True)
class Mark:
    """A moment of a trial, with the CPU times used so far."""

    nanos: int
    """Since the start of the trial."""
    epoch_ms: int
    service_ms: int
    generator_ms: int
    busy_ms: int
    """CPU time of everything that ran on the cores that we may use."""
    steal_ms: int
    """CPU time that the hypervisor took away from these cores."""


@dataclass(frozen=True)
class LoadResult:
    """The result of one trial. A request is measured if it ends between `opened` and `closed`."""

    begun: Mark
    opened: Mark
    closed: Mark
    kinds: tuple[str, ...]
    """Names of the kinds of request; the `kind` of a record is an index."""
    first_error: str
    """Empty where every answer was correct."""
    records: npt.NDArray[Any]
    """Every request of the trial, of `RECORD`, in no order."""

    @property
    def seconds(self) -> float:
        """Length of the measured time."""
        return (self.closed.nanos - self.opened.nanos) / 1e9

    @property
    def measured(self) -> npt.NDArray[Any]:
        """The records of the requests that ended in the measured time."""
        ends_us = self.records["start_us"] + self.records["elapsed_us"]
        inside = (ends_us > self.opened.nanos / 1000) & (ends_us <= self.closed.nanos / 1000)
        kept: npt.NDArray[Any] = self.records[inside]
        return kept


def stages_ms(records: npt.NDArray[Any]) -> dict[str, float]:
    """The mean of each stage over the requests that have it."""
    columns = {name: records["stages_ms"][:, place] for place, name in enumerate(STAGES)}
    known = {name: values[~np.isnan(values)] for name, values in columns.items()}
    return {name: float(values.mean()) for name, values in known.items() if values.size}


@dataclass
class Generator:
    """A running JMeter whose users wait for trials. Drivers use `engines.Engines` the same way."""

    process: subprocess.Popen[bytes]
    connection: socket.socket
    folder: Path
    users: int
    """The number of users that JMeter has; no trial can have more."""

    @property
    def pid(self) -> int:
        """JMeter's JVM."""
        return self.process.pid

    def cell(self, name: str, url: str, payload: Path) -> None:
        """Define what the trials of this name send: the bodies in the payload's folder, to `url`.
        It may be several URLs with spaces between them; users are spread over them by number."""
        self._tell(["cell", name, url, str(payload.resolve())])

    def trial(  # noqa: PLR0913, PLR0917 - what a trial is made of
        self,
        name: str,
        users: int,
        drop_s: float,
        keep_s: float,
        pids: Sequence[int],
        arrivals: Path | None = None,
    ) -> LoadResult:
        """Let so many users send, measure for `keep_s` after `drop_s`, wait for the last answers.

        `pids` are the processes whose CPU time is the service's. With `arrivals`, a file of send
        times, the load is open. EnvironmentProblem where the generator has ended or reports that
        the trial failed.
        """
        if users > self.users:
            raise EnvironmentProblem(
                f"{users} users are needed, but the load generator has {self.users}"
            )
        records = self.folder / "records.bin"
        drop_ms, keep_ms = (str(round(1000 * each)) for each in (drop_s, keep_s))
        order = ["trial", name, str(users), drop_ms, keep_ms, str(records.resolve())]
        order += [",".join(map(str, pids)), *([str(arrivals.resolve())] if arrivals else [])]
        self._tell(order)
        self.connection.settimeout(drop_s + keep_s + ANSWER_TIMEOUT_S)
        return _sent(self._answer(), records)

    def _tell(self, order: Sequence[str]) -> None:
        try:
            self.connection.sendall(("\t".join(order) + "\n").encode())
        except OSError as error:
            raise self._gone() from error

    def _answer(self) -> list[str]:
        try:
            with self.connection.makefile("rb") as replies:
                reply = replies.readline()
        except OSError as error:
            raise self._gone() from error
        if not reply.endswith(b"\n"):
            raise self._gone()
        return reply.decode().rstrip("\n").split("\t")

    def _gone(self) -> GeneratorGone:
        log = process.tail(self.folder / "jmeter.log")
        return GeneratorGone(f"JMeter has ended or does not answer; its log ends:\n{log}")


@contextmanager
def started(users: int, folder: Path, cores: str | None) -> Iterator[Generator]:
    """A JMeter with so many users and its files in `folder`. It ends with the context.

    EnvironmentProblem where it does not come up.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = watch.begin() / "trials.socket"  # a socket's path has at most 107 characters
    path.unlink(missing_ok=True)
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        listener.listen()
        line = [str(LAUNCHER), "-n", "-t", str(PLAN), "-j", str(folder / "jmeter.log")]
        line += [f"-Jsocket={path}", f"-Jusers={users}"]
        line += [f"-Jcpus={','.join(machine_cpu.counted())}"]
        running = process.start(
            process.bound_to_us(line, cores),
            folder / "jmeter.out",
            {"JMETER_JVM_ARGS": JVM_ARGUMENTS},
        )
        try:
            with closing(_connected(listener, running, folder / "jmeter.out")) as connection:
                yield Generator(running, connection, folder, users)
        finally:
            process.stop(running, signal.SIGKILL)
            path.unlink(missing_ok=True)


def _connected(
    listener: socket.socket, running: subprocess.Popen[bytes], log: Path
) -> socket.socket:
    listener.settimeout(LOOK_S)
    ends = time.monotonic() + START_TIMEOUT_S
    while running.poll() is None and time.monotonic() < ends:
        with suppress(TimeoutError):
            return listener.accept()[0]
    how = "did not connect" if running.poll() is None else "ended"
    raise EnvironmentProblem(f"JMeter {how}; its output ends:\n{process.tail(log)}")


def _sent(reply: Sequence[str], records: Path) -> LoadResult:
    if reply[0] != "done":
        raise EnvironmentProblem(f"the load generator reports: {' '.join(reply)}")
    begun, opened, closed = (Mark(*map(int, reply[at : at + 6])) for at in (1, 7, 13))
    found = np.fromfile(records, dtype=RECORD)
    return LoadResult(begun, opened, closed, tuple(reply[19].split(",")), reply[20], found)
