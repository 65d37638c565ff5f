"""Warnings with a size: how far may a measurement be off, in percent of its throughput? (method,
rule 10). Pure: one block's numbers in, bounds out.

A fact that is not known (None) has no bound. A cell's bias is the MEAN of its blocks' bounds: what
one block in twenty has biases the mean by a twentieth of it, and more blocks make no more warnings.
A cell's warning is shown where it exceeds half the usual margin of verdicts; `judge.claims` reports
also where leaving out the blocks that exceed it changes a verdict. What has no size is a note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from restbench.analyse.measurement import Measurement, by_name, number
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.store.exported import WarningEntry

#: Half the margin of 5 % (method, rules 7 and 10).
SHOWN_ABOVE_PCT = 2.5
#: CPU time of others, percent of the machine, above which measurements outside of runs report it.
FOREIGN_LIMIT_PCT = 5.0
#: The margin of verdicts: ratios of this size decide them.
_MARGIN_PCT = 5.0
#: Schedulers leave so much of the cores idle even if there is always work.
_FULL_PCT = 95.0
#: Larger shares count as this one, as the bound of a share of 1 is infinite.
_MOST = 0.99
#: Extras of blocks without a continuous closed load: requests were sent at planned times, or the
#: service was broken on purpose. The number of users in flight is no bias then.
_NOT_CLOSED = ("rate_per_s", "met_per_s", "failed_per_s", "down_s")
#: From a block and its number of users to a part of the throughput; None where it is not known.
Bound: TypeAlias = Callable[[Measurement, int], float | None]


def _littles_law(block: Measurement, users: int) -> float | None:
    """X R / N - 1, less what requests cut by the ends of the trials explain."""
    found = _in_flight(block, users)
    return None if found is None else found[0] - 1 - found[1]


def _users_in_flight(block: Measurement, users: int) -> float | None:
    """1 / (1 - missing) - 1; at most what idle cores could add (5 % idle is full)."""
    found = _in_flight(block, users)
    if found is None or found[0] <= 0:
        return None
    missing = max(0.0, 1 - found[0] - found[1])
    if block.machine_cpu_pct is None:
        return missing / (1 - missing)
    idle = max(0.0, _FULL_PCT - block.machine_cpu_pct) / 100
    return min(missing / (1 - missing), idle / (1 - idle))


def _in_flight(block: Measurement, users: float) -> tuple[float, float] | None:
    """Users in flight over all, and the part that requests cut by the trials' ends explain."""
    completed = (block.completions or 0) + block.errors
    is_closed = block.extras.keys().isdisjoint(_NOT_CLOSED)
    if block.users_in_flight is None or not completed or not is_closed:
        return None
    users = block.extras.get("in_flight", users)  # calls in flight: a user may have several
    parts = block.trials or 1
    return block.users_in_flight / users, parts * block.users_in_flight / completed


def _errors(block: Measurement, _users: int) -> float | None:
    """Failed requests over correct ones: CPU time that was spent on them."""
    return block.errors / block.completions if block.completions else None


def _part(name: str, of: Callable[[float], float] = float) -> Bound:
    """The bound that follows from one number of a block."""

    def bound(block: Measurement, _users: int) -> float | None:
        known = number(block, name)
        return None if known is None else of(known)

    return bound


def _over_the_rest(name: str, whole: float = 1.0) -> Bound:
    """The bound of a share that was taken away: the share over the rest."""
    return _part(name, lambda share: share / (whole - min(share, _MOST * whole)))


#: The bound of each kind of warning.
BOUNDS: dict[str, Bound] = {
    "littles-law": _littles_law,
    "users-in-flight": _users_in_flight,
    "late-arrivals": _over_the_rest("late_share"),
    "count-mismatch": _part("count_gap"),
    "generator-share": _part("generator_share", lambda share: _MARGIN_PCT / 100 * share),
    "steal": _over_the_rest("steal_pct", 100),
    "foreign-load": _over_the_rest("foreign_pct", 100),
    "warm-up": _part("start_gap"),
    "compiling": _over_the_rest("compile_share"),
    "gc": _over_the_rest("gc_share"),
    "off-cores": _over_the_rest("off_cores_share"),
    "errors": _errors,
}


def of_block(block: Measurement, users: int) -> dict[str, float]:
    """Every known bound above 0 of one block, of whatever size, in percent by its kind."""
    found = {kind: 100 * (bound(block, users) or 0.0) for kind, bound in BOUNDS.items()}
    return {kind: percent for kind, percent in found.items() if percent > 0}


def of_cell(blocks: Sequence[Measurement], users: int) -> tuple[WarningEntry, ...]:
    """The warnings of a cell that are shown: mean bounds over its blocks, the largest first."""
    known = by_name(of_block(block, users) for block in blocks)
    found = [
        WarningEntry(kind=kind, bias_percent=sum(each / len(blocks) for each in percents))
        for kind, percents in known.items()
    ]
    shown = [each for each in found if each.bias_percent > SHOWN_ABOVE_PCT]
    return tuple(sorted(shown, key=lambda each: -each.bias_percent))


def without_warned(blocks: Sequence[Measurement], users: int) -> tuple[Measurement, ...]:
    """The blocks without any bound large enough to be shown; all blocks where fewer than
    FEWEST_BLOCKS measured ones would be left."""
    left = [
        block
        for block in blocks
        if max(of_block(block, users).values(), default=0.0) <= SHOWN_ABOVE_PCT
    ]
    measured = sum(bool(block.seconds) for block in left)
    return tuple(left) if measured >= FEWEST_BLOCKS else tuple(blocks)


#: Every warning and note that a row can carry, in words.
FLAGS: dict[str, str] = {
    "littles-law": (
        "Throughput x response time is more than the number of users: one of them was counted "
        "wrong."
    ),
    "users-in-flight": (
        "Fewer users than stated were waiting for the service, by the load generator's own "
        "time, while cores were idle: more users would have reached a higher throughput."
    ),
    "late-arrivals": (
        "Some requests of an open load were sent more than 10 ms after their intended moment: all "
        "users were busy, or the load generator had no CPU. The arrivals were not as planned."
    ),
    "count-mismatch": (
        "The load generator and the service counted different numbers of requests, by more "
        "than were in flight."
    ),
    "generator-share": (
        "The load generator took so much of the CPU time that a ratio of 1.05 appears smaller "
        "by the stated percentage: compare CPU ms/request."
    ),
    "steal": "The hypervisor took CPU time away.",
    "foreign-load": (
        "CPU time of the machine went to neither the service nor the load generator: another "
        "benchmark ran at the same time, or the machine was in use."
    ),
    "warm-up": (
        "Compared with the other cells of their rounds, the first trials of the cell in a block "
        "were slower or faster than the rest: the service was not warm for this cell."
    ),
    "compiling": (
        "The compilers of a JVM took CPU time of the service, which was not warm yet and becomes "
        "faster later."
    ),
    "gc": ("Garbage collection took time of the service; the garbage may be that of another cell."),
    "off-cores": "The service ran on a core that was not assigned to it.",
    "errors": "Some requests failed. They do not count as throughput, but they cost CPU time.",
    "window-failed": "An attempt at the cell's long window failed; its record states why.",
    "failed": "A block of the cell could not be measured; its record states why.",
    "not-offered": (
        "This runtime does not have the strategy or the framework (virtual threads and helidon "
        "need Java 21): this is not a failure, and the cell is no candidate for the best."
    ),
    "not-measured": "The cell was planned, but the run had no time for it.",
    "wrong-answers": "An answer was wrong: the cell has nothing but its counts in that block.",
    "service-restarted": (
        "The service was restarted just before this cell: a JVM may not be warm yet."
    ),
    "process-ended": (
        "A process of the service ended during a trial: the cell has no CPU time in that block."
    ),
    "retried": "The first attempt failed: this is the second, on a fresh service.",
    "ports-awaited": (
        "New connections of the cell, or of loads before its trial, left so many ports in TIME_WAIT"
        " that the run waited."
    ),
    "few-draws": (
        "The users opened their kept connections in fewer than 8 trials of a block: chance decided "
        "which of several workers had them."
    ),
    "other-mix": (
        "The shares of large and small requests among the completed ones are not those of the mix: "
        "the trials were too short for it. The cell has nothing but its counts."
    ),
    "relayed": (
        "The kernel has no netem: a relay made the network's delay, and its CPU time counts as "
        "that of the load generator."
    ),
    "limit-mismeasured": (
        "The batch was over 3 % faster than its least possible time: the time of a single call was "
        "measured on a busy machine, or before everything was warm."
    ),
    "scaled": "Some of the calls were made, one after the other; the time is scaled to all.",
    "misbehaved": (
        "Under a fault the service broke one of its promises on how soon it answers and how soon "
        "it recovers."
    ),
    "not-durable": "A commit of this database may be lost although it was answered.",
    "unbalanced": "One of several instances served less than half of its share of the requests.",
    "refused": ("The service has less memory than this needs: it refused, and computed nothing."),
}


def explain(kind: str) -> str:
    """One sentence on a warning or note; for a kind of a newer version, that it is unknown."""
    return FLAGS.get(kind, "Unknown to this version; see the cell's record.")
