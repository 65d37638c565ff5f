"""JMeter's remote engines as a load generator: users on several hosts, one controller.

Each load is a JMeter run of its own: the controller sends `closed-load.jmx` to the engines, each of
which runs its share of the users, and writes the merged JTL. The JTL gives the same records as the
generator of interleaved trials does, but with times in whole milliseconds. RMI is not encrypted:
engines belong in a network of their own.
"""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import numpy.typing as npt

from restbench.drive import engine_clocks, generator, jtl_file, relay
from restbench.drive.generator import CORRECT, ERROR, RECORD, STAGES, WRONG, LoadResult, Mark
from restbench.drive.payload import BODY_REST
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.grouping import grouped
from restbench.machine import machine_cpu, ports, process
from restbench.machine.alongside import alongside
from restbench.machine.namespaces import Host

PLAN = generator.PLANS / "closed-load.jmx"
PORT = 1099
#: Port of an engine's exported RMI objects; by default it would be a random one.
OBJECTS_PORT = 4000
CONTROLLER_PORT = 4100
START_TIMEOUT_S = 60.0
#: Shorter: engines that others run should be up already.
ATTACH_TIMEOUT_S = 10.0
#: Time of a controller in addition to its load: to reach the engines, and to collect their samples.
CONTROL_TIMEOUT_S = 90.0
#: Engines start one after the other, all of them within this time.
STAGGER_S = 2.0
LOOK_S = 0.05
#: At most this many bytes of a request precede the body text of its payload.
ID_BYTES = 64
_RMI = ("-Jserver.rmi.ssl.disable=true",)


@dataclass
class Engines:
    """Running engines, and the means to start a controller; drivers use it as a load generator."""

    addresses: Sequence[str]
    """`host` or `host:port` of each engine."""
    folder: Path
    controller: Host | None = None
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    """The processes that we started, by name (that of the log); none of engines that others run."""
    own_address: str = ""
    """Address at which engines that others run reach the controller: its name may mean loopback."""
    _cells: dict[str, tuple[str, Path]] = field(default_factory=dict)
    _relays: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """0: the users are not in a single process of this machine (Generator)."""
        return 0

    @property
    def samples(self) -> Path:
        """Path of the merged JTL of the last load: the lines of all engines, in no order."""
        return self.folder / "samples.jtl"

    def relayed(self, address: str, delay_ms: int) -> str:
        """An address that leads to `address` (`HOST:PORT`) with this delay in each direction: a
        relay's on the controller's host, which ends with the engines and counts as one of them."""
        if (address, delay_ms) not in self._relays and self.controller:
            host, _, port = address.partition(":")
            own = self.controller.address, ports.free()
            line = self.controller.inside(relay.command(own, (host, int(port)), delay_ms))
            name, here = f"relay-{own[1]}", "{}:{}".format(*own)
            log = self.folder / f"{name}.out"
            self.processes[name] = running = process.start(process.bound_to_us(line), log)
            _reached("relay", here, START_TIMEOUT_S, running, log).close()
            self._relays[address, delay_ms] = here
        return self._relays[address, delay_ms]

    def alive(self) -> bool:
        """Whether none of our processes has ended."""
        return not self._ended()

    def _ended(self) -> list[str]:
        return [name for name, each in self.processes.items() if each.poll() is not None]

    def cell(self, name: str, url: str, payload: Path) -> None:
        """(Generator). Kept for the controllers of later trials."""
        self._cells[name] = url, payload.resolve()

    def trial(  # noqa: PLR0913, PLR0917 - what a trial is made of
        self,
        name: str,
        users: int,
        drop_s: float,
        keep_s: float,
        pids: Sequence[int],
        arrivals: Path | None = None,
    ) -> LoadResult:
        """(Generator). A controller is started for each trial. `drop_s` begins with the first
        request of the engine that starts last."""
        if arrivals is not None:
            raise BadConfiguration("driver 'engines': does not support an open load")
        with _sampling_cpu(pids, [each.pid for each in self.processes.values()]) as looked:
            samples = self._samples(name, users, drop_s + keep_s + STAGGER_S)
        return result_of_jtl(samples, looked, len(self.addresses), drop_s, keep_s)

    def offsets_ms(self) -> dict[str, float]:
        """By how much each engine's clock is ahead of the controller's, by address. Each engine
        sends to the controller for a second. Empty where no cell is known yet."""
        found = {}
        for address in self.addresses if self._cells else ():
            _, payload = next(iter(self._cells.values()))
            with _reached("JMeter engine", address, ATTACH_TIMEOUT_S) as way:
                own = way.getsockname()[0]
            most_bytes = (payload / BODY_REST).stat().st_size + ID_BYTES
            with engine_clocks.listening(own, most_bytes) as heard_ms:
                one = replace(self, addresses=[address], _cells={})
                one.cell("clock", f"http://{own}:{engine_clocks.PORT}/clock/clock", payload)
                found[address] = engine_clocks.offset_ms(
                    jtl_file.read(one._samples("clock", 1, 1.0)), heard_ms
                )
        return found

    def _samples(self, name: str, users: int, seconds: float) -> Path:
        """The merged JTL of a load. EnvironmentProblem where an engine or the controller fails."""
        samples, log = self.samples, self.folder / "controller.out"
        samples.unlink(missing_ok=True)
        line = process.bound_to_us(self._controller(name, users, seconds, samples))
        code = process.finished(line, log, seconds + CONTROL_TIMEOUT_S)
        # Checked first: a controller may only have waited for an engine that has ended.
        for gone in self._ended():
            reported = process.tail(self.folder / f"{gone}.out")
            raise EnvironmentProblem(f"{gone} of the load has ended; its log ends:\n{reported}")
        if code is None:
            raise EnvironmentProblem("JMeter's controller does not end")
        if code or not samples.exists():
            raise EnvironmentProblem(f"JMeter's controller failed:\n{process.tail(log)}")
        return samples

    def _controller(self, name: str, users: int, seconds: float, samples: Path) -> list[str]:
        url, payload = self._cells[name]
        parts = urlsplit(url)
        _, workload, strategy = parts.path.split("/")
        properties = {
            "host": parts.hostname,
            "port": parts.port or 80,
            "workload": workload,
            "strategy": strategy,
            "kernel": parse_qs(parts.query).get("kernel", ["loops"])[0],
            "payload": payload,
            "users": users // len(self.addresses),
            "duration_s": int(-(-seconds // 1)),
            "label": name,
        }
        line = [str(generator.LAUNCHER), "-n", "-t", str(PLAN), "-l", str(samples), *_RMI]
        line += ["-j", str(self.folder / "controller.log"), "-R", ",".join(self.addresses)]
        line += [f"-G{key}={value}" for key, value in properties.items()]
        line += [f"-Jclient.rmi.localport={CONTROLLER_PORT}"]
        if self.controller is None:
            return [*line, f"-Djava.rmi.server.hostname={self.own_address}"]
        line += [f"-Djava.rmi.server.hostname={self.controller.address}"]
        return self.controller.inside(line)


@contextmanager
def started(hosts: Sequence[Host], controller: Host, folder: Path) -> Iterator[Engines]:
    """Engines, one on each host, until the context ends. EnvironmentProblem if one is not up."""
    folder.mkdir(parents=True, exist_ok=True)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for number, host in enumerate(hosts, start=1):
            name = f"engine-{number}"
            line = [str(generator.LAUNCHER), "-s", "-j", str(folder / f"{name}.log"), *_RMI]
            line += [f"-Jserver_port={PORT}", f"-Jserver.rmi.localport={OBJECTS_PORT}"]
            line += [f"-Djava.rmi.server.hostname={host.address}"]
            bound = process.bound_to_us(host.inside(line))
            running[name] = process.start(bound, folder / f"{name}.out")
        addresses = [f"{host.address}:{PORT}" for host in hosts]
        for address, (name, each) in zip(addresses, running.items(), strict=True):
            log = folder / f"{name}.out"
            _reached("JMeter engine", address, START_TIMEOUT_S, each, log).close()
        yield Engines(addresses, folder, controller, running)
    finally:
        for each in running.values():
            process.stop(each)


def attached(addresses: Sequence[str], folder: Path) -> Engines:
    """Engines that others run. EnvironmentProblem where one cannot be reached."""
    folder.mkdir(parents=True, exist_ok=True)
    own_address = ""
    for address in addresses:
        with _reached("JMeter engine", address, ATTACH_TIMEOUT_S) as way:
            own_address = way.getsockname()[0]
    return Engines(addresses, folder, own_address=own_address)


def _reached(
    what: str,
    address: str,
    wait_s: float,
    running: subprocess.Popen[bytes] | None = None,
    log: Path | None = None,
) -> socket.socket:
    """A connection to `address` (`host` or `host:port`), once one can be made within `wait_s`.
    EnvironmentProblem if none can, or if the process `running`, which writes `log`, ends."""
    host, _, port = address.partition(":")
    ends = time.monotonic() + wait_s
    while time.monotonic() < ends and (running is None or running.poll() is None):
        with suppress(OSError):
            return socket.create_connection((host, int(port or PORT)), timeout=1)
        time.sleep(0.1)
    why = f" after {wait_s:.0f} s"
    if log and running and running.poll() is not None:
        why = f": it has ended; its log ends:\n{process.tail(log)}"
    raise EnvironmentProblem(f"no {what} at {host}:{port or PORT}{why}")


@contextmanager
def _sampling_cpu(pids: Sequence[int], generators: Sequence[int]) -> Iterator[list[Mark]]:
    found = [_now(pids, generators)]

    def look(stopped: threading.Event) -> None:
        while not stopped.wait(LOOK_S):
            found.append(_now(pids, generators))
        found.append(_now(pids, generators))

    with alongside(look):
        yield found


def _now(pids: Sequence[int], generators: Sequence[int]) -> Mark:
    used = machine_cpu.used()
    tick_ms = 1000 / process.CLOCK_TICKS_PER_S
    cpu_ms = [process.cpu_ms(tuple(each)) for each in (pids, generators)]
    return Mark(
        time.monotonic_ns(),
        round(1000 * time.time()),
        *map(round, (*cpu_ms, used.busy * tick_ms, used.steal * tick_ms)),
    )


def result_of_jtl(
    samples: Path, looked: Sequence[Mark], engines: int, drop_s: float, keep_s: float
) -> LoadResult:
    """The result of a load from its merged JTL. Users are numbered across all engines.

    EnvironmentProblem where an engine sent nothing, or not all of them sent to the window's end.
    """
    rows = jtl_file.read(samples)
    # A thread is called `host:port-user 1-2`; the host may have a hyphen.
    by_engine = grouped(rows, lambda row: row["threadName"].partition("-user ")[0])
    if len(by_engine) != engines:
        raise EnvironmentProblem(f"{len(by_engine)} of {engines} engines sent requests")
    starts = [[int(row["timeStamp"]) for row in of] for of in by_engine.values()]
    begun_ms, opened_ms = min(map(min, starts)), max(map(min, starts)) + 1000 * drop_s
    closed_ms = opened_ms + 1000 * keep_s
    if closed_ms > min(map(max, starts)):
        raise EnvironmentProblem("engines began too far apart, or one ended early")
    marks = [_mark(looked, begun_ms, at_ms) for at_ms in (begun_ms, opened_ms, closed_ms)]
    first_error = next((_error(row) for row in rows if row["success"] != "true"), "")
    return LoadResult(marks[0], marks[1], marks[2], ("",), first_error, _records(rows, begun_ms))


def _records(rows: Sequence[Mapping[str, str]], begun_ms: int) -> npt.NDArray[Any]:
    records = np.zeros(len(rows), RECORD)
    users = {name: at for at, name in enumerate(sorted({row["threadName"] for row in rows}))}
    for record, row in zip(records, rows, strict=True):
        code = row["responseCode"]
        record["start_us"] = 1000 * (int(row["timeStamp"]) - begun_ms)
        record["elapsed_us"] = 1000 * int(row["elapsed"])
        record["latency_us"] = 1000 * int(row["Latency"])
        record["status"] = int(code) if code.isdigit() else 0
        is_right = row["success"] == "true"
        record["outcome"] = CORRECT if is_right else WRONG if code == "200" else ERROR
        record["user"] = users[row["threadName"]]
        reported = dict(re.findall(r"(\w+);dur=([^,\s]+)", row.get("serverTiming") or ""))
        record["stages_ms"] = [float(reported.get(name, "nan")) for name in STAGES]
    return records


def _error(row: Mapping[str, str]) -> str:
    return f"{row['responseCode']} {row['failureMessage'] or row['responseMessage']}"


def _mark(looked: Sequence[Mark], begun_ms: float, at_ms: float) -> Mark:
    """The CPU times at a moment, interpolated linearly between two samples."""
    _, times, *columns = zip(*map(astuple, looked), strict=True)
    known = (round(float(np.interp(at_ms, times, each))) for each in columns)
    return Mark(round(1e6 * (at_ms - begun_ms)), round(at_ms), *known)
