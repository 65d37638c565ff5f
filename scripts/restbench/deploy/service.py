"""The services under test: started under a placement, awaited, asked, stopped."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from restbench.deploy import fronts, programs
from restbench.experiment.cell import Framework, Front, Link, ServiceName
from restbench.failures import EnvironmentProblem
from restbench.machine import ports, process, watch
from restbench.machine.namespaces import Host
from restbench.observe import connections

READY_TIMEOUT_S = 60.0
#: A service to attach to should be up; the time is for one that is just starting.
ATTACH_TIMEOUT_S = 10.0
REQUEST_TIMEOUT_S = 30.0
#: No limit of connections: by default httpx has at most 100, and the 101st request would wait.
_CONNECTION_LIMITS = httpx.Limits(max_keepalive_connections=20)


def new_client(path: str | None = None) -> httpx.Client:
    """A client for plain HTTP without proxies, with a connection for each thread that warms up or
    checks; over the Unix socket at `path`, if given."""
    way = httpx.HTTPTransport(uds=path, trust_env=False, limits=_CONNECTION_LIMITS)
    return httpx.Client(timeout=REQUEST_TIMEOUT_S, trust_env=False, transport=way)


#: Signals that stop a service: a JVM exits with 128 plus the signal's number then, gunicorn with 0.
_STOPPED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_KILLED = "was killed (SIGKILL): from outside, or by the kernel for lack of memory"
_HOW_ENDED = {
    0: "was stopped from outside (it shut down normally, with exit code 0)",
    -signal.SIGKILL: _KILLED,
    128 + signal.SIGKILL: _KILLED,
    **{-each: f"was stopped from outside ({each.name})" for each in _STOPPED},
    **{128 + each: f"was stopped from outside ({each.name})" for each in _STOPPED},
}
#: How long a service that no longer answers may take to end.
ENDING_S = 2.0
#: Connections opened at once for each worker, so that every worker accepts at least one.
CONNECTIONS_A_WORKER = 8


def _exit_code(ended: subprocess.Popen[bytes]) -> int | None:
    """The exit code; None where the process still runs after ENDING_S."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return ended.wait(ENDING_S)
    return None


@dataclass
class Service(contextlib.AbstractContextManager["Service"]):
    """A reachable service. `processes` is empty for one that was only attached to."""

    name: ServiceName
    base_url: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    command: str = ""
    log: Path | None = None
    client: httpx.Client = field(default_factory=new_client)
    """Kept as long as the service: a new one costs tens of milliseconds of CPU time."""
    instances: tuple[Service, ...] = ()
    """The instances, each at an address of its own, if there are several; else empty."""
    front_folder: Path | None = None
    """The folder that belongs to the front alone; the last process is the front's then."""

    def __exit__(self, *_raised: object) -> None:
        """Stop the service when the context ends."""
        self.stop()

    def each(self) -> tuple[Service, ...]:
        """The instances; the service itself where there is only one."""
        return self.instances or (self,)

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

    def front_pids(self) -> tuple[int, ...]:
        """The processes of the front, which is started last; empty without a front."""
        fronts_own = self.processes[len(self.each()) :]
        return tuple(pid for each in fronts_own for pid in process.tree(each.pid))

    def alive(self) -> bool:
        """Whether none of its processes has ended."""
        return all(each.poll() is None for each in self.processes)

    def serves(self) -> bool:
        """Whether the service answers: `alive` is still true for a process that is just dying."""
        try:
            self.health()
        except EnvironmentProblem:
            return False
        return self.alive()

    def ending(self) -> str:
        """How a service that no longer answers has ended, in words for a message. A signal means
        that others stopped it: it did not fail at what it was doing."""
        if self.attached:
            return (
                f"the {self.name} service at {self.base_url}, which is attached, does not "
                "answer: it was stopped, or cannot be reached"
            )
        if ended := next((each for each in self.instances if not each.alive()), None):
            return ended.ending()
        codes = (_exit_code(each) for each in self.processes)
        code = next((each for each in codes if each is not None), None)
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
        headers = {"Content-Type": "application/json"}
        return self.client.post(self.base_url + path, content=body, headers=headers)

    def strategies(self) -> list[str]:
        """The names that the service itself offers."""
        report = self._report("/strategies", "strategies")
        return [entry["name"] for entry in report["strategies"]]

    def health(self) -> dict[str, Any]:
        """Version, runtime, cores and settings as the service reports them."""
        return self._report("/health", "service")

    def _report(self, path: str, member: str) -> dict[str, Any]:
        """The JSON object of a route. EnvironmentProblem when it lacks `member`: at an address that
        was given to us, any program may listen.
        """
        answer = self.get(path)
        with contextlib.suppress(ValueError):
            report = answer.json()
            is_one = isinstance(report, dict) and member in report
            if is_one and answer.status_code == httpx.codes.OK:
                return dict(report)
        raise EnvironmentProblem(
            f"{self.base_url}{path} is not a {self.name} service of restbench: "
            f"{answer.status_code} {answer.text[:100]!r}"
        )

    def stop(self, first: signal.Signals = signal.SIGTERM) -> None:
        """End every process, the front server first; none is left behind.

        `first` is SIGKILL where requests are in flight whose answers nobody needs any more.
        """
        for each in (self, *self.instances):
            each.client.close()
        for running in reversed(self.processes):
            process.stop(running, first)


def start(  # noqa: PLR0913 - the last nine are given by name
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
    host: Host | None = None,
    instances: Sequence[str | None] = (),
    link: Link = "tcp",
) -> Service:
    """Start a service (and its front server) and wait until it is ready.

    `cores` are as `taskset -c` takes them; logs go to `folder`; `command` is that of the service
    of another checkout, if given; `settings` are further variables of the environment. `port` and
    `framework` are by default those of JAVA_PORT and JAVA_FRAMEWORK, or PYTHON_PORT and
    PYTHON_FRAMEWORK. With `protected` the front reads a request completely before it forwards it.
    On another `host` there is no front. `instances` has the cores of each of several instances; the
    front balances among them, and reaches them over `link`. Without a front each has an address of
    its own, and the first is the service's.
    EnvironmentProblem, with the fix, when a port is taken or the service does not come up; no
    process is left then.
    """
    port = ports.free_port_of(name) if port is None else port
    own = settings or programs.NO_SETTINGS
    address = host.address if host else ports.HOST
    sockets = _socket_folder() if link == "unix" else None

    def bound(command: list[str], cores: str | None) -> list[str]:
        there = host.inside(command) if host else command
        return there if outlives_us else process.bound_to_us(there, cores)

    places: list[str] = []
    started: list[Service] = []
    try:
        for number, its_cores in enumerate(instances or (cores,), start=1):
            own_port = port if front == "none" and number == 1 else ports.free()
            path = f"{sockets}/{number}" if sockets else None
            place = f"unix:{path}" if path else address
            environment = _environment(name, place, own_port, framework) | dict(own)
            line = bound(list(command) if command else programs.COMMANDS[name](own), its_cores)
            log = folder / (f"service-{number}.log" if instances else "service.log")
            running = process.start(line, log, environment, outlives_us=outlives_us)
            variables = (f"{key}={value}" for key, value in environment.items())
            shown = shlex.join([*variables, *line])
            url = "http://localhost" if path else f"http://{address}:{own_port}"
            places.append(place if path else f"{address}:{own_port}")
            started.append(Service(name, url, [running], shown, log, new_client(path)))
        for each in started:
            await_ready(each)
            if host is None:
                await_workers(each, int(own.get("RESTBENCH_WORKERS", 1)))
        service = _balanced(started) if instances else started[0]
        started = [service]  # it has the processes of all
        if front != "none":
            behind = fronts.Place(port, places, folder, protected, own)
            line = bound(fronts.FRONTS[front](behind), cores)
            user = fronts.user_of(front)
            log = folder / f"{front}.log"
            service.processes.append(process.start(line, log, outlives_us=outlives_us, user=user))
            service.front_folder = fronts.own_folder(front, behind)
            if not outlives_us:
                watch.at_end("remove", service.front_folder)
            service.base_url = f"http://{ports.HOST}:{port}"
            if not instances:
                service.client.close()
                service.client = new_client()
            service.command += " && " + shlex.join(line)
            await_ready(service)
    except BaseException:
        for each in started:
            each.stop()
        raise
    return service


def _socket_folder() -> Path:
    """A new folder for sockets, of a short path, which the user nobody may pass through."""
    place = fronts.ROOTS_FOLDER if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="restbench-", dir=place))
    watch.at_end("remove", folder)
    folder.chmod(0o711)
    return folder


def _balanced(instances: Sequence[Service]) -> Service:
    return Service(
        instances[0].name,
        instances[0].base_url,
        [running for each in instances for running in each.processes],
        " & ".join(each.command for each in instances),
        instances[0].log,
        instances=tuple(instances),
    )


def _environment(
    name: ServiceName, address: str, port: int, framework: str | None
) -> dict[str, str]:
    framework = framework or os.environ.get(f"{name.upper()}_FRAMEWORK")
    chosen = {"RESTBENCH_FRAMEWORK": framework} if framework else {}
    if "RESTBENCH_STOP_TIMEOUT_SECONDS" not in os.environ:
        # Else a request that never arrives completely keeps the service from ending, until it is
        # killed with its pools still running.
        chosen["RESTBENCH_STOP_TIMEOUT_SECONDS"] = f"{process.STOP_TIMEOUT_S - 5:.0f}"
    return {"RESTBENCH_HOST": address, "RESTBENCH_PORT": str(port), **chosen}


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
    """Poll /health until it answers 200, by default for READY_TIMEOUT_S. EnvironmentProblem where
    the service does not come up, or another process has taken its port."""
    timeout_s = READY_TIMEOUT_S if timeout_s is None else timeout_s
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if not service.alive():
            break
        with contextlib.suppress(httpx.HTTPError):
            answer = service.client.get(f"{service.base_url}/health", timeout=2.0)
            if answer.status_code == httpx.codes.OK and not _others_listen(service):
                return
        time.sleep(0.1)
    if _others_listen(service):
        port = service.address[1]
        raise EnvironmentProblem(
            f"another process answers at {service.base_url}: the port was taken"
            f"{ports.owner(port)} before the {service.name} service could use it; end that "
            f"process, or set another port in {ports.PORT_VARIABLES[service.name]}"
        )
    shown = f"; its log ends:\n{process.tail(service.log)}" if service.log else ""
    how = f"did not come up within {timeout_s:.0f} s" if service.alive() else "ended at once"
    raise EnvironmentProblem(f"the {service.name} service at {service.base_url} {how}{shown}")


def await_workers(service: Service, count: int, timeout_s: float = READY_TIMEOUT_S) -> None:
    """Return when each of several workers has answered: else the first one that is up would get all
    the load. A worker keeps the connections that it accepts, so many are opened, until every worker
    has one. EnvironmentProblem where that takes longer than `timeout_s`."""
    deadline, busy = time.monotonic() + timeout_s, 1
    while busy < count:
        if time.monotonic() > deadline or not service.alive():
            raise EnvironmentProblem(
                f"the {service.name} service at {service.base_url}: {busy} of {count} workers "
                f"answer after {timeout_s:.0f} s"
            )
        time.sleep(0.1)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            clients = [
                stack.enter_context(socket.create_connection(service.address, REQUEST_TIMEOUT_S))
                for _ in range(CONNECTIONS_A_WORKER * count)
            ]
            for each in clients:
                each.sendall(b"GET /health HTTP/1.1\r\nHost: restbench\r\n\r\n")
            if b"" not in {each.recv(1) for each in clients}:
                busy = len(connections.counts(service.address[1], service.pids(), os.getpid()))


def _others_listen(service: Service) -> bool:
    """Whether processes are known to listen on the service's port, and none of them is its own.
    False for a service that others run, or that runs on another host."""
    host, port = service.address
    if service.attached or host != ports.HOST:
        return False
    found = ports.listeners(port)
    return bool(found) and found.isdisjoint(service.pids())
