"""Overload is bounded: ten times what the service can do, from many connections at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from restbench_robustness.overload import loads
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.bounds import MIB, stated
from restbench_robustness.overload.load import Plan
from restbench_robustness.overload.mix import WORK
from restbench_robustness.overload.outcome import Outcome
from restbench_robustness.overload.probes import Probes
from restbench_robustness.overload.promises import Findings
from restbench_robustness.overload.tree import Tree, Watch
from restbench_robustness.overload.under_test import UnderTest
from restbench_robustness.overload.waiting import seconds_until

TIMES = 10
#: Less than the whole is accepted: a schedule on a busy machine ends a moment late.
OFFERED = 0.9
#: A client that is late for longer offers a burst, and no rate.
MOST_LATE_S = 1.0
#: What a client of one process can send beside a service that uses every core.
MOST_PER_S = 2000
#: Few, so that what is measured is the work, and enough to keep every core busy.
CAPACITY_CONNECTIONS = 8
BACK_WITHIN_S = 5.0
#: How long to look for what should have come to pass long ago, to say when it did.
LONG_S = 30.0
IN_A_ROW = 20
#: Files that a runtime may have opened for good under load: class files, logs, pipes.
FILES_ABOVE_IDLE = 16


@dataclass(frozen=True)
class Force:
    """How hard to press."""

    seconds: float
    connections: int
    capacity_s: float
    """How long to measure what the service can do."""
    seed: int


def overloaded(under: UnderTest, strategy: str, force: Force) -> Findings:
    """Find the capacity, offer ten times that, look whether everything stays bounded."""
    findings = Findings(f"{under.name} {strategy}: overload")
    under.normal(strategy)
    idle = under.tree()
    plan, capacity = _capacity(under, strategy, force)
    plan = replace(
        plan,
        connections=force.connections,
        seconds=force.seconds,
        per_s=TIMES * capacity.sent_per_s,
        # Every connection's request may be before one, in the kernel's queues or the service's.
        timeout_s=10 + 3 * _queue_s(force.connections, capacity),
    )
    with (
        Watch(under.tree) as watch,
        Probes(lambda number: under.normal(strategy, number)) as probes,
        loads.running(plan, under.folder) as load,
    ):
        outcome = load.result()
        seconds_until(lambda: probes.back_after(outcome.last_sent_s) is not None, LONG_S)
    _judge_answers(findings, outcome, plan)
    _judge_offer(findings, outcome, capacity, plan)
    _judge_resources(findings, watch, under, idle)
    bound_s = max(BACK_WITHIN_S, 1.5 * _queue_s(under.limit("maxInFlight"), capacity))
    findings.within(
        "normal requests are answered again", probes.back_after(outcome.last_sent_s), bound_s
    )
    _judge_return(findings, under, strategy, idle)
    return findings


def _capacity(under: UnderTest, strategy: str, force: Force) -> tuple[Plan, Outcome]:
    """What the service answers a second, with the least work for which ten times can be offered."""
    host, port = under.service.address
    plan = Plan(
        host=host,
        port=port,
        path=f"/matrix/{strategy}",
        connections=CAPACITY_CONNECTIONS,
        seconds=force.capacity_s,
        timeout_s=60.0,
        mix="overload",
        work=0,
        seed=force.seed,
    )
    # Once for nothing: a JVM that has just started does a tenth of what it will do.
    loads.carried_out(plan, under.folder)
    for work in range(len(WORK)):
        plan = replace(plan, work=work)
        capacity = loads.carried_out(plan, under.folder)
        if TIMES * capacity.sent_per_s <= MOST_PER_S:
            break
    return plan, capacity


def _queue_s(requests: int, capacity: Outcome) -> float:
    """What so many requests take, one after the other."""
    return requests / max(capacity.sent_per_s, 1)


def _judge_answers(findings: Findings, outcome: Outcome, plan: Plan) -> None:
    good = outcome.number_of(Verdict.RIGHT, Verdict.REFUSED)
    findings.judge(
        "every answer right, or 503 with 008 and Retry-After",
        f"all, each within {plan.timeout_s:.0f} s",
        outcome.sentence(),
        good == outcome.sent and outcome.counts[Verdict.RIGHT] > 0,
    )


def _judge_offer(findings: Findings, outcome: Outcome, capacity: Outcome, plan: Plan) -> None:
    times = outcome.offered_per_s / capacity.sent_per_s
    findings.judge(
        "it really was that much",
        f"{TIMES} times {capacity.sent_per_s:.0f} a second, most of {WORK[plan.work]}",
        f"{times:.1f} times; {outcome.sent_per_s:.0f} a second sent, for the rest all "
        f"{plan.connections} connections waited; the client late by {outcome.late_s:.1f} s at most",
        times >= TIMES * OFFERED and outcome.late_s <= MOST_LATE_S,
    )


def _judge_resources(findings: Findings, watch: Watch, under: UnderTest, idle: Tree) -> None:
    threads = watch.peak(lambda each: each.threads)
    memory_bytes = watch.peak(lambda each: each.memory_bytes)
    bounds = stated(under, idle, threads)
    findings.at_most("memory", memory_bytes / MIB, bounds.memory_bytes / MIB, "MiB")
    findings.at_most("threads", threads, bounds.threads)
    findings.at_most("open files", watch.peak(lambda each: each.files), bounds.files)
    findings.at_most("processes", watch.peak(lambda each: each.processes), bounds.processes)


def _judge_return(findings: Findings, under: UnderTest, strategy: str, idle: Tree) -> None:
    row = [under.normal(strategy, number) for number in range(IN_A_ROW)]
    right = row.count(Verdict.RIGHT)
    findings.judge(
        "and so are the next, one by one",
        f"{IN_A_ROW} in a row",
        f"{right} right",
        right == IN_A_ROW,
    )
    free_s = seconds_until(
        lambda: under.in_flight() == 0 and under.tree().files <= idle.files + FILES_ABOVE_IDLE,
        LONG_S,
    )
    findings.within("nothing in flight, connections gone", free_s, BACK_WITHIN_S)
    after = under.tree()
    findings.at_most("processes afterwards", after.processes, idle.processes)
    findings.at_most("zombies afterwards", after.zombies, 0)
