"""What is done to a database, or to a service, while clients are at work; and its repair."""

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
from restbench.machine import clock, small_disk

#: A database that was killed recovers within this, and one whose backend was killed has noticed.
BACK_S = 60.0
NOTICED_S = 5.0


def inflict(
    fault: Fault,
    database: Database,
    lasts_s: float,
    restart_service: Callable[[float], None],
    disk: Path | None = None,
) -> tuple[int, int]:
    """Break it, wait, repair it; the moments when it was broken and when it first worked again, by
    the monotonic clock. `restart_service` kills it, waits and starts it. `disk` is a small one that
    the database lies on.

    EnvironmentProblem where it does not come back. To be called from the main thread.
    """
    broken_ns = time.monotonic_ns()
    match fault:
        case "kill-backend":
            with database.connect() as watching:
                database.kill("backend")
                # It ends all others, and begins anew by itself.
                if not clock.comes_true(lambda: not _answers(watching), NOTICED_S):
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
            with small_disk.filled(disk):
                time.sleep(lasts_s)
            # It may be about to end, as its recovery had no room.
            clock.comes_true(lambda: not database.alive() or _is_back(database), BACK_S)
            if not database.alive():
                database.restart()
    if not clock.comes_true(lambda: _is_back(database), BACK_S):
        database.connect().close()  # says why not
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
