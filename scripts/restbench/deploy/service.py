"""The services under test: started under a placement, awaited, asked, stopped."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from restbench.deploy import fronts, programs
from restbench.experiment.cell import Framework, Front, ServiceName
from restbench.failures import EnvironmentProblem
from restbench.machine import ports, process, watch

READY_TIMEOUT_S = 60.0
#: A service to attach to is there already; this long is for one that is just starting.
ATTACH_TIMEOUT_S = 10.0
REQUEST_TIMEOUT_S = 30.0


def new_client() -> httpx.Client:
    """Plain HTTP without proxies, with room for every thread that warms up or proves."""
    return httpx.Client(timeout=REQUEST_TIMEOUT_S, trust_env=False)


#: By the exit code: a JVM says 128 and the number of the signal, gunicorn ends in order.
_STOPPED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_KILLED = "was killed (SIGKILL): from outside, or by the kernel for lack of memory"
_HOW_ENDED = {
    0: "was stopped from outside (it ended in order, with exit code 0)",
    -signal.SIGKILL: _KILLED,
    128 + signal.SIGKILL: _KILLED,
    **{-each: f"was stopped from outside ({each.name})" for each in _STOPPED},
    **{128 + each: f"was stopped from outside ({each.name})" for each in _STOPPED},
}
#: One that no longer answers may take so long to be gone.
ENDING_S = 2.0


def _exit_code(ended: subprocess.Popen[bytes]) -> int | None:
    """None where it still runs."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return ended.wait(ENDING_S)
    return None


@dataclass
class Service:
    """A reachable service. `processes` is empty for one that was only attached to."""

    name: ServiceName
    base_url: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    command: str = ""
    log: Path | None = None
    client: httpx.Client = field(default_factory=new_client)
    """Kept for the service's life: a new one costs tens of milliseconds of CPU each time."""

    @property
    def attached(self) -> bool:
        """Whether somebody else runs it: its processes cannot be looked at from here."""
        return not self.processes

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, as the load generator needs them."""
        url = httpx.URL(self.base_url)
        return url.host, url.port or 80

    def pids(self) -> tuple[int, ...]:
        """Every process of the service now: workers and front server included."""
        return tuple(sorted({pid for each in self.processes for pid in process.tree(each.pid)}))

    def alive(self) -> bool:
        """Whether none of its processes has ended."""
        return all(each.poll() is None for each in self.processes)

    def serves(self) -> bool:
        """Whether it still answers: a process that is just dying is alive for a moment more."""
        try:
            self.health()
        except EnvironmentProblem:
            return False
        return self.alive()

    def ending(self) -> str:
        """How one that serves no more has ended, for people. What a signal ends was stopped by
        others, and has not died of what it was just doing."""
        if self.attached:
            return (
                f"the {self.name} service at {self.base_url}, which others run, does not answer: "
                "it was stopped, or cannot be reached"
            )
        code = next(
            (found for each in self.processes if (found := _exit_code(each)) is not None), None
        )
        how = "does not answer any more" if code is None else _HOW_ENDED.get(code)
        if how is None:
            how = f"died with exit code {code}"
            if self.log:
                how += f"; its log ends:\n{process.tail(self.log, 5)}"
        return f"the {self.name} service {how}"

    def get(self, path: str) -> httpx.Response:
        """GET a route; EnvironmentProblem when the service does not answer."""
        try:
            return self.client.get(self.base_url + path)
        except httpx.HTTPError as error:
            raise EnvironmentProblem(f"{self.name} service at {self.base_url}: {error}") from error

    def post(self, path: str, body: bytes) -> httpx.Response:
        """POST one request to a route of a workload, its parameters included."""
        return self.client.post(
            self.base_url + path,
            content=body,
            headers={"Content-Type": "application/json"},
        )

    def strategies(self) -> list[str]:
        """The names that the service itself offers."""
        report = self._report("/strategies", "strategies")
        return [entry["name"] for entry in report["strategies"]]

    def health(self) -> dict[str, Any]:
        """Version, runtime, cores and settings as the service tells them."""
        return self._report("/health", "service")

    def _report(self, path: str, member: str) -> dict[str, Any]:
        """The JSON object of a route; EnvironmentProblem when it lacks the member it is known by.

        Whatever listens at an address that was only given to us may answer.
        """
        answer = self.get(path)
        with contextlib.suppress(ValueError):
            report = answer.json()
            if (
                answer.status_code == httpx.codes.OK
                and isinstance(report, dict)
                and member in report
            ):
                return report
        raise EnvironmentProblem(
            f"{self.base_url}{path} is no {self.name} service of restbench: "
            f"{answer.status_code} {answer.text[:100]!r}"
        )

    def stop(self, first: signal.Signals = signal.SIGTERM) -> None:
        """End every process, front server first; nothing is left behind.

        `first` is SIGKILL where requests are in flight that nobody waits for any more.
        """
        self.client.close()
        for each in reversed(self.processes):
            process.stop(each, first)


def start(  # noqa: PLR0913 - the last six are given by name
    name: ServiceName,
    front: Front,
    cores: str | None,
    folder: Path,
    *,
    outlives_us: bool = False,
    protected: bool = False,
    command: Sequence[str] | None = None,
    settings: Mapping[str, str] | None = None,
    port: int | None = None,
    framework: Framework | None = None,
) -> Service:
    """Start a service (and its front server) and wait until it is ready.

    `cores` as `taskset -c` takes them; logs go to `folder`; `command` is another checkout's, where
    its service is wanted; `settings` are further variables of its environment. `port` is the
    service's own where it is given, else that of JAVA_PORT or PYTHON_PORT; `framework` is that of
    JAVA_FRAMEWORK or PYTHON_FRAMEWORK. A front that protects reads requests whole before it hands
    them on.
    EnvironmentProblem, with the mend, when a port is taken or the service does not come up; no
    process is left then.
    """
    if port is None:
        port = ports.port(name)
        ports.require_free(port, ports.PORT_VARIABLES[name])
    own_port = port if front == "none" else ports.free()
    own = settings or programs.NO_SETTINGS
    environment = _environment(name, own_port, framework) | dict(own)

    def bound(command: list[str]) -> list[str]:
        return command if outlives_us else process.bound_to_us(command, cores)

    line = bound(list(command) if command else programs.COMMANDS[name](own))
    service = Service(
        name=name,
        base_url=f"http://{ports.HOST}:{own_port}",
        log=folder / "service.log",
        processes=[
            process.start(line, folder / "service.log", environment, outlives_us=outlives_us)
        ],
        command=shlex.join([*(f"{key}={value}" for key, value in environment.items()), *line]),
    )
    try:
        await_ready(service)
        if front != "none":
            place = fronts.Place(port, own_port, folder, protected)
            line = bound(fronts.FRONTS[front](place))
            log = folder / f"{front}.log"
            user = fronts.user_of(front)
            service.processes.append(process.start(line, log, outlives_us=outlives_us, user=user))
            if not outlives_us:
                watch.remove(fronts.nginx_folder(place))
            service.base_url = f"http://{ports.HOST}:{port}"
            service.command += " && " + shlex.join(line)
            await_ready(service)
    except BaseException:
        service.stop()
        raise
    return service


def _environment(name: ServiceName, port: int, framework: str | None) -> dict[str, str]:
    framework = framework or os.environ.get(f"{name.upper()}_FRAMEWORK")
    chosen = {"RESTBENCH_FRAMEWORK": framework} if framework else {}
    return {"RESTBENCH_HOST": ports.HOST, "RESTBENCH_PORT": str(port), **chosen}


def attach(name: ServiceName, base_url: str) -> Service:
    """A service that somebody else runs, for example in a container."""
    service = Service(name=name, base_url=base_url.rstrip("/"), command=f"(attached) {base_url}")
    try:
        await_ready(service, ATTACH_TIMEOUT_S)
        found = service.health()["service"]
        if found != name:
            raise EnvironmentProblem(f"{base_url} is the {found} service, not the {name} service")
    except BaseException:
        service.stop()
        raise
    return service


def await_ready(service: Service, timeout_s: float | None = None) -> None:
    """Poll /health until it answers 200, by default for READY_TIMEOUT_S."""
    timeout_s = READY_TIMEOUT_S if timeout_s is None else timeout_s
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if not service.alive():
            break
        with contextlib.suppress(httpx.HTTPError):
            if (
                service.client.get(f"{service.base_url}/health", timeout=2.0).status_code
                == httpx.codes.OK
            ):
                return
        time.sleep(0.1)
    shown = f"; its log ends:\n{process.tail(service.log)}" if service.log else ""
    how = f"did not come up within {timeout_s:.0f} s" if service.alive() else "ended at once"
    raise EnvironmentProblem(f"the {service.name} service at {service.base_url} {how}{shown}")
