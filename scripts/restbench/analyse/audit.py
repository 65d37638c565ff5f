"""What is to be known of a measurement before it is believed, and has no size: notes (`flags`).

A note never hides a number (only a wrong answer does). What has a size is a warning (`warnings`).
"""

from __future__ import annotations

from dataclasses import dataclass

from restbench.experiment.statistics import COMPLETIONS_FOR_A_MEAN

FOREIGN_LIMIT_PCT = 5.0
#: Above this share of its cores' time an open load's generator is at its end.
LOAD_CORES_SHARE = 0.8
#: Sizes of right answers differ by their request id, its length told in Content-Length, and by the
#: header that a web server ends a kept connection with.
BYTES_TOLERANCE = 64
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
    wrong_answers: int
    """Of the whole load, warm-up included."""
    completed: int
    """Every completion in the window, whatever came of it."""
    mean_of_all_ms: float | None
    """Mean response time of the `completed`."""
    told_stages: bool
    has_sar: bool
    foreign_before_pct: float | None = None
    """CPU time of others just before the load, percent of the machine."""
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
    steady: bool | None = None
    """What `steady` says of a long window."""


def noticed(evidence: Evidence) -> tuple[str, ...]:
    """The notes that the numbers themselves raise (method, rules 4, 5, 11 and 12)."""
    checks = {
        "wrong-answers": evidence.wrong_answers > 0,
        "few-completions": evidence.correct < COMPLETIONS_FOR_A_MEAN,
        "percentile-order": list(evidence.percentiles_ms) != sorted(evidence.percentiles_ms),
        "bytes-vary": (evidence.bytes_spread or 0) > BYTES_TOLERANCE,
        "duration": _is_not_as_long_as_planned(evidence),
        "warm-up-short": _is_first_round(evidence),
        "foreign-load-before": (evidence.foreign_before_pct or 0) > FOREIGN_LIMIT_PCT,
        "no-sar": not evidence.has_sar,
        "no-server-timing": evidence.correct > 0 and not evidence.told_stages,
        "coarse-clock": _is_coarse(evidence),
        "not-steady": evidence.steady is False,
    }
    return tuple(flag for flag, raised in checks.items() if raised)


def _is_coarse(evidence: Evidence) -> bool:
    mean_ms = COARSE_CLOCK_MS if evidence.mean_of_all_ms is None else evidence.mean_of_all_ms
    return mean_ms < COARSE_CLOCK_MS and not evidence.fine_clock


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
