"""Is a measurement believable? Every flag a row can carry, and the checks that raise them.

A flag never hides a number (only a wrong answer does); it says what to know before believing it.
"""

from __future__ import annotations

from dataclasses import dataclass

from restbench.statistics import COMPLETIONS_FOR_A_MEAN

STEAL_LIMIT_PCT = 1.0
FOREIGN_LIMIT_PCT = 5.0
LITTLE_TOLERANCE = 0.02
#: From an answer to the next request a user waits for JMeter itself: for its CPU time per request
#: and, where all cores are busy, for a core. Runs on two saturated cores took 2.5 to 2.7 times the
#: CPU time; a longer gap is not the generator's work but a user that is missing.
GENERATOR_STRETCH = 4.0
#: A JTL counts whole milliseconds; below this mean that is a tenth or more (method, rule 11).
COARSE_CLOCK_MS = 10.0


@dataclass(frozen=True)
class Flag:
    """`doubtful` flags make a number questionable: its point in a figure is hollow."""

    explanation: str
    doubtful: bool


FLAGS: dict[str, Flag] = {
    "failed": Flag("A block of the cell could not be measured; its record tells why.", True),
    "not-measured": Flag("Planned, but the run ended before a block of it.", True),
    "wrong-answers": Flag("A product was wrong: the run is void, only counts are shown.", True),
    "errors": Flag("Some requests failed; they are no throughput, but they cost CPU time.", True),
    "few-completions": Flag("Under 30 correct responses in a window: too few for a mean.", True),
    "count-mismatch": Flag(
        "JMeter and the service counted different numbers of requests, by more than were in "
        "flight.",
        True,
    ),
    "littles-law": Flag(
        "Throughput x response time is not the number of users (off by more than 2 % + R/T): "
        "the load was not what it should be.",
        True,
    ),
    "generator-time": Flag(
        "JMeter's own work between two requests took over 2 % of a user's time: fewer users than "
        "stated were waiting at a time.",
        False,
    ),
    "steal": Flag("The hypervisor took over 1 % of the CPU time away.", True),
    "foreign-load": Flag(
        "Over 5 % of the machine's CPU time went to neither the service nor JMeter.", True
    ),
    "processes-changed": Flag(
        "The service's processes were not the same at both ends of the window: no CPU time.", True
    ),
    "no-sar": Flag("No sysstat, or no sample of it in the window: no machine CPU %.", False),
    "no-server-timing": Flag("The responses told no stage times.", False),
    "attached": Flag("The service was started by others: its CPU and memory are unknown.", False),
    "service-restarted": Flag(
        "The service was started anew just before this cell: a JVM may not be warm yet.", True
    ),
    "busy-before": Flag(
        "The attached service was, or may have been, still at work for the cell before.", True
    ),
    "shared-cores": Flag(
        "JMeter ran on the service's cores and took its share of them: compare CPU ms/request too.",
        False,
    ),
    "capped": Flag("The window ended by time, before the completions asked for.", False),
    "coarse-clock": Flag(
        "The mean is under 10 ms, JMeter counts whole milliseconds: users / throughput and the "
        "stages tell it better.",
        False,
    ),
}


@dataclass(frozen=True)
class Evidence:
    """What one measurement is judged by. `None`: unknown, so the check that needs it is silent."""

    users: int
    window_s: float
    correct: int
    errors: int
    wrong_answers: int
    """Of the whole load, warm-up included."""
    completed: int
    """Every completion in the window, whatever came of it."""
    mean_of_all_ms: float | None
    """Mean response time of the `completed`."""
    load_cpu_ms: float | None
    """CPU time of the load generator in the window."""
    answered_in_load: int
    service_requests: float | None
    told_stages: bool
    steal_pct: float | None
    foreign_pct: float | None
    """CPU time that went to neither service nor load generator, percent of the machine."""


def explain(flag: str) -> str:
    """One sentence on a flag; a flag of a newer version is said to be unknown."""
    known = FLAGS.get(flag)
    return known.explanation if known else "Unknown to this version; see the cell's record."


def is_doubtful(flags: tuple[str, ...]) -> bool:
    """Whether any of the flags makes the number questionable; an unknown flag does."""
    return any(flag not in FLAGS or FLAGS[flag].doubtful for flag in flags)


def noticed(evidence: Evidence) -> tuple[str, ...]:
    """The flags that the numbers themselves raise (method, rules 4, 5, 10, 11 and 12)."""
    checks = {
        "wrong-answers": evidence.wrong_answers > 0,
        "errors": evidence.errors > 0,
        "few-completions": evidence.correct < COMPLETIONS_FOR_A_MEAN,
        "count-mismatch": _counts_differ(evidence),
        "littles-law": _breaks_littles_law(evidence) and not _is_generator_time(evidence),
        "generator-time": _breaks_littles_law(evidence) and _is_generator_time(evidence),
        "steal": (evidence.steal_pct or 0) > STEAL_LIMIT_PCT,
        "foreign-load": (evidence.foreign_pct or 0) > FOREIGN_LIMIT_PCT,
        "no-sar": evidence.steal_pct is None,
        "no-server-timing": evidence.correct > 0 and not evidence.told_stages,
        "coarse-clock": (evidence.mean_of_all_ms or COARSE_CLOCK_MS) < COARSE_CLOCK_MS,
    }
    return tuple(flag for flag, raised in checks.items() if raised)


def _counts_differ(evidence: Evidence) -> bool:
    """At the end every user may have a request that the service counts and JMeter never writes."""
    if evidence.service_requests is None:
        return False
    return abs(evidence.answered_in_load - evidence.service_requests) > evidence.users


def _breaks_littles_law(evidence: Evidence) -> bool:
    """|X R / N - 1| > 2 % + R/T: closed users without think time are always waiting for answers.

    R/T is what requests cut by the window's two ends explain.
    """
    if evidence.mean_of_all_ms is None:
        return False
    response_s = evidence.mean_of_all_ms / 1000
    in_flight = evidence.completed / evidence.window_s * response_s
    tolerance = LITTLE_TOLERANCE + response_s / evidence.window_s
    return abs(in_flight / evidence.users - 1) > tolerance


def _is_generator_time(evidence: Evidence) -> bool:
    """Whether N/X - R, the time a user spends on each request without waiting, is JMeter's own."""
    if evidence.mean_of_all_ms is None or evidence.load_cpu_ms is None:
        return False
    cycle_ms = 1000 * evidence.users * evidence.window_s / evidence.completed
    own_ms = evidence.load_cpu_ms / evidence.completed
    return 0 < cycle_ms - evidence.mean_of_all_ms <= GENERATOR_STRETCH * own_ms
