"""What must hold after any kill, and of any run that is finished."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from chaos_harness import Harness
from chaos_victims import ENDS, children, guardians

from restbench.analyse import measures
from restbench.experiment.records import CellRun, Manifest
from restbench.store.cell_folder import CellFolder
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
    deadline = time.monotonic() + SETTLED_S
    while (left := "; ".join(_left(harness))) and time.monotonic() < deadline:
        time.sleep(0.05)
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


def check_finished(run: Run, identity: dict[str, object]) -> None:
    """The run is what an undisturbed one is: same manifest, every cell once, everything whole."""
    manifest = run.manifest()
    require(manifest.identity() == identity, f"another manifest: {manifest.identity()}")
    _check_cells(run, manifest)
    for record, folder in run.cell_runs():
        require(record.status == "measured", f"{record.cell.id} failed: {record.reason}")
        _check_raw(record, folder)
    for row in measures.rows(run):
        require(len(row.measurements) == 1, f"{row.cell.id} counts {len(row.measurements)} times")
    with run.test_matrix_csv.open() as table:
        rows = list(csv.DictReader(table))
    require(len(rows) == len(manifest.plan), f"{len(rows)} rows of {len(manifest.plan)}")
    run.interruptions()


def _check_cells(run: Run, manifest: Manifest) -> None:
    planned = {run.cell(each.block, each.cell.id).path for each in manifest.plan}
    found = set(run.path.glob("raw/*/*"))
    require(found == planned, f"not the planned cells: {sorted(found ^ planned)}")
    require(not run.unrecorded(), f"without a record: {run.unrecorded()}")
    require(not (unread := list(run.unreadable())), f"half-written: {unread}")
    orders = [record.order for record, _ in run.cell_runs()]
    require(orders == [each.order for each in manifest.plan], f"not each cell once: {orders}")


def _check_raw(record: CellRun, folder: CellFolder) -> None:
    header, *lines = folder.samples.read_text().splitlines()
    # JMeter is killed at a cell's end: its last line may be cut off, no other one.
    columns = header.count(",")
    require(all(line.count(",") >= columns for line in lines[:-1]), f"{folder.samples}: cut off")
    found = measures.measurement(record, folder)
    require((found.samples or 0) > 0, f"{record.cell.id}: no sample")
    require(found.wrong_answers == 0, f"{record.cell.id}: wrong answers")
    json.loads(folder.sar_json.read_text())  # on a busy machine sar may miss so short a window
    for line in folder.metrics.read_text().splitlines():
        json.loads(line)
