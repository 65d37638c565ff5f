"""`make fuzz`: properties of both services, on messages that Hypothesis draws.

    python -m restbench_robustness.fuzz --bodies 100000 --seed 1

Every answer of every service is what the oracle says; then operations on queues, a fifth as many,
on a database of ours; then envelopes, a tenth as many, to the services that have SOAP: it says what
REST says of the same matrices. The same number and seed give
the same messages; a difference is made as small as Hypothesis can.

Exit codes: 0 no difference, 1 a difference, 3 a service does not start, 130 interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure

from restbench import ROOT
from restbench.deploy import service
from restbench.failures import Failure

from . import soap
from .bodies import MESSAGE_SOURCES, SOURCES, Source
from .comparison import Bench, Outcome, Target
from .oracle import Limits, MessagesOracle
from .services import BODY_LIMIT_BYTES, left_over, make_queues, running_services, target
from .wire import Message, Route

TIMEOUT_S = 60.0
"""A service that is silent for so long hangs; a busy machine needs seconds for a large product."""
PROGRESS_S = 5.0
MOST_FINDINGS = 10
"""Batches with a difference: where so much is wrong, more of it tells nothing new."""
KERNELS = ("loops", "native")
FOLDER = ROOT / ".cache" / "fuzz"


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

    bodies: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    routes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, source: str, message: Message, routes: dict[str, Route], it: Outcome) -> None:
        """One message more."""
        self.bodies += 1
        self.sources[source] += 1
        answered = it.verdict.code if it.verdict else "GET"
        self.codes[answered if message.is_http else "not HTTP"] += 1
        self.routes.update(f"{name} {it.strategy} {it.kernel}" for name, it in routes.items())

    def __str__(self) -> str:
        """Bodies by code, source and route."""
        told = {"code": self.codes, "source": self.sources, "strategy": self.routes}
        return "\n".join(
            [f"{self.bodies} bodies, {len(self.findings)} differences"]
            + [
                f"by {name}: " + ", ".join(f"{key} {number}" for key, number in sorted(it.items()))
                for name, it in told.items()
            ]
        )


class Hang(BaseException):
    """No answer came in time. Not made smaller: each attempt would cost that time again.

    No Exception, so Hypothesis lets it through at once.
    """


def campaign(  # noqa: PLR0913 - the last two are for tests
    bench: Bench,
    bodies: int,
    campaign_seed: int,
    *,
    tally: Tally,
    sources: Sequence[Source] = SOURCES,
    most_findings: int = MOST_FINDINGS,
) -> Iterator[Tally]:
    """Batches of each source in turn until there were enough bodies or findings.

    The tally after each batch. A longer campaign begins with the messages of a shorter one.
    """
    for cycle in count():
        for source in (it for it in sources if (cycle + 1) % it.every == 0):
            if tally.bodies >= bodies or len(tally.findings) >= most_findings:
                return
            wanted = min(source.batch_bodies, bodies - tally.bodies)
            found = _batch(bench, source, wanted, campaign_seed, cycle, tally)
            known = {it.message for it in tally.findings}
            tally.findings += [found] if found and found.message not in known else []
            yield tally


def _turned(strategies: Sequence[str], cycle: int) -> list[str]:
    """Another one first each time: Hypothesis always tries what comes first."""
    start = cycle % len(strategies)
    return [*strategies[start:], *strategies[:start]]


def _batch(  # noqa: PLR0913, PLR0917 - what it is a batch of
    bench: Bench, source: Source, bodies: int, campaign_seed: int, cycle: int, tally: Tally
) -> Finding | None:
    """The property of one source; the first wrong answer is made small."""
    wrong: list[tuple[Message, dict[str, Route], Outcome]] = []
    routes_of = st.fixed_dictionaries(
        {
            it.name: st.builds(
                Route, st.sampled_from(_turned(it.strategies, cycle)), st.sampled_from(KERNELS)
            )
            for it in bench.targets
        }
    )

    @seed(f"{campaign_seed}/{cycle}/{source.name}")
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
    @given(source.messages, routes_of)
    def every_answer_is_right(message: Message, routes: dict[str, Route]) -> None:
        outcome = bench.judge(message, routes)
        if not wrong:  # what is sent to make a finding smaller is not counted
            tally.add(source.name, message, routes, outcome)
        if outcome.differences:
            wrong.append((message, routes, outcome))
            raise Hang if outcome.hangs else AssertionError

    try:
        every_answer_is_right()
    except (AssertionError, Hang, FlakyFailure) as error:
        repeats = not isinstance(error, FlakyFailure)
        if not wrong:
            raise
        return Finding(source.name, *wrong[-1 if repeats else 0], repeats)
    return None


def shown(finding: Finding, folder: Path, targets: list[Target]) -> str:
    """What was wrong, and a line that sends the message again as it goes over the wire."""
    folder.mkdir(parents=True, exist_ok=True)
    message, verdict = finding.message, finding.outcome.verdict
    digest = hashlib.sha256(repr((message.head(Route("", ""), ""), message.body)).encode())
    name = f"{verdict.code if verdict else 'http'}-{digest.hexdigest()[:8]}"
    lines = [f"{finding.source}: {name}" + ("" if finding.repeats else " (not every time)")]
    lines += [f"  {difference}" for difference in finding.outcome.differences]
    for it in targets:
        raw = folder / f"{name}.{it.name}.http"
        raw.write_bytes(message.head(finding.routes[it.name], it.host) + message.payload())
        lines.append(f"  nc -N {it.host} {it.port} < {shlex.quote(str(raw))}")
    return "\n".join(lines)


def fuzz(services: list[service.Service], bodies: int, campaign_seed: int) -> Tally:
    """Campaigns against running services; differences are printed as they are found."""
    tally, limits = Tally(), Limits(BODY_LIMIT_BYTES)

    def of(workload: str, sources: Sequence[Source], more: int, *judged: Any) -> None:
        targets = [it for it in (target(each, workload) for each in services) if it.strategies]
        if not targets:
            return
        wanted, told, shown_s = tally.bodies + max(1, more), len(tally.findings), time.monotonic()
        with closing(Bench(targets, limits, TIMEOUT_S, *judged)) as bench:
            for _ in campaign(bench, wanted, campaign_seed, tally=tally, sources=sources):
                for finding in tally.findings[told:]:
                    print(shown(finding, FOLDER / f"seed-{campaign_seed}", targets), flush=True)
                told = len(tally.findings)
                if time.monotonic() - shown_s >= PROGRESS_S:
                    shown_s = time.monotonic()
                    print(f"{tally.bodies} of {wanted} bodies, {told} differences", flush=True)

    try:
        of("matrix", SOURCES, bodies)
        for each in services:
            make_queues(each)
        of("messages", MESSAGE_SOURCES, bodies // 5, MessagesOracle)
        of("soap/matrix", soap.SOURCES, bodies // 10, soap.SoapOracle, soap.unlike)
    except KeyboardInterrupt:
        print(f"interrupted\n{tally}", flush=True)
        raise
    return tally


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--bodies", type=int, default=100_000, help="how many (N)")
    parser.add_argument("--seed", type=int, default=1, help="the same gives the same (SEED)")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="restbench-fuzz-") as folder:
            with running_services(Path(folder)) as services:
                tally = fuzz(services, options.bodies, options.seed)
                leaks = left_over(services)
            print("\n".join([str(tally), *leaks]))
            return 1 if tally.findings or leaks else 0
    except Failure as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
