"""TCP connections as the kernel sees them: how many each process has, and how many are in
TIME-WAIT."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from restbench.failures import EnvironmentProblem

#: A port leaves TIME-WAIT within half of this.
LONGEST_WAIT_S = 120.0
#: A port stays in TIME-WAIT for a minute after its connection's end; there are 28 000 ports.
MOST_WAITING = 20_000
_ESTABLISHED = "01"
_TABLES = [path for path in map(Path, ("/proc/net/tcp", "/proc/net/tcp6")) if path.exists()]


def counts(port: int, pids: Iterable[int], client: int) -> list[int]:
    """How many connections from a client's process to a local port each of `pids` has, the most
    first; processes without a connection are left out."""
    sockets = _sockets(port, client)
    return sorted(filter(None, (len(sockets & _held(pid)) for pid in pids)), reverse=True)


def spread(counts: Sequence[int]) -> dict[str, float]:
    """By name: how many processes have connections (`busy_workers`), and the share of the process
    that has most (`busiest_share`); empty without a connection."""
    if not counts:
        return {}
    return {"busy_workers": len(counts), "busiest_share": max(counts) / sum(counts)}


def expected_busy(workers: int, connections: int) -> float:
    """The expected number of workers with a connection where each goes to a random worker."""
    return workers * (1 - (1 - 1 / workers) ** connections)


def await_ports(pause_s: float = 0.5, longest_s: float = LONGEST_WAIT_S) -> bool:
    """Wait until at most MOST_WAITING ports are in TIME-WAIT; returns whether that took a wait.
    EnvironmentProblem where it would take longer than `longest_s`."""
    waited, end_s = False, time.monotonic() + longest_s
    while (waiting := _waiting()) > MOST_WAITING:
        if time.monotonic() > end_s:
            raise EnvironmentProblem(
                f"{waiting} ports are still in TIME-WAIT after {longest_s:g} s, at most "
                f"{MOST_WAITING} may be: another program opens connections all the time; end it"
            )
        waited = True
        time.sleep(pause_s)
    return waited


def _waiting() -> int:
    text = Path("/proc/net/sockstat").read_text(encoding="ascii")
    found = re.search(r"^TCP:.* tw (\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def _sockets(port: int, client: int) -> set[str]:
    """The inodes of the server's sockets of a client's established connections to a port. The
    sockets of a JVM are in the IPv6 table, also for IPv4."""
    end, held = f":{port:04X}", _held(client)
    rows = [
        (fields[1], fields[2], fields[9])
        for table in _TABLES
        for fields in map(str.split, table.read_text(encoding="ascii").splitlines()[1:])
        if fields[3] == _ESTABLISHED
    ]
    ports = {
        local.rpartition(":")[2]
        for local, remote, inode in rows
        if remote.endswith(end) and inode in held
    }
    return {
        inode
        for local, remote, inode in rows
        if local.endswith(end) and remote.rpartition(":")[2] in ports
    }


def _held(pid: int) -> set[str]:
    """The inodes of a process's sockets; empty where the process has ended."""
    found = set()
    with contextlib.suppress(OSError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(str(each.readlink()).removeprefix("socket:[").rstrip("]"))
    return found
