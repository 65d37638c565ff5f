"""The service in processes of its own on a free port, and how the tests talk to it."""

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from restbench_service.execution.strategies import TECHNIQUES

SERVICE = Path(__file__).parents[1]
STRATEGIES = tuple(TECHNIQUES)
PER_ELEMENT = ("process-per-element", "executor-per-element")
PER_REQUEST = ("process-per-request", "executor-per-request")
PRELOADED = ("restbench_service.coded_workloads",)
KERNELS = ("loops", "native")
JSON = {"Content-Type": "application/json"}
DEADLINE_SECONDS = 400.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(frozen=True)
class LiveService:
    port: int
    process: "subprocess.Popen[bytes]"
    log: Path

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = JSON
    ) -> Answer:
        return request(self.port, method, path, body, headers)

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.request("GET", "/health").body)
        return found

    def worker_pid(self) -> int:
        """gunicorn's one worker, the master's only child."""
        (pid,) = children(self.process.pid)
        return pid

    def used_ticks(self) -> int:
        """CPU time of the service and its pools since they started, in clock ticks."""
        return sum(map(cpu_ticks, [self.process.pid, *everyone_below(self.process.pid)]))

    def has_begun(self) -> bool:
        """It answers, or has ended instead."""
        return self.process.poll() is not None or answers(self.port)

    def pool(self, prefix: str = "") -> dict[str, int]:
        """The pools' processes by name, as PE-1; the fork server stands between."""
        return pool(prefix, self.process.pid)


NAME = re.compile(r"(PE|PR|EE|ER|F1)-[0-9]+")


def pool(prefix: str = "", service: int | None = None) -> dict[str, int]:
    """Processes of a service's pools, or of this one's, by the names that /proc gives them."""
    everyone = everyone_below(service) if service else pool_processes()
    named = {name_of(pid): pid for pid in everyone}
    return {n: pid for n, pid in named.items() if NAME.fullmatch(n) and n.startswith(prefix)}


def pool_processes() -> list[int]:
    """This process's fork server and what it has forked; not the services that were started."""
    below = children(os.getpid())
    servers = [pid for pid in below if "forkserver" in read_proc(Path(f"/proc/{pid}/cmdline"))]
    return servers + [pid for server in servers for pid in everyone_below(server)]


def everyone_below(pid: int) -> list[int]:
    """Children, their children and so on."""
    found, parents = list[int](), [pid]
    while parents:
        parents = [child for parent in parents for child in children(parent)]
        found += parents
    return found


@contextmanager
def running(log: Path, **settings: str) -> Iterator[LiveService]:
    """The service started with these RESTBENCH_ settings, stopped at the end of the with-block."""
    with side_by_side({log: settings}) as (service,):
        yield service


@contextmanager
def side_by_side(wanted: Mapping[Path, Mapping[str, str]]) -> Iterator[list[LiveService]]:
    """A service for each log, by its settings; they come up, and end, at the same time."""
    services = [begin(log, settings) for log, settings in wanted.items()]
    try:
        for service in services:
            wait_until(service.has_begun)
            assert service.process.poll() is None, service.log.read_text()
        yield services
    finally:
        for service in services:
            service.process.terminate()
        for service in services:
            assert service.process.wait(DEADLINE_SECONDS) == 0, service.log.read_text()


def begin(log: Path, settings: Mapping[str, str]) -> LiveService:
    """What is started with these RESTBENCH_ settings and may not answer yet."""
    port = free_port()
    variables = {f"RESTBENCH_{name}": value for name, value in settings.items()}
    return LiveService(port, start({"RESTBENCH_PORT": str(port), **variables}, log), log)


def start(variables: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "restbench_service"],
            cwd=SERVICE,
            env={**os.environ, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def request(
    port: int, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = JSON
) -> Answer:
    """One request on a connection of its own, with these headers, Host and Content-Length only."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


def answers(port: int) -> bool:
    try:
        return request(port, "GET", "/health", headers={}).status == 200
    except OSError:
        return False


_GIVEN = list[socket.socket]()
"""Each has a name that says of a port that a service will listen on it. The harness has the same
names for its own (`lasting` in scripts/restbench/machine/ports.py): its tests run beside these."""


def free_port() -> int:
    """One that nobody listens on, below those that the kernel gives to whoever asks for any: it
    would give such a one to another before the service has come up."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10_000, max(lowest, 30_000))
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            claim = socket.socket(socket.AF_UNIX)
            _GIVEN.append(claim)
            claim.bind(f"\0restbench-port-{port}")
            return port


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """Processes that any thread of this one started."""
    try:
        paths = list(Path(f"/proc/{pid}/task").glob("*/children"))
    except (FileNotFoundError, ProcessLookupError):
        return []  # gone between two looks of the search
    return sorted(int(child) for path in paths for child in read_proc(path).split())


def read_proc(path: Path) -> str:
    """Empty when the process is gone: before the file is opened, or between that and reading."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def name_of(pid: int) -> str:
    return read_proc(Path(f"/proc/{pid}/comm")).strip()


def state_of(pid: int) -> str:
    """R, S, Z, …, or X when the process is gone."""
    text = read_proc(Path(f"/proc/{pid}/stat"))
    return text.rpartition(")")[2].split()[0] if text else "X"


def cpu_ticks(pid: int) -> int:
    """User and system time of all threads of a process, in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
