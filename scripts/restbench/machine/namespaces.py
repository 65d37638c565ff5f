"""Several hosts on one machine: network namespaces on one bridge, each with an address of its own.

The bridge has a namespace of its own, so the machine's firewall and routes see only one interface,
which connects the harness to the network. Network and names are derived from the mark of the
harness (`watch`): two harnesses do not collide, nor does one with a harness that has just ended,
whose namespaces the kernel removes a moment later. The guardian removes everything when the harness
is gone; the next run removes what a killed guardian has left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from restbench.failures import EnvironmentProblem
from restbench.machine import guardian, process, watch

PREFIX = "rb-"
NEEDS_ROOT = "hosts=namespaces needs root: run it with sudo, or as root"
#: Number of networks of 254 addresses in 198.18.0.0/15, which RFC 2544 reserves for benchmarks.
NETWORKS = 512
SWITCH = "switch"
#: Most packets that wait at a host while they are delayed; by default the 1001st would be lost.
WAITING_PACKETS = "100000"


@dataclass(frozen=True)
class Host:
    """A network namespace in which processes run, and its address."""

    namespace: str
    address: str

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command line that runs the command on this host."""
        return ["ip", "netns", "exec", self.namespace, *command]


def require() -> None:
    """EnvironmentProblem where namespaces cannot be made here."""
    if shutil.which("ip") is None:
        raise EnvironmentProblem("ip is missing: apt-get install iproute2")
    if os.geteuid() != 0:
        raise EnvironmentProblem(NEEDS_ROOT)


@contextmanager
def made(names: Sequence[str]) -> Iterator[dict[str, Host]]:
    """A host for each name, connected to each other and to the harness until the context ends.

    EnvironmentProblem where the kernel refuses one.
    """
    require()
    end_leftovers()
    mark = watch.mark()
    network = _network(mark)
    hosts = {
        name: Host(f"{PREFIX}{mark}-{name}", f"{network}.{number}")
        for number, name in enumerate(names, start=2)
    }
    switch = f"{PREFIX}{mark}-{SWITCH}"
    try:
        _make(switch, hosts, _link(mark), f"{network}.1/24")
        yield hosts
    finally:
        # Explicitly: with its namespace the kernel would remove it only a moment later.
        guardian.remove_network("link", _link(mark))
        for namespace in [*(each.namespace for each in hosts.values()), switch]:
            guardian.remove_network("netns", namespace)


@contextmanager
def delayed(hosts: Iterable[Host], milliseconds: int) -> Iterator[None]:
    """Delay what these hosts send while the context lasts. EnvironmentProblem without netem."""
    with ExitStack() as stack:
        for each in hosts:
            of, to = ("tc", "-n", each.namespace, "qdisc"), ("dev", "eth0", "root")
            _run(*of, "add", *to, "netem", "delay", f"{milliseconds}ms", "limit", WAITING_PACKETS)
            stack.callback(_run, *of, "delete", *to)
        yield


def can_delay(host: Host) -> bool:
    """Whether the kernel has netem, by trying it."""
    try:
        with delayed([host], 1):
            return True
    except EnvironmentProblem:
        return False


def has_netem() -> bool | None:
    """The same, in a temporary namespace; None where none can be made."""
    try:
        with made(["tried"]) as hosts:
            return can_delay(hosts["tried"])
    except EnvironmentProblem:
        return None


def end_leftovers() -> None:
    """Remove the namespaces and links of harnesses that are gone."""
    for line in process.output(["ip", "netns", "list"]).splitlines():
        namespace = line.split()[0]
        # A host's name may have hyphens of its own; a mark has four parts.
        mark = "-".join(namespace.removeprefix(PREFIX).split("-")[:4])
        if namespace.startswith(PREFIX) and watch.is_over(mark):
            guardian.remove_network("link", _link(mark))
            guardian.remove_network("netns", namespace)


def _network(mark: str) -> str:
    number = zlib.crc32(mark.encode()) % NETWORKS
    return f"198.{18 + number // 256}.{number % 256}"


def _link(mark: str) -> str:
    """The name of a harness's own interface, in the machine's namespace; at most 15 characters."""
    return f"{PREFIX}{zlib.crc32(mark.encode()):08x}"


def _make(switch: str, hosts: dict[str, Host], link: str, address: str) -> None:
    watch.at_end("link", link)
    for namespace in [switch, *(each.namespace for each in hosts.values())]:
        watch.at_end("netns", namespace)
        _ip("netns", "add", namespace)
        _ip("-n", namespace, "link", "set", "lo", "up")
    _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
    _ip("-n", switch, "link", "set", "bridge", "up")
    _ip("link", "add", link, "type", "veth", "peer", "name", "port-1", "netns", switch)
    _ip("addr", "add", address, "dev", link)
    _ip("link", "set", link, "up")
    _ip("-n", switch, "link", "set", "port-1", "master", "bridge", "up")
    for number, host in enumerate(hosts.values(), start=2):
        port, there = f"port-{number}", ("-n", host.namespace)
        _ip("-n", switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
            host.namespace)  # fmt: skip
        _ip("-n", switch, "link", "set", port, "master", "bridge", "up")
        _ip(*there, "addr", "add", f"{host.address}/24", "dev", "eth0")
        _ip(*there, "link", "set", "eth0", "up")


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    """Run `ip` or `tc`, which are in one package. EnvironmentProblem where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentProblem(f"{' '.join(command)}: {done.stderr.strip()}")
