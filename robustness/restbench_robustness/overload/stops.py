"""Graceful stop: SIGTERM finishes what is in flight, refuses what is new, and the end is clean."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import psutil

from restbench.cell import Shape
from restbench_robustness.overload import bad_clients
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.mix import ones
from restbench_robustness.overload.probes import Probes
from restbench_robustness.overload.promises import Findings
from restbench_robustness.overload.tree import lives
from restbench_robustness.overload.under_test import UnderTest
from restbench_robustness.overload.waiting import seconds_until

#: A good part of a second each, so that they are in flight when the signal comes.
LONG = {
    "java": Shape(rows=700, inner=700, columns=700),
    "python": Shape(rows=600, inner=200, columns=50),
}
REQUESTS = 4
#: New requests may still be taken for a moment after the signal.
REFUSES_WITHIN_S = 1.0
MARGIN_S = 5.0
LONG_S = 120.0


@dataclass(frozen=True)
class Stop:
    """How to stop a service."""

    what: str
    signals: tuple[signal.Signals, ...]
    """The first stops it; those after it must do no harm."""
    slow_senders: int = 0


STOPS = (
    Stop("SIGTERM", (signal.SIGTERM,)),
    Stop("SIGTERM, SIGTERM, SIGINT", (signal.SIGTERM, signal.SIGTERM, signal.SIGINT)),
    Stop("SIGTERM beside slow senders", (signal.SIGTERM,), slow_senders=3),
    Stop("all of these", (signal.SIGTERM, signal.SIGTERM, signal.SIGINT), slow_senders=3),
)


def stopped(under: UnderTest, strategy: str, stop: Stop) -> Findings:
    """Stop a service that has long requests in flight; it is gone afterwards."""
    findings = Findings(f"{under.name} {strategy}: stop by {stop.what}")
    under.normal(strategy)
    everyone = [psutil.Process(pid) for pid in under.service.pids()]
    request = ones("long", LONG[under.name]).request(1)
    address, path = under.service.address, f"/matrix/{strategy}"
    with (
        ThreadPoolExecutor(REQUESTS) as users,
        bad_clients.crowd(bad_clients.slow_body, stop.slow_senders, address, path),
    ):
        answers = [users.submit(under.verdict, strategy, request, LONG_S) for _ in range(REQUESTS)]
        _await_in_flight(under, REQUESTS + stop.slow_senders)
        unanswered = sum(not answer.done() for answer in answers)
        began = time.monotonic()
        with Probes(lambda number: under.normal(strategy, number)) as probes:
            ended_s = _signalled(under.service.processes[0], stop.signals)
        _judge_answers(findings, answers, unanswered)
    _judge_refusals(findings, probes, began + REFUSES_WITHIN_S)
    _judge_end(findings, under, everyone, ended_s)
    return findings


def _await_in_flight(under: UnderTest, number: int) -> None:
    """The service may be too busy to say how many there are; it is asked again then."""

    def there() -> bool:
        try:
            return under.in_flight() >= number
        except (OSError, http.client.HTTPException):
            return False

    seconds_until(there, LONG_S / 4)


def _signalled(root: subprocess.Popen[bytes], signals: tuple[signal.Signals, ...]) -> float | None:
    """Seconds from the first signal to the end of the process that was started."""
    began = time.monotonic()
    for each in signals:
        root.send_signal(each)
        time.sleep(0.2)
    if seconds_until(lambda: root.poll() is not None, LONG_S) is None:
        return None
    return time.monotonic() - began


def _judge_answers(findings: Findings, answers: list[Future[Verdict]], unanswered: int) -> None:
    verdicts = [answer.result() for answer in answers]
    right = verdicts.count(Verdict.RIGHT)
    findings.judge(
        "requests in flight are finished",
        f"{REQUESTS} right",
        f"{', '.join(verdicts)}; {unanswered} were in flight at the signal",
        right == REQUESTS and unanswered > 0,
    )


def _judge_refusals(findings: Findings, probes: Probes, since_s: float) -> None:
    late = [probe.verdict for probe in probes.seen if probe.began_s >= since_s]
    findings.judge(
        f"new requests from {REFUSES_WITHIN_S:.0f} s after the signal on",
        "refused or 503, at once",
        ", ".join(f"{late.count(v)} {v}" for v in sorted(set(late))) or "it had ended by then",
        set(late) <= {Verdict.LOST, Verdict.REFUSED},
    )


def _judge_end(
    findings: Findings, under: UnderTest, everyone: list[psutil.Process], ended_s: float | None
) -> None:
    findings.within("ended", ended_s, under.limit("stopTimeoutSeconds") + MARGIN_S)
    code = under.service.processes[0].poll()
    findings.judge("exit code", "0", str(code), code == 0)
    gone_s = seconds_until(lambda: not any(map(lives, everyone)), MARGIN_S)
    findings.within("no process left", gone_s, MARGIN_S)
    findings.judge("its port is free", "yes", "yes" if _free(under) else "no", _free(under))


def _free(under: UnderTest) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(under.service.address)
        except OSError:
            return False
    return True
