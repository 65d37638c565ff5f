"""What a service did while its database, or the service itself, had a fault; and the rows of such
trials (`schedule.faults`). Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.analyse.queue_checker import RULES, Report
from restbench.analyse.queue_history import Request
from restbench.failures import counted

#: A service's promises under a fault: the latest answer to a request; the first success after the
#: recovery of what was broken; and the time after the recovery from which on all requests succeed.
LATEST_ANSWER_S = 1.5
FIRST_SUCCESS_S = 2.0
ALL_SUCCEED_S = 5.0
#: By a trial's extra: what it must not exceed, and the complaint where it does.
_PROMISES = (
    ("died", 0.0, "the service's process ended"),
    ("unanswered", 0.0, "requests never answered: {:.0f}"),
    ("refused_wrongly", 0.0, "5xx answers other than 503 with Retry-After: {:.0f}"),
    ("refused_valid", 0.0, "valid requests refused with 4xx: {:.0f}"),
    ("latest_s", LATEST_ANSWER_S, "an answer took {:.2f} s"),
    ("first_s", FIRST_SUCCESS_S, "the first success came {:.2f} s after the recovery"),
    (
        "failed_later",
        0.0,
        f"requests failed {ALL_SUCCEED_S:.0f} s after the recovery or later: {{:.0f}}",
    ),
)
#: The extras that a history's report has under the same name.
_REPORTED = ("sends", "pops", "violations", "limbo", "recovered", "unknown", "replayed")
#: The client's own deadline: longer than any time that a service may need, a pause included.
DEADLINE_S = 12.0

#: The extras of a trial by name: their heading, and what they are.
COLUMNS: dict[str, tuple[str, str]] = {
    "sends": ("Sends", "sends that were answered 200; retries with the same key count once"),
    "pops": ("Pops", "pops that returned a message, counted likewise, also in the drain"),
    "violations": ("Violations", "violations of the rules R1 to R8, all together"),
    "lost": ("Lost", "R1: messages that were sent, but neither popped nor left"),
    "duplicated": ("Twice", "R2: messages that were popped twice, or popped and still left"),
    "others": (
        "R3 to R8",
        "messages invented, altered, misrouted or inverted, false empties, wrong counts",
    ),
    "limbo": (
        "Limbo",
        "missing messages, possibly taken by a pop without a key whose answer was lost",
    ),
    "recovered": (
        "Recovered",
        "sends with an unknown outcome, whose message was popped or is left",
    ),
    "unknown": ("Unknown", "operations whose outcome is still unknown at the end"),
    "retried": ("Retried", "requests with a key, other than the first one with that key"),
    "replayed": ("Replayed", "answers that the service repeated for the same key"),
    "down_s": ("Down s", "from the fault to the recovery: the broken part worked again"),
    "first_s": ("First s", "from the recovery to the service's first success"),
    "latest_s": ("Latest s", "the longest wait for an answer, without the time of a pause"),
    "refused_wrongly": ("5xx", "5xx answers other than 503 with Retry-After"),
    "refused_valid": ("4xx", "4xx answers, though every request of the load is valid"),
    "unanswered": ("Unanswered", "requests with a key that were never answered with 200 or 4xx"),
    "died": ("Died", "whether the service's own process ended because of a database fault"),
    "failed_later": (
        "Failed later",
        "requests that failed, and attempts to connect, 5 s or more after the recovery",
    ),
}


@dataclass(frozen=True)
class Course:
    """The moments of a trial, by the monotonic clock."""

    broken_ns: int
    back_ns: int
    """When what was broken first worked again."""
    ended_ns: int
    """The load's end: what comes after it is the drain."""
    holds_answers: bool = False
    """Whether the fault, such as a pause, delays requests in progress without ending them."""


def extras(
    course: Course,
    requests: Sequence[Request],
    report: Report,
    unconnected: Sequence[tuple[int, int]] = (),
) -> dict[str, float]:
    """The values of COLUMNS, except `refused_wrongly`, `unanswered` and `died`, which no history
    contains. `unconnected` has the begin and the end of each attempt to connect that failed."""
    failed_ns = [each.invoked_ns for each in requests if each.outcome != "ok"]
    failed_ns += [began_ns for began_ns, _ in unconnected]
    waited_s = [_waited_s(course, each) for each in requests]
    waited_s += [(ended_ns - began_ns) / 1e9 for began_ns, ended_ns in unconnected]
    keyed = {(each.client, each.op, each.key) for each in requests if each.key is not None}
    return {
        **{name: getattr(report, name) for name in _REPORTED},
        "lost": report.counts["R1"],
        "duplicated": report.counts["R2"],
        "others": sum(report.counts[rule] for rule in RULES if rule not in ("R1", "R2")),
        "retried": sum(each.key is not None for each in requests) - len(keyed),
        "down_s": (course.back_ns - course.broken_ns) / 1e9,
        "first_s": _first_success_s(course, requests),
        "latest_s": max(waited_s, default=0.0),
        "refused_valid": sum(400 <= (each.status or 0) < 500 for each in requests),
        "failed_later": sum(
            course.back_ns + 1e9 * ALL_SUCCEED_S <= each <= course.ended_ns for each in failed_ns
        ),
    }


def _first_success_s(course: Course, requests: Iterable[Request]) -> float:
    """Seconds from the recovery to the first success; to the load's end where there is none."""
    moments = (each.returned_ns for each in requests if each.outcome == "ok")
    later = (each for each in moments if each is not None and each >= course.back_ns)
    return (min(later, default=course.ended_ns) - course.back_ns) / 1e9


def _waited_s(course: Course, of: Request) -> float:
    """Seconds that a request waited for its answer, less what a pause held up. Without an answer:
    the deadline where it passed, 0 where the connection broke."""
    if of.returned_ns is None:
        return DEADLINE_S if of.code == "timeout" else 0.0
    began_ns = of.invoked_ns
    if course.holds_answers and of.returned_ns > course.broken_ns:
        began_ns = max(began_ns, min(course.back_ns, of.returned_ns))
    return (of.returned_ns - began_ns) / 1e9


def verdict(of: Mapping[str, float]) -> str:
    """In words: whether anything was lost, came twice, or broke another rule."""
    named = {"lost": "lost", "duplicated": "delivered twice"}
    parts = [f"{of[name]:.0f} {what}" for name, what in named.items() if of[name]]
    parts += [counted(int(of["others"]), "other violation")] if of["others"] else []
    return f"VIOLATED: {', '.join(parts)}" if parts else "nothing lost, nothing delivered twice"


def complaints(of: Mapping[str, float]) -> list[str]:
    """Which of its promises the service did not keep, by a trial's extras."""
    known = [(of.get(name, 0.0), most, text) for name, most, text in _PROMISES]
    return [text.format(value) for value, most, text in known if value > most]


@dataclass(frozen=True)
class Outcome:
    """The results of all blocks of a cell."""

    row: Row
    measured: Sequence[Measurement]

    def counts(self, column: str) -> bool:
        """Whether all blocks have this column: blocks of an older build may lack it."""
        return all(column in each.extras for each in self.measured)

    def total(self, column: str) -> float:
        """The sum over the blocks."""
        return sum(each.extras[column] for each in self.measured)

    def worst(self, column: str) -> float:
        """The largest value of any block; 0 without blocks."""
        return max((each.extras[column] for each in self.measured), default=0.0)

    @property
    def verdict(self) -> str:
        """The verdict over all blocks."""
        return verdict({name: self.total(name) for name in ("lost", "duplicated", "others")})

    @property
    def complaints(self) -> list[str]:
        """The complaints of all blocks."""
        return [each for block in self.measured for each in complaints(block.extras)]


def outcomes(rows: Iterable[Row]) -> list[Outcome]:
    """The outcome of each measured row; a violation voids a row's other numbers, but not these."""
    return [
        Outcome(row, known)
        for row in rows
        if (known := [each for each in row.measurements if "violations" in each.extras])
    ]
