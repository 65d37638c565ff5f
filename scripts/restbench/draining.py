"""When a load has ended: its clients are gone, and the service is still at work for them."""

from __future__ import annotations

import time
from collections.abc import Iterator

from restbench import monitor
from restbench.phases import spent_on
from restbench.service import Service

#: A service that works longer for clients that are gone is started anew. Waiting is better: a JVM
#: that has just started takes as long to be warm again, and is colder for many cells.
DRAIN_TIMEOUT_S = 20.0
#: A pace is looked at over this long at least.
PACE_S = 3.0
POLL_S = 0.1


@spent_on("drain")
def drained(service: Service) -> bool:
    """Wait until no request is in flight; False when some still are after DRAIN_TIMEOUT_S."""
    return any(left == 0 for _, left in _looks(service))


@spent_on("drain")
def drained_or_hopeless(service: Service) -> bool:
    """The same before a service that is not drained is started anew: no longer than until the pace
    tells that it would not be. One that others run cannot be started anew, and is waited for."""
    first: tuple[float, float] | None = None
    for now_s, left in _looks(service):
        if left == 0:
            return True
        if left is None or service.attached:
            continue
        first = first or (now_s, left)
        if _hopeless(now_s - first[0], first[1] - left, left, DRAIN_TIMEOUT_S - now_s):
            return False
    return False


def _looks(service: Service) -> Iterator[tuple[float, float | None]]:
    """Seconds since the load ended, and the requests in flight then; None, no answer in time, is
    anything but idle."""
    began_s = time.monotonic()
    while (now_s := time.monotonic() - began_s) < DRAIN_TIMEOUT_S:
        yield now_s, monitor.requests_in_flight(service)
        time.sleep(POLL_S)


def _hopeless(taken_s: float, ended: float, left: float, time_left_s: float) -> bool:
    """Whether what is left would take more than twice the time that is left: of requests that share
    the cores a part is done already, on average half. Where none has ended there is no pace."""
    return taken_s >= PACE_S and ended > 0 and left * taken_s > 2 * ended * time_left_s
