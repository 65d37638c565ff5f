"""What the services promise to stay under, as their READMEs compute it from their settings."""

from __future__ import annotations

from dataclasses import dataclass

from restbench_robustness.overload.mix import largest_body_bytes
from restbench_robustness.overload.tree import Tree
from restbench_robustness.overload.under_test import UnderTest

MB = 10**6
MIB = 1 << 20
KIB = 1 << 10
#: Class data, compiled code, the collector's own tables: what a JVM takes beside heap and stacks.
JVM_FIXED_BYTES = 256 * MIB
#: What a thread's stack has touched.
JVM_STACK_BYTES = 64 * KIB
#: Files that a runtime opens for good: libraries, logs, sockets between its processes.
OTHER_FILES = 200


@dataclass(frozen=True)
class Bounds:
    """The most a service may take; memory with as many threads as were seen."""

    memory_bytes: float
    threads: int
    files: int
    processes: int


def stated(under: UnderTest, idle: Tree, threads: int) -> Bounds:
    """The bounds of a service that was seen idle, and with so many `threads` under load."""
    memory = {"java": _java_bytes, "python": _python_bytes}[under.name]
    return Bounds(
        memory_bytes=memory(under, threads),
        threads=idle.threads + _threads(under),
        files=under.limit("maxConnections") + 256 + OTHER_FILES,
        processes=idle.processes,
    )


def _threads(under: UnderTest) -> int:
    """One a request in flight, 32 to spare; in Java those of loops as well."""
    requests = under.limit("maxInFlight") + 32
    loops = under.limit("maxThreads") + under.limit("maxInFlight") if under.name == "java" else 0
    return requests + loops + len(under.health["cores"])


def _java_bytes(under: UnderTest, threads: int) -> float:
    heap = max(under.metric("jvm_memory_max_bytes", 'area="heap"'))
    return heap + JVM_FIXED_BYTES + JVM_STACK_BYTES * threads


def _python_bytes(under: UnderTest, threads: int) -> float:
    """The web process and both pools; `running` is 1 under strategies that have no pool."""
    body = largest_body_bytes()
    running, processes = under.health["settings"]["running"] or 1, under.limit("processes")
    web = 150 * MB + 0.1 * MB * threads + 1.25 * under.limit("memoryBudgetBytes")
    requests, elements = 70 * MB + 70 * body, 70 * MB + 16 * body
    return web + 2 * running * 70 * body + processes * (requests + elements)
