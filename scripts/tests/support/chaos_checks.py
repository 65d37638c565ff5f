"""What must hold after any kill, and of any run that is finished."""

from __future__ import annotations

import csv
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from chaos_harness import Harness
from chaos_victims import ENDS, children, guardians
from waiting import await_true

from restbench.analyse import measures
from restbench.store.store import Run

#: So soon nothing may be left: the guardian ends once it has seen nothing for a moment.
SETTLED_S = 60.0


class Violation(Exception):
    """A promise is broken."""


def require(holds: bool, otherwise: str) -> None:
    """Violation where it does not hold."""
    if not holds:
        raise Violation(otherwise)


def check_end(harness: Harness, killed: str | None) -> None:
    """The harness ends of what was killed, or in order: of nothing else. `killed` is a kind.

    One that ends in order in the moment of its kill has 0, too.
    """
    code = harness.wait()
    wanted = (0, *ENDS.get(killed or "", ()))
    require(code in wanted, f"ended with {code}, not {wanted}:\n{harness.told()}")


def check_nothing_left(harness: Harness) -> None:
    """After a harness has ended, however it did: no process, port, lock or temporary file."""
    await_true(lambda: not any(_left(harness)), SETTLED_S)
    left = "; ".join(_left(harness))
    require(not left, f"left behind: {left}")


def _left(harness: Harness) -> Iterator[str]:
    yield from (f"process {pid}" for pid in (*children(harness), *guardians(harness)))
    yield from (f"port {port}" for port in harness.place.ports.values() if not _is_free(port))
    if not _is_free_lock(harness.place.lock):
        yield "the machine's lock"
    yield from (str(path) for path in harness.place.temporary.iterdir())
    yield from (str(path) for path in harness.results.rglob(".*.tmp"))
    for run in harness.results.iterdir():
        if not (run / "manifest.json").exists():
            yield f"a run that never began: {run}"
        elif _is_locked(run):
            yield f"the lock of {run}"


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _is_free_lock(name: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.bind(f"\0{name}")
        except OSError:
            return False
        return True


def _is_locked(run: Path) -> bool:
    folder = os.open(run, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(folder)
    return False


def identity_of(run: Run) -> dict[str, object]:
    """What is the same for every run of one order by one checkout, interrupted or not: all but its
    name and times."""
    return run.manifest().model_dump(exclude={"run", "started", "finished", "stopped"})


def check_finished(run: Run, identity: dict[str, object]) -> None:
    """The run is what an undisturbed one is: same manifest, every block once, everything whole."""
    manifest, found = run.manifest(), identity_of(run)
    require(found == identity, f"another manifest: {found}")
    planned = {each.block for each in manifest.plan}
    finished = {each.block for each in run.trials.blocks() if each.finished}
    require(finished == planned, f"not the planned blocks: {sorted(finished ^ planned)}")
    for row in measures.rows(run):
        blocks = [each.block for each in row.measurements]
        require(blocks == sorted(planned), f"{row.cell.id}: blocks {blocks} of {sorted(planned)}")
        for each in row.measurements:
            require("failed" not in each.flags, f"{row.cell.id} failed: {each.reason}")
            require((each.samples or 0) > 0, f"{row.cell.id}: no sample")
            require(each.wrong_answers == 0, f"{row.cell.id}: wrong answers")
    rounds = [(each.block, each.round, each.cell, each.arm) for each in run.trials.trials()]
    require(len(rounds) == len(set(rounds)), "a trial is there twice")
    with run.test_matrix_csv.open() as table:
        rows = list(csv.DictReader(table))
    cells = {each.cell for each in manifest.plan}
    require(len(rows) == len(cells), f"{len(rows)} rows of {len(cells)}")
    run.interruptions()
