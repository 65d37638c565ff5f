"""Faults of a database, or of a service, while clients are at work, and their repair."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psycopg

from restbench.deploy.database import Database
from restbench.experiment.faults import Fault
from restbench.failures import EnvironmentProblem
from restbench.machine import clock, storage

#: Time of a killed database to recover, and of one that lost a backend to end connections.
BACK_S = 60.0
NOTICED_S = 5.0


def inflict(
    fault: Fault,
    database: Database,
    lasts_s: float,
    restart_service: Callable[[float], None],
    disk: Path | None = None,
) -> tuple[int, int]:
    """Inflict the fault, wait `lasts_s`, repair it. Returns when it was inflicted and when the
    database answered again, in ns of the monotonic clock. `restart_service` kills the service,
    waits so many seconds and starts it. `disk` is the small disk that the database is on.

    EnvironmentProblem where the database does not recover. To be called from the main thread.
    """
    broken_ns = time.monotonic_ns()
    match fault:
        case "kill-backend":
            with database.connect() as watching:
                database.kill("backend")
                # The postmaster then ends all other backends and restarts by itself.
                if not clock.wait_until(lambda: not _answers(watching), NOTICED_S):
                    raise EnvironmentProblem(
                        f"the database goes on {NOTICED_S:.0f} s after a backend was killed"
                    )
        case "kill-postmaster" | "kill-all":
            database.kill("all" if fault == "kill-all" else "postmaster")
            time.sleep(lasts_s)
            database.restart()
        case "stop-fast":
            database.stop()
            time.sleep(lasts_s)
            database.start()
        case "pause":
            database.kill("all", signal.SIGSTOP)
            time.sleep(lasts_s)
            database.kill("all", signal.SIGCONT)
        case "hold-snapshot":
            with database.connect() as holding:
                holding.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                holding.execute("SELECT count(*) FROM messages.queue")
                time.sleep(lasts_s)
        case "kill-service":
            restart_service(lasts_s)
        case "disk-full":
            if disk is None:
                raise TypeError("no small disk to fill")
            with storage.filled(disk):
                time.sleep(lasts_s)
            # The database may be about to end, because its recovery had no disk space.
            clock.wait_until(lambda: not database.alive() or _is_back(database), BACK_S)
            if not database.alive():
                database.restart()
    if not clock.wait_until(lambda: _is_back(database), BACK_S):
        database.connect().close()  # raises with the reason
    return broken_ns, time.monotonic_ns()


def _is_back(database: Database) -> bool:
    with suppress(EnvironmentProblem), closing(database.connect()) as asking:
        return _answers(asking)
    return False


def _answers(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True
