"""Starts the services under test with a database of their own, and checks them for leaks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from restbench.deploy import service
from restbench.deploy.database import Database, fresh
from restbench.drive.monitor import parse_metrics
from restbench.drive.queue_client import QueueCalls
from restbench.experiment.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.machine import clock, ports

from .comparison import Target
from .oracle.message_answers import EMPTY, FULL, OF_THE_CAMPAIGN

BODY_LIMIT_BYTES = 8 * 1024 * 1024
"""Body limit of the services: low enough that error 007 occurs often, high enough for numbers of
several megabytes."""
SETTINGS = {"RESTBENCH_MAX_BODY_BYTES": str(BODY_LIMIT_BYTES)}
IDLE_S = 120.0
"""Seconds after the last answer within which no request may be in flight any more. The request of a
client that went away takes a moment to end, longer on a busy machine."""
SERVICES: tuple[ServiceName, ...] = ("java", "python")
IN_FLIGHT = "restbench_requests_in_flight"


@contextmanager
def running_services(
    folder: Path, settings: Mapping[str, str] = SETTINGS
) -> Iterator[list[service.Service]]:
    """Both services, running on JAVA_PORT and PYTHON_PORT or on free ports, with a database of
    their own. Logs go to `folder`."""
    with ExitStack() as stack:
        database = stack.enter_context(fresh(Database(folder / "database")))
        of_all = {**settings, **database.environment()}
        started = []
        for name in SERVICES:
            port = ports.port(name) if ports.PORT_VARIABLES[name] in os.environ else ports.free()
            running = service.start(name, "none", None, folder / name, settings=of_all, port=port)
            started.append(stack.enter_context(running))
        yield started


def target(of: service.Service, workload: str) -> Target:
    """The address of a running service, and the strategies that it lists for the workload."""
    listed = of.get("/strategies").json()["strategies"]
    names = tuple(it["name"] for it in listed if workload in it["workloads"])
    return Target(of.name, *of.address, names)


def make_queues(of: service.Service) -> None:
    """Create the queues that the oracle of messages knows; both services share one database."""
    for queue in (EMPTY, FULL):
        QueueCalls(of, "serial").create(queue, OF_THE_CAMPAIGN)


def left_over(services: list[service.Service]) -> list[str]:
    """A text for each service that, after IDLE_S, is silent or still has requests in flight."""
    clock.wait_until(lambda: not any(map(_held, services)), IDLE_S, 0.1)
    return [f"{it.name}: {reported}" for it in services if (reported := _held(it))]


def _held(of: service.Service) -> str:
    try:
        return "requests are still in flight" if in_flight(of) else ""
    except EnvironmentProblem as silent:
        return f"it does not answer any more: {silent}"


def in_flight(of: service.Service) -> float:
    """Requests in flight by the service's own metrics; infinite where the metric is missing.

    Raises EnvironmentProblem where the service does not answer.
    """
    found = parse_metrics(of.get("/metrics").text, IN_FLIGHT.__eq__)
    return found.get(IN_FLIGHT, float("inf"))
