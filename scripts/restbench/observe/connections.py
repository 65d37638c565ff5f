"""TCP connections as the kernel sees them: how many a process has, how many are in TIME-WAIT."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from restbench.failures import EnvironmentProblem
from restbench.machine import clock

#: A port leaves TIME-WAIT within half of this.
LONGEST_WAIT_S = 120.0
#: A port stays in TIME-WAIT for a minute after its connection's end; there are 28 000 ports.
MOST_WAITING = 20_000


def counts(port: int, pids: Iterable[int], client: int) -> list[int]:
    """How many connections from a client's process to a local port each of `pids` has, the most
    first; processes without a connection are left out."""
    ends = [
        (each.pid, each.laddr.port, each.raddr.port)
        for each in psutil.net_connections("tcp")
        if each.status == psutil.CONN_ESTABLISHED and each.laddr and each.raddr
    ]
    ports = {own for pid, own, other in ends if pid == client and other == port}
    held = Counter(pid for pid, own, other in ends if own == port and other in ports)
    return sorted(filter(None, (held[pid] for pid in pids)), reverse=True)


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
    if _waiting() <= MOST_WAITING:
        return False
    if not clock.wait_until(lambda: _waiting() <= MOST_WAITING, longest_s, pause_s):
        raise EnvironmentProblem(
            f"{_waiting()} ports are still in TIME-WAIT after {longest_s:g} s, at most "
            f"{MOST_WAITING} may be: another program opens connections all the time; end it"
        )
    return True


def _waiting() -> int:
    text = Path("/proc/net/sockstat").read_text(encoding="ascii")
    found = re.search(r"^TCP:.* tw (\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0
