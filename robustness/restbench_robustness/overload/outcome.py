"""What became of all requests of a load, as one process tells it to another."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.mix import Request

#: Enough to see what went wrong without drowning in it.
EXAMPLES = 5
#: Verdicts that no load may ever see.
NEVER = (Verdict.WRONG, Verdict.HUNG)


@dataclass
class Outcome:
    """Counts of a load. Moments are of the machine's monotonic clock, the same in all processes."""

    counts: Counter[str] = field(default_factory=Counter)
    """By verdict."""
    kinds: Counter[str] = field(default_factory=Counter)
    """By kind of request and verdict, `low right`."""
    held_back: int = 0
    """Arrivals of an open load that found no connection free."""
    examples: list[str] = field(default_factory=list)
    """The first answers that were neither right nor refused."""
    slowest_s: float = 0.0
    late_s: float = 0.0
    """The longest that an arrival was noticed after it was due: the client's own fault."""
    began_s: float = 0.0
    last_sent_s: float = 0.0
    last_answer_s: float = 0.0

    @property
    def sent(self) -> int:
        """Requests sent."""
        return sum(self.counts.values())

    @property
    def sent_per_s(self) -> float:
        """Requests sent a second, over the time in which any were sent."""
        return self.sent / max(self.last_sent_s - self.began_s, 1e-3)

    @property
    def offered_per_s(self) -> float:
        """Requests a second that were due, those that found every connection waiting included."""
        return (self.sent + self.held_back) / max(self.last_sent_s - self.began_s, 1e-3)

    def note(self, request: Request, verdict: Verdict, took_s: float, shown: str) -> None:
        """Count one request; `shown` says what came where that is worth to be seen."""
        self.counts[verdict] += 1
        self.kinds[f"{request.kind} {verdict}"] += 1
        self.slowest_s = max(self.slowest_s, took_s)
        if verdict not in (Verdict.RIGHT, Verdict.REFUSED) and len(self.examples) < EXAMPLES:
            self.examples.append(f"{request.kind} {verdict} after {took_s:.1f} s: {shown}")

    def number_of(self, *verdicts: Verdict) -> int:
        """How many requests ended in one of these ways."""
        return sum(self.counts[verdict] for verdict in verdicts)

    def sentence(self) -> str:
        """All counts in a line, and the first examples of what should not have been."""
        counted = ", ".join(f"{n} {v}" for v, n in sorted(self.counts.items(), key=lambda e: -e[1]))
        return "; ".join([f"{self.sent} sent: {counted}", *self.examples])

    def write(self, path: Path) -> None:
        """Whole or not at all: the reader waits for the file."""
        temporary = path.with_suffix(".part")
        temporary.write_text(json.dumps(vars(self)), encoding="utf-8")
        temporary.replace(path)


def read(path: Path) -> Outcome:
    """What another process has written."""
    told = json.loads(path.read_text(encoding="utf-8"))
    told["counts"], told["kinds"] = Counter(told["counts"]), Counter(told["kinds"])
    return Outcome(**told)
