"""Bodies from every source to every strategy and kernel in turn, until there were enough."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import FlakyFailure

from .bodies.sources import SOURCES, Source
from .comparison import Outcome, Target
from .message import Message, Route

KERNELS = ("loops", "native")
MOST_FINDINGS = 10
"""Batches with a difference: where so much is wrong, more of it tells nothing new."""


@dataclass(frozen=True)
class Finding:
    """The smallest message that was found to be answered wrongly."""

    source: str
    message: Message
    routes: dict[str, Route]
    outcome: Outcome
    repeats: bool
    """False: the same message was answered rightly when it was sent again."""


@dataclass
class Tally:
    """What was sent."""

    started_s: float = field(default_factory=time.monotonic)
    bodies: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    routes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    failures: int = 0
    """Batches in which a difference was found, the same one too."""
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    """Of all messages: equal for equal N and SEED."""

    @property
    def elapsed_s(self) -> float:
        """Since the first message."""
        return time.monotonic() - self.started_s

    def count(
        self, source: str, message: Message, routes: dict[str, Route], found: Outcome
    ) -> None:
        """One message more."""
        self.bodies += 1
        self.sources[source] += 1
        self.codes[_outcome(message, found)] += 1
        self.routes.update((name, it.strategy, it.kernel) for name, it in routes.items())
        self.digest.update(message.identity())

    def add(self, finding: Finding) -> None:
        """A finding, once; the same message may be found wrong under many strategies."""
        self.failures += 1
        if finding.message not in [it.message for it in self.findings]:
            self.findings.append(finding)


class Judge(Protocol):
    """What sends a message to services and judges their answers; `trial.Bench` is one."""

    targets: list[Target]

    def judge(self, message: Message, routes: Mapping[str, Route], /) -> Outcome:
        """Send a message to every service, each on its route."""
        ...


class Difference(AssertionError):
    """An answer is wrong; Hypothesis looks for a smaller message for which one is."""


class Hang(BaseException):
    """No answer came in time. Not made smaller: each attempt would cost that time again.

    No Exception, so Hypothesis lets it through at once.
    """


class Campaign:
    """A seeded run over the table of sources."""

    def __init__(
        self, bench: Judge, bodies: int, campaign_seed: int, most_findings: int = MOST_FINDINGS
    ) -> None:
        """`bodies` messages in all; the same number and seed give the same messages."""
        self.tally = Tally()
        self._bench = bench
        self._wanted, self._most_findings = bodies, most_findings
        self._seed = campaign_seed

    def run(
        self,
        sources: Sequence[Source] = SOURCES,
        after_batch: Callable[[Tally], None] = lambda _: None,
    ) -> Tally:
        """Send them all, or stop after the most findings; `after_batch` may show how far it is."""
        for number, (source, routes) in enumerate(self._batches(sources)):
            if self.tally.bodies >= self._wanted or self.tally.failures >= self._most_findings:
                return self.tally
            bodies = min(source.batch_bodies, self._wanted - self.tally.bodies)
            self._batch(source, routes, bodies, f"{self._seed}/{number}")
            after_batch(self.tally)
        return self.tally

    def _batches(self, sources: Sequence[Source]) -> Iterator[tuple[Source, dict[str, Route]]]:
        """Every source meets every strategy and kernel of each service in turn, for ever."""
        turns = {source.name: itertools.count(place) for place, source in enumerate(sources)}
        for turn in itertools.count():
            for source in sources:
                if turn % max(it.batches for it in sources) < source.batches:
                    number = next(turns[source.name])
                    yield (
                        source,
                        {it.name: _route(it.strategies, number) for it in self._bench.targets},
                    )

    def _batch(
        self, source: Source, routes: dict[str, Route], bodies: int, batch_seed: str
    ) -> None:
        """Bodies of one source on one route; the first wrong answer is made small and kept."""
        wrong: list[tuple[Message, Outcome]] = []

        @seed(batch_seed)
        @settings(
            max_examples=bodies,
            database=None,
            deadline=None,
            verbosity=Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(source.messages)
        def every_answer_is_right(message: Message) -> None:
            outcome = self._bench.judge(message, routes)
            if not wrong:  # what is sent to make a finding smaller is not counted
                self.tally.count(source.name, message, routes, outcome)
            if outcome.differences:
                wrong.append((message, outcome))
                raise Hang if outcome.hangs else Difference

        try:
            every_answer_is_right()
        except (Difference, Hang, FlakyFailure) as error:
            repeats = not isinstance(error, FlakyFailure)
            message, outcome = wrong[-1 if repeats else 0]
            self.tally.add(Finding(source.name, message, routes, outcome, repeats))


def _route(strategies: tuple[str, ...], number: int) -> Route:
    kernel, strategy = divmod(number, len(strategies))
    return Route(strategies[strategy], KERNELS[kernel % len(KERNELS)])


def _outcome(message: Message, outcome: Outcome) -> str:
    if not message.is_http:
        return "not HTTP"
    return outcome.verdict.code if outcome.verdict else "GET"
