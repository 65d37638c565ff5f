"""`make fuzz`: tests properties of both services on messages that Hypothesis draws.

    python -m restbench_robustness.fuzz --bodies 100000 --seed 1

Each answer of each service must be the one that the oracle gives. The first campaign sends
matrices. The second sends a fifth as many operations on queues, with a database of its own. The
third sends a tenth as many SOAP envelopes to the services that offer SOAP; the answer must agree
with that of REST for the same matrices. The same number and seed give the same messages. Hypothesis
shrinks a message that shows a difference.

Exit codes: 0 no difference, 1 a difference, 3 a service does not start or a benchmark runs, 130
interrupted.
"""

from __future__ import annotations

import hashlib
import random
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure

from restbench import ROOT, cli
from restbench.deploy import service
from restbench.failures import counted
from restbench.machine import machine_lock, watch

from . import soap
from .bodies import MESSAGE_SOURCES, SOURCES, Source
from .comparison import Bench, Outcome, Target
from .oracle import Limits, MessagesOracle
from .services import BODY_LIMIT_BYTES, left_over, make_queues, running_services, target
from .wire import Message, Route

TIMEOUT_S = 60.0
"""Seconds of silence after which a service hangs; a busy machine needs some for a large product."""
MOST_FINDINGS = 10
"""Number of batches with a difference after which a campaign ends: more would show nothing new."""
KERNELS = ("loops", "native")
FOLDER = ROOT / ".cache" / "fuzz"


@dataclass(frozen=True)
class Finding:
    """The smallest message found that was answered wrongly."""

    source: str
    message: Message
    routes: dict[str, Route]
    outcome: Outcome
    repeats: bool
    """False where the same message was answered rightly when it was sent again."""


@dataclass
class Tally:
    """Counts of the messages that were sent, and the wrong answers among them."""

    bodies: int = 0
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Counts by kind and name: the kinds are `code`, `source` and `strategy` (with its kernel)."""
    findings: list[Finding] = field(default_factory=list)

    def add(self, source: str, message: Message, routes: dict[str, Route], it: Outcome) -> None:
        """Count one message, its routes and its outcome."""
        self.bodies += 1
        answered = it.verdict.code if it.verdict else "GET"
        self.seen["code", answered if message.is_http else "not HTTP"] += 1
        self.seen["source", source] += 1
        for name, route in routes.items():
            self.seen["strategy", f"{name} {route.strategy} {route.kernel}"] += 1

    def __str__(self) -> str:
        """The total, and a line for each kind of count."""
        lines = [f"{self.bodies} bodies, {counted(len(self.findings), 'difference')}"]
        for kind, of_it in groupby(sorted(self.seen.items()), lambda it: it[0][0]):
            counts = ", ".join(f"{name} {number}" for (_, name), number in of_it)
            lines.append(f"by {kind}: {counts}")
        return "\n".join(lines)


class Hang(BaseException):
    """No answer arrived within the timeout. It is a BaseException, so that Hypothesis does not
    shrink the message: each attempt would take the timeout again."""


def campaign(  # noqa: PLR0913, PLR0917 - the parameters of a campaign
    bench: Bench,
    sources: Sequence[Source],
    bodies: int,
    campaign_seed: int,
    tally: Tally,
    most_findings: int = MOST_FINDINGS,
) -> Iterator[Finding]:
    """Send batches of each source in turn until there are enough bodies or findings; yield these.

    A longer campaign begins with the messages of a shorter one.
    """
    end = tally.bodies + bodies
    for cycle in count():
        for source in sources:
            wanted = min(source.batch_bodies, end - tally.bodies)
            if wanted <= 0 or len(tally.findings) >= most_findings:
                return
            found = _batch(bench, source, wanted, f"{campaign_seed}/{cycle}/{source.name}", tally)
            if found and found.message not in [it.message for it in tally.findings]:
                tally.findings.append(found)
                yield found
        differences = counted(len(tally.findings), "difference")
        print(f"{tally.bodies} of {end} bodies, {differences}", flush=True)


def _batch(
    bench: Bench, source: Source, bodies: int, batch_seed: str, tally: Tally
) -> Finding | None:
    """Test one batch of a source. Returns the first wrong answer, shrunk, or None."""
    wrong: list[tuple[Message, dict[str, Route], Outcome]] = []
    chance = random.Random(batch_seed)  # noqa: S311 - no secret
    routes_of = st.fixed_dictionaries(
        {
            # Hypothesis always tries the first element: the order differs between batches.
            it.name: st.builds(
                Route,
                st.sampled_from(chance.sample(it.strategies, len(it.strategies))),
                st.sampled_from(KERNELS),
            )
            for it in bench.targets
        }
    )

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
    @given(source.messages, routes_of)
    def every_answer_is_right(message: Message, routes: dict[str, Route]) -> None:
        outcome = bench.judge(message, routes)
        if not wrong:  # messages sent while a finding is shrunk are not counted
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
    """The differences of a finding, and shell commands that send the same bytes again."""
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


def fuzz(services: list[service.Service], bodies: int, campaign_seed: int, tally: Tally) -> None:
    """Run all campaigns against running services; print the differences as they are found."""

    def of(workload: str, sources: Sequence[Source], number: int, *judged: Any) -> None:
        targets = [it for it in (target(each, workload) for each in services) if it.strategies]
        if not targets:
            return
        with closing(Bench(targets, Limits(BODY_LIMIT_BYTES), TIMEOUT_S, *judged)) as bench:
            for finding in campaign(bench, sources, max(1, number), campaign_seed, tally):
                print(shown(finding, FOLDER / f"seed-{campaign_seed}", targets), flush=True)

    of("matrix", SOURCES, bodies)
    for each in services:
        make_queues(each)
    of("messages", MESSAGE_SOURCES, bodies // 5, MessagesOracle)
    of("soap/matrix", soap.SOURCES, bodies // 10, soap.SoapOracle, soap.unlike)


def main(
    bodies: Annotated[int, typer.Option(min=1, help="how many (N)")] = 100_000,
    campaign_seed: Annotated[
        int, typer.Option("--seed", help="the same gives the same (SEED)")
    ] = 1,
) -> None:
    """Properties of both services, on messages that are drawn. Exit code 1 where one is answered
    wrongly, or a request is still in flight at the end."""
    machine_lock.take()
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="restbench-fuzz-") as name:
        folder = Path(name)
        watch.at_end("remove", folder)
        folder.chmod(0o711)  # the database of root runs as another user
        with running_services(folder) as services:
            try:
                fuzz(services, bodies, campaign_seed, tally)
            finally:
                print(tally, flush=True)
            leaks = left_over(services)
    for leak in leaks:
        print(leak)
    if tally.findings or leaks:
        raise typer.Exit(1)


if __name__ == "__main__":
    cli.main(cli.single_command_app(main))
