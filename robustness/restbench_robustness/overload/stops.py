"""Graceful stop: SIGTERM finishes what is in flight, refuses what is new, and the end is clean."""

from __future__ import annotations

import asyncio
import signal

from restbench.experiment.cell import Shape

from .exchange import Verdict
from .mix import valid
from .promises import Findings
from .slow import clients, crowd
from .subject import Subject, lives, seconds_until

#: A good part of a second each, so that they are in flight when the signal comes.
LONG = {
    "java": Shape(rows=500, inner=500, columns=500),
    "python": Shape(rows=600, inner=200, columns=50),
}
REQUESTS = 4
SLOW_SENDERS = 3
MARGIN_S = 5.0
LONG_S = 120.0
SIGNALS = (signal.SIGTERM, signal.SIGTERM, signal.SIGINT)
"""The first stops it; those after it must do no harm."""
CODES = (0, 128 + signal.SIGTERM)
"""Of an end in order; a JVM tells that TERM was its cause."""


async def stopped(subject: Subject, strategy: str) -> Findings:
    """Stop a service that has long requests in flight and slow senders at its front."""
    findings = Findings(f"{subject.name} {strategy}: stop by {', '.join(s.name for s in SIGNALS)}")
    await subject.normal(strategy)
    everyone, root = subject.everyone(), subject.service.processes[0]
    request = valid("long", LONG[subject.name]).request(1)
    body = clients(f"/matrix/{strategy}")["body"]
    async with crowd(body, SLOW_SENDERS, subject.address):
        asked = [
            asyncio.create_task(subject.ask(strategy, request, LONG_S)) for _ in range(REQUESTS)
        ]
        await seconds_until(lambda: _are_in_flight(subject), LONG_S / 4)
        unanswered = sum(not each.done() for each in asked)
        probing = asyncio.create_task(subject.probed(strategy, lambda: root.poll() is None, LONG_S))
        for each in SIGNALS:
            root.send_signal(each)
            await asyncio.sleep(0.2)
        ended_s = await seconds_until(lambda: root.poll() is not None, LONG_S)
        answers = await asyncio.gather(*asked)
        probes = await probing
    verdicts = [answer.verdict for answer in answers]
    findings.judge(
        "requests in flight are finished",
        f"{REQUESTS} right",
        f"{', '.join(verdicts)}; {unanswered} were in flight at the signal",
        set(verdicts) == {Verdict.RIGHT} and unanswered > 0,
    )
    # The front says 099 where nobody listens any more, and waits while the server only listens.
    findings.judge(
        "new requests are still served, or refused",
        "right, 503 or 099",
        probes.sentence(),
        set(probes.counts) <= {Verdict.RIGHT, Verdict.LOST, Verdict.REFUSED, Verdict.FAULT},
    )
    findings.within("ended", ended_s, subject.limit("stopTimeoutSeconds") + MARGIN_S)
    findings.judge("exit code", f"one of {CODES}", str(root.poll()), root.poll() in CODES)
    gone_s = await seconds_until(lambda: not any(map(lives, everyone)), MARGIN_S)
    findings.within("no process left", gone_s, MARGIN_S)
    return findings


async def _are_in_flight(subject: Subject) -> bool:
    return await subject.in_flight() >= REQUESTS
