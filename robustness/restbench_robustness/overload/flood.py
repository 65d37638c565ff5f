"""Overload is bounded: ten times what the service can do, from many connections at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from .exchange import Verdict
from .load import Load, Outcome
from .mix import WORK, draw, overload_mix
from .promises import Findings
from .subject import Subject, seconds_until

TIMES = 10
OFFERED = 0.9
"""Less than the whole is accepted: a schedule on a busy machine ends a moment late."""
MOST_LATE_S = 1.0
"""A client that is late for longer offers a burst, and no rate."""
MOST_PER_S = 2000
"""What a client of one process can send beside a service that uses every core."""
CAPACITY_CONNECTIONS = 8
BACK_WITHIN_S = 5.0
LONG_S = 30.0
"""How long to look for what should have come to pass long ago, to say when it did."""
IN_A_ROW = 20
PRIORITY = -15


@dataclass(frozen=True)
class Force:
    """How hard to press."""

    seconds: float
    connections: int
    capacity_s: float
    """How long to measure what the service can do."""
    seed: int


async def overloaded(subject: Subject, strategy: str, force: Force) -> Findings:
    """Find the capacity, offer ten times that, look whether everything stays bounded."""
    findings = Findings(f"{subject.name} {strategy}: overload")
    await subject.normal(strategy)
    idle = len(subject.names())
    load, work, capacity = await _capacity(subject, strategy, force)
    # Every connection's request may be before one, in the kernel's queues or the service's.
    queue_s = force.connections / max(capacity.sent_per_s, 1)
    load = replace(load, connections=force.connections, timeout_s=10 + 3 * queue_s)
    over = asyncio.Event()
    probing = asyncio.create_task(subject.probed(strategy, lambda: not over.is_set()))
    with _first_in_the_scheduler_s_order():
        outcome = await load.open(TIMES * capacity.sent_per_s, force.seconds)
    row = [await subject.normal(strategy, number) for number in range(IN_A_ROW)]
    over.set()
    back_s = (await probing).back_after(outcome.last_sent_s)
    _judge(findings, outcome, load)
    times = outcome.offered_per_s / capacity.sent_per_s
    findings.judge(
        "it really was that much",
        f"{TIMES} times {capacity.sent_per_s:.0f} a second, most of {WORK[work]}",
        f"{times:.1f} times; {outcome.sent_per_s:.0f} a second sent, for the rest all "
        f"{load.connections} connections waited; the client late by {outcome.late_s:.1f} s at most",
        times >= TIMES * OFFERED and outcome.late_s <= MOST_LATE_S,
    )
    findings.within("normal requests are right again", back_s, max(BACK_WITHIN_S, 1.5 * queue_s))
    right = row.count(Verdict.RIGHT)
    findings.judge(
        "and so are the next", f"{IN_A_ROW} in a row", f"{right} right", right == IN_A_ROW
    )
    await _judge_return(findings, subject, idle)
    return findings


@contextmanager
def _first_in_the_scheduler_s_order() -> Iterator[None]:
    """Where it is allowed: beside hundreds of a service's threads one hardly ever runs."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    yield
    os.setpriority(os.PRIO_PROCESS, 0, usual)


async def _capacity(subject: Subject, strategy: str, force: Force) -> tuple[Load, int, Outcome]:
    """What the service answers a second, with the least work for which ten times can be offered."""
    # Once for nothing: a JVM that has just started does a tenth of what it will do.
    for work in (0, *range(len(WORK))):
        requests = draw(overload_mix(WORK[work]), force.seed)
        path = f"/matrix/{strategy}"
        load = Load(subject.address, path, requests, CAPACITY_CONNECTIONS, timeout_s=60.0)
        end_s = time.monotonic() + force.capacity_s
        capacity = await load.closed(lambda end_s=end_s: time.monotonic() < end_s)  # type: ignore[misc]
        if TIMES * capacity.sent_per_s <= MOST_PER_S:
            break
    return load, work, capacity


def _judge(findings: Findings, outcome: Outcome, load: Load) -> None:
    good = outcome.number_of(Verdict.RIGHT, Verdict.REFUSED)
    findings.judge(
        "every answer right, or 503 with 008 and Retry-After",
        f"all, each within {load.timeout_s:.0f} s",
        outcome.sentence(),
        good == len(outcome.ends) and outcome.counts[Verdict.RIGHT] > 0,
    )


async def _judge_return(findings: Findings, subject: Subject, processes: int) -> None:
    async def is_idle() -> bool:
        return await subject.in_flight() == 0

    findings.within("nothing in flight", await seconds_until(is_idle, LONG_S), BACK_WITHIN_S)
    findings.at_most("processes afterwards", len(subject.names()), processes)
    findings.at_most("zombies afterwards", subject.zombies(), 0)
