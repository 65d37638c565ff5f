"""Misbehaving clients free what they hold within the timeout, and others are served meanwhile."""

from __future__ import annotations

import http.client
import itertools
import time
from dataclasses import dataclass

from restbench_robustness.overload import bad_clients
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.bad_clients import Client, Make
from restbench_robustness.overload.probes import Probes
from restbench_robustness.overload.promises import Findings
from restbench_robustness.overload.under_test import UnderTest
from restbench_robustness.overload.waiting import seconds_until

#: What a timeout may take beyond what is set: the services look at their clocks now and then.
MARGIN_S = 5.0
#: Clients of a kind at once: more than the files and requests that a few probes hold.
SOME = 24
#: Of those whose answers have megabytes: to compute these is not what is timed.
FEW = 12
PROBES_FILES = 8
PROBES_REQUESTS = 4
LONGER_S = 30.0


@dataclass(frozen=True)
class Hardship:
    """A kind of client, and the setting (in seconds) after which it may hold nothing any more."""

    what: str
    make: Make
    timeout: str | None
    """None where the service can know at once."""
    number: int = SOME
    good: tuple[Verdict, ...] = (Verdict.RIGHT,)
    """What normal requests get meanwhile."""


HARDSHIPS = (
    Hardship("1 byte/s of head", bad_clients.slow_head, "receiveTimeoutSeconds"),
    Hardship("1 byte/s of body", bad_clients.slow_body, "receiveTimeoutSeconds"),
    Hardship("1 byte/s in chunks", bad_clients.slow_chunks, "receiveTimeoutSeconds"),
    Hardship("connected, silent", bad_clients.silent, "receiveTimeoutSeconds"),
    Hardship("vanished in the body, no FIN", bad_clients.deaf_in_body, "receiveTimeoutSeconds"),
    Hardship("closed in the body", bad_clients.gone_in_body, None),
    Hardship("answer never read", bad_clients.never_reading, "sendTimeoutSeconds", FEW),
    Hardship("vanished in answer, no FIN", bad_clients.deaf_in_answer, "sendTimeoutSeconds", FEW),
    Hardship("reset in the answer", bad_clients.reset_in_answer, None, FEW),
)


def endured(under: UnderTest, strategy: str, hardships: tuple[Hardship, ...]) -> Findings:
    """Each hardship after the other, with normal requests meanwhile."""
    findings = Findings(f"{under.name} {strategy}: slow and vanished clients")
    for hardship in hardships:
        _endure(findings, under, strategy, hardship)
    return findings


def beyond_limit(under: UnderTest) -> Hardship:
    """More slow senders than may be in flight: others are refused perhaps, but at once."""
    return Hardship(
        "1 byte/s of body, more than may be in flight",
        bad_clients.slow_body,
        "receiveTimeoutSeconds",
        under.limit("maxInFlight") + SOME,
        (Verdict.RIGHT, Verdict.REFUSED),
    )


def every_kind() -> Hardship:
    """Some of each kind at once: quicker than one after the other, and it does not say which."""
    makes = itertools.cycle(hardship.make for hardship in HARDSHIPS)

    def next_kind(address: bad_clients.Address, path: str) -> Client:
        return next(makes)(address, path)

    return Hardship("every kind", next_kind, "receiveTimeoutSeconds", 3 * len(HARDSHIPS))


def _endure(findings: Findings, under: UnderTest, strategy: str, hardship: Hardship) -> None:
    under.normal(strategy)
    files = under.tree().files
    bound_s = (under.limit(hardship.timeout) if hardship.timeout else 0) + MARGIN_S
    address, path = under.service.address, f"/matrix/{strategy}"
    with (
        Probes(lambda number: under.normal(strategy, number)) as probes,
        bad_clients.crowd(hardship.make, hardship.number, address, path) as clients,
    ):
        drip = _Drip(clients)
        freed_s = seconds_until(lambda: drip() and _is_free(under, files), bound_s + LONGER_S)
    findings.within(f"{hardship.number} of {hardship.what}: all freed", freed_s, bound_s)
    findings.judge(
        "    normal requests meanwhile",
        " or ".join(hardship.good),
        probes.sentence(),
        bool(probes.seen) and set(probes.counts()) <= set(hardship.good),
    )


class _Drip:
    """Lets every client send its next byte once a second; called often, always true."""

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients
        self._next_s = time.monotonic()

    def __call__(self) -> bool:
        if time.monotonic() >= self._next_s:
            self._next_s += 1.0
            for client in self._clients:
                client.send_one_byte()
        return True


def _is_free(under: UnderTest, files: int) -> bool:
    """Whether no more is held than the probes need."""
    try:
        in_flight = under.in_flight()
    except (OSError, http.client.HTTPException):
        return False
    return in_flight <= PROBES_REQUESTS and under.tree().files <= files + PROBES_FILES
