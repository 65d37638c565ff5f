"""wrk, a load generator of very little CPU time: it sends one body, and checks only the status."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from restbench.failures import CellsFailed, EnvironmentProblem
from restbench.machine import process

#: A response that takes longer is an error. wrk's default of 2 s is too short on a busy machine.
PATIENCE = "60s"
#: The Lua script for wrk: it sends a POST with a content type and a file as the body.
SCRIPT = """\
local file = io.open(os.getenv("RESTBENCH_BODY"), "rb")
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
file:close()
"""
_IN_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


@dataclass(frozen=True)
class Load:
    """The result of one load; CPU times are milliseconds per response."""

    requests: int
    per_s: float
    service_ms: float
    generator_ms: float


def require() -> None:
    """EnvironmentProblem where wrk is not installed."""
    if shutil.which("wrk") is None:
        raise EnvironmentProblem("wrk is missing: apt-get install wrk")


@dataclass(frozen=True)
class Client:
    """wrk with one body, which it sends on so many connections."""

    body: Path
    connections: int
    cores: str | None
    """Cores of wrk, as `taskset -c` takes them; None: all."""

    def load(
        self, server: str, url: str, seconds: float, pids: Callable[[], tuple[int, ...]]
    ) -> Load:
        """Send for so many whole seconds; `pids` are the service's processes. CellsFailed, which
        names the `server`, where a request failed."""
        before = process.cpu_ms(pids()), process.children_cpu_ms()
        words = self.output(url, seconds)
        after = process.cpu_ms(pids()), process.children_cpu_ms()
        requests = answered(server, words)
        costs_ms = ((b - a) / requests for a, b in zip(before, after, strict=True))
        return Load(requests, requests / seconds_of(server, words), *costs_ms)

    def output(self, url: str, seconds: float) -> str:
        """wrk's output for so many whole seconds, at least one. Its script is next to the body."""
        script = self.body.with_name("post.lua")
        script.write_text(SCRIPT, encoding="utf-8")
        command = ["wrk", "-t1", f"-c{self.connections}", "-d", f"{max(1, round(seconds))}s"]
        command += ["-s", str(script), "--timeout", PATIENCE, url]
        line = process.bound_to_us(command, self.cores)
        return process.output(line, {**os.environ, "RESTBENCH_BODY": str(self.body)})


def answered(server: str, words: str) -> int:
    """The number of requests in wrk's output. CellsFailed where it reports errors."""
    wrong = re.search(r"Non-2xx.*|Socket errors.*", words)
    found = re.search(r"(\d+) requests in", words)
    if wrong or not found or not int(found[1]):
        raise CellsFailed(f"{server}: {wrong[0] if wrong else words.strip()[:200]}")
    return int(found[1])


def seconds_of(server: str, words: str, what: str = "requests in") -> float:
    """The time, in seconds, after the words `what` in wrk's output, such as `99 requests in 1.01s`
    or `Latency   635.91us`. CellsFailed where there is none."""
    found = re.search(rf"{what}\s+([\d.]+)(us|ms|s|m)\b", words)
    if not found:
        raise CellsFailed(f"{server}: wrk reports no {what}: {words.strip()[:200]}")
    return float(found[1]) * _IN_SECONDS[found[2]]
