"""Servers that do the same work: the practical limit (one thread, no framework), and a service with
the kernel `native` under `serial`; both on one core."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from restbench import ROOT
from restbench.deploy import programs, service
from restbench.drive.payload import Payload
from restbench.experiment.cell import FRAMEWORKS, Framework, ServiceName
from restbench.failures import CellsFailed, EnvironmentProblem, WrongAnswers
from restbench.machine import ports, process

LIMIT = "limit"
SOURCE = ROOT / "scripts" / "tools" / "limit" / "limit.cpp"
#: So often a server that is not there yet is asked again: after half a second, then twice as long.
RETRIES = 5
REQUEST_ID = 2019


@dataclass(frozen=True)
class Server:
    """Something that answers matrix requests, on a core of its own."""

    name: str
    url: str
    """Where the request goes, strategy and kernel included."""
    running: subprocess.Popen[bytes]

    def pids(self) -> tuple[int, ...]:
        """All its processes."""
        return process.tree(self.running.pid)


def compiled(source: Path, folder: Path) -> Path:
    """The program of a C++ source, in the folder. EnvironmentProblem where it cannot be had."""
    program = folder / source.stem
    command = ["g++", "-O3", "-march=native", "-std=c++17", "-o", str(program), str(source)]
    if shutil.which("g++") is None:
        raise EnvironmentProblem("g++ is missing: apt-get install g++")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if " error: " in line]
        raise EnvironmentProblem(f"{source} does not compile: {[*errors, done.stderr][0]}")
    return program


@contextmanager
def limit(program: Path, core: int, folder: Path) -> Iterator[Server]:
    """The limit, on one core."""
    port = ports.free()
    command = process.bound_to_us([str(program), str(port)], str(core))
    running = process.start(command, folder / "limit.log")
    try:
        yield Server(LIMIT, f"http://{ports.HOST}:{port}/", running)
    finally:
        process.stop(running)


@contextmanager
def pair(program: Path, framework: str, core: int, folder: Path) -> Iterator[tuple[Server, Server]]:
    """The limit and a fresh service on one core; who is not asked sleeps. `framework` is a name,
    with its handoff where it is asynchronous: `rsgi/loop`."""
    name, wanted, handoff = _parts(framework)
    chosen: dict[str, str] = {"RESTBENCH_FRAMEWORK": wanted}
    if handoff:
        chosen["RESTBENCH_HANDOFF"] = handoff
    own = folder / wanted
    with (
        limit(program, core, folder) as floor,
        service.start(name, "none", str(core), own, settings=chosen) as started,
    ):
        found = started.health().get("framework")
        if found != wanted:
            raise EnvironmentProblem(f"the {name} service runs in {found}, not in {wanted}")
        url = f"{started.base_url}/matrix/serial?kernel=native"
        yield floor, Server(framework, url, started.processes[0])


def why_unavailable(framework: str) -> str:
    """Why a framework of `pair` cannot run here, with the fix; empty where it can."""
    name, wanted, _ = _parts(framework)
    return programs.why_unavailable(name, wanted)


def _parts(framework: str) -> tuple[ServiceName, Framework, str]:
    """Service, framework and handoff, which may be empty."""
    wanted, _, handoff = framework.partition("/")
    return next(
        (name, each, handoff)
        for name, frameworks in FRAMEWORKS.items()
        for each in frameworks
        if each == wanted
    )


def require_right(server: Server, payload: Payload) -> None:
    """WrongAnswers unless the server's answer is the product, byte for byte. CellsFailed where
    there is no answer."""
    with _client() as client:
        answer = _post(client, server, payload)
    if answer.content != payload.answer(REQUEST_ID):
        raise WrongAnswers(f"{server.name}: answered {answer.text[:80]!r}")


def stages_ms(server: Server, payload: Payload, requests: int) -> dict[str, float]:
    """The medians of what `Server-Timing` tells, one request after the other; empty without it.
    CellsFailed where one of them is not answered."""
    found: dict[str, list[float]] = {}
    with _client() as client:
        for _ in range(requests):
            header = _post(client, server, payload).headers.get("Server-Timing", "")
            for name, value in re.findall(r"(\w+);dur=([0-9.]+)", header):
                found.setdefault(name, []).append(float(value))
    return {name: sorted(values)[len(values) // 2] for name, values in found.items()}


def _client() -> httpx.Client:
    way = httpx.HTTPTransport(trust_env=False, retries=RETRIES)
    return httpx.Client(transport=way, trust_env=False, timeout=service.REQUEST_TIMEOUT_S)


def _post(client: httpx.Client, server: Server, payload: Payload) -> httpx.Response:
    """Its answer. CellsFailed where there is none in time, or one with another status than 200."""
    headers = {"Content-Type": "application/json"}
    try:
        answer = client.post(server.url, content=payload.body(REQUEST_ID), headers=headers)
    except httpx.HTTPError as error:
        raise CellsFailed(f"{server.name}: no answer: {error or type(error).__name__}") from error
    if answer.status_code != httpx.codes.OK:
        raise CellsFailed(f"{server.name}: answered {answer.status_code} {answer.text[:80]!r}")
    return answer
