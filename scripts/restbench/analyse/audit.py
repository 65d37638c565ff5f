"""Is a measurement believable? The checks that raise a row's flags (`flags`).

A flag never hides a number (only a wrong answer does); it says what to know before believing it.
"""

from __future__ import annotations

from dataclasses import dataclass

from restbench.analyse.flags import FLAGS
from restbench.experiment.statistics import COMPLETIONS_FOR_A_MEAN

STEAL_LIMIT_PCT = 1.0
FOREIGN_LIMIT_PCT = 5.0
LITTLE_TOLERANCE = 0.02
#: From an answer to the next request a user waits for JMeter itself: for its CPU time per request
#: and, where all cores are busy, for a core. Runs on two saturated cores took 2.5 to 2.7 times the
#: CPU time; a longer gap is not the generator's work but a user that is missing.
GENERATOR_STRETCH = 4.0
#: Above this share of what the load generator can send at all, it is what is measured (method,
#: "Calibration"); above this share of its cores' time it is at its end as well.
CEILING_SHARE = 0.2
LOAD_CORES_SHARE = 0.8
#: Sizes of right answers differ by their request id, its length told in Content-Length, and by the
#: header that a web server ends a kept connection with.
BYTES_TOLERANCE = 64
#: Of the service's CPU time: above it a JVM was still warming up.
COMPILING_LIMIT_PCT = 5.0
#: JMeter says that its users started a moment before the first of them sends.
START_TOLERANCE_S = 0.5
#: A window goes on to sar's next sample, and its end is known when CPU times have been read.
WINDOW_TOLERANCE_S = 3.0
#: A JTL counts whole milliseconds; below this mean that is a tenth or more (method, rule 11).
COARSE_CLOCK_MS = 10.0


@dataclass(frozen=True)
class Evidence:
    """What one measurement is judged by. `None`: unknown, so the check that needs it is silent."""

    users: int
    window_s: float
    """How long was measured, in all its parts."""
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
    compilers_pct: float | None = None
    """CPU time of a JVM's compilers in the window, percent of the service's."""
    foreign_before_pct: float | None = None
    """The same just before the load, when neither was at work."""
    percentiles_ms: tuple[float, ...] = ()
    """Of the correct responses, in the order of their percents, the maximum last."""
    bytes_spread: int | None = None
    """Largest minus smallest correct response, stage times left out."""
    fine_clock: bool = False
    """Whether response times are known in less than whole milliseconds."""
    warmed_s: float | None = None
    """From the first request to the window."""
    planned_warmup_s: float = 0.0
    planned_window_s: tuple[float, float] | None = None
    """The shortest and the longest window of the profile."""
    ceiling_per_s: float | None = None
    """What the load generator can send on this machine (calibration)."""
    load_cores: int | None = None
    parts: int = 1
    """The intervals that the window is made of: of each two ends cut requests."""
    cores_used: frozenset[int] = frozenset()
    cores_given: frozenset[int] | None = None
    """The service's; None where it was started by others."""
    steadiness: tuple[str, ...] = ()
    """The flags of `steady`, as they are."""


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
        "generator-bound": _is_generator_bound(evidence),
        "generator-busy": not _is_generator_bound(evidence) and _may_be_generator_bound(evidence),
        "percentile-order": list(evidence.percentiles_ms) != sorted(evidence.percentiles_ms),
        "bytes-vary": (evidence.bytes_spread or 0) > BYTES_TOLERANCE,
        "duration": _is_not_as_long_as_planned(evidence),
        "warm-up-short": _is_first_round(evidence),
        "compiling": (evidence.compilers_pct or 0) > COMPILING_LIMIT_PCT,
        "off-cores": not evidence.cores_used <= (evidence.cores_given or evidence.cores_used),
        "foreign-load-before": (evidence.foreign_before_pct or 0) > FOREIGN_LIMIT_PCT,
        "steal": (evidence.steal_pct or 0) > STEAL_LIMIT_PCT,
        "foreign-load": (evidence.foreign_pct or 0) > FOREIGN_LIMIT_PCT,
        "no-sar": evidence.steal_pct is None,
        "no-server-timing": evidence.correct > 0 and not evidence.told_stages,
        "coarse-clock": _is_coarse(evidence),
    }
    return (*(flag for flag, raised in checks.items() if raised), *evidence.steadiness)


def _is_coarse(evidence: Evidence) -> bool:
    mean_ms = COARSE_CLOCK_MS if evidence.mean_of_all_ms is None else evidence.mean_of_all_ms
    return mean_ms < COARSE_CLOCK_MS and not evidence.fine_clock


def _counts_differ(evidence: Evidence) -> bool:
    """At the end every user may have a request that the service counts and JMeter never writes."""
    if evidence.service_requests is None:
        return False
    return abs(evidence.answered_in_load - evidence.service_requests) > evidence.users


def _is_generator_bound(evidence: Evidence) -> bool:
    rate_per_s = evidence.completed / evidence.window_s
    ceiling_per_s = evidence.ceiling_per_s
    near_its_ceiling = ceiling_per_s is not None and rate_per_s > CEILING_SHARE * ceiling_per_s
    return near_its_ceiling or _share_of_load_cores(evidence) > LOAD_CORES_SHARE


def _may_be_generator_bound(evidence: Evidence) -> bool:
    """Where no ceiling is known: a fifth of it takes at most a fifth of the cores' time."""
    unknown = evidence.ceiling_per_s is None
    return unknown and _share_of_load_cores(evidence) > CEILING_SHARE


def _share_of_load_cores(evidence: Evidence) -> float:
    """How much of its cores' time the load generator took; 0 where that is not known."""
    if evidence.load_cpu_ms is None or evidence.load_cores is None:
        return 0.0
    return evidence.load_cpu_ms / (1000 * evidence.window_s * evidence.load_cores)


def _is_not_as_long_as_planned(evidence: Evidence) -> bool:
    warmed_s, planned_s = evidence.warmed_s, evidence.planned_window_s
    if warmed_s is not None and warmed_s < evidence.planned_warmup_s - START_TOLERANCE_S:
        return True
    if planned_s is None:
        return False
    shortest_s, longest_s = planned_s
    return not shortest_s <= evidence.window_s <= longest_s + WINDOW_TOLERANCE_S


def _is_first_round(evidence: Evidence) -> bool:
    """Whether the window opened before every user had an answer, N/X after the load's start: it
    then holds requests of users who all began at once, and none of those that took longest."""
    if evidence.warmed_s is None:
        return False
    if evidence.completed == 0:
        return True
    return evidence.warmed_s < evidence.users * evidence.window_s / evidence.completed


def _breaks_littles_law(evidence: Evidence) -> bool:
    """|X R / N - 1| > 2 % + R/T: closed users without think time are always waiting for answers.

    R/T is what requests cut by the window's two ends explain, or by those of its parts.
    """
    if evidence.mean_of_all_ms is None:
        return False
    response_s = evidence.mean_of_all_ms / 1000
    in_flight = evidence.completed / evidence.window_s * response_s
    tolerance = LITTLE_TOLERANCE + evidence.parts * response_s / evidence.window_s
    return abs(in_flight / evidence.users - 1) > tolerance


def _is_generator_time(evidence: Evidence) -> bool:
    """Whether N/X - R, the time a user spends on each request without waiting, is JMeter's own."""
    if evidence.mean_of_all_ms is None or evidence.load_cpu_ms is None:
        return False
    cycle_ms = 1000 * evidence.users * evidence.window_s / evidence.completed
    own_ms = evidence.load_cpu_ms / evidence.completed
    return 0 < cycle_ms - evidence.mean_of_all_ms <= GENERATOR_STRETCH * own_ms
