"""A load's requests as JMeter writes them: its dashboards are made of such a file."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from restbench.drive.generator import CORRECT, STAGES, WRONG, Sent
from restbench.experiment.cell import Cell
from restbench.machine import storage

COLUMNS = (
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType",
    "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL",
    "Latency", "IdleTime", "Connect", "serverTiming",
)  # fmt: skip
_FAILURES = {WRONG: "The body is not this request's id with the exact answer"}


def write(path: Path, cell: Cell, url: str, sent: Sent) -> None:
    """Write every request of a load, in the order of their ends. StorageProblem where it cannot."""
    records = sent.records
    order = (records["start_us"] + records["elapsed_us"]).argsort()
    unnamed = storage.temporary(path)
    with storage.writing(path):
        with unnamed.open("w", encoding="utf-8", newline="") as output:
            lines = csv.writer(output, lineterminator="\n")
            lines.writerow(COLUMNS)
            for each in records[order]:
                ok = int(each["outcome"]) == CORRECT
                code = str(each["status"]) if each["status"] else "Non HTTP response code: none"
                timing = ", ".join(
                    f"{name};dur={value:g}"
                    for name, value in zip(STAGES, each["stages_ms"], strict=True)
                    if not math.isnan(value)
                )
                elapsed_ms = int(each["elapsed_us"]) // 1000
                lines.writerow(
                    [
                        sent.begun.epoch_ms + int(each["start_us"]) // 1000,
                        elapsed_ms,
                        cell.id,
                        code,
                        "",
                        f"user 1-{int(each['user']) + 1}",
                        "text",
                        str(ok).lower(),
                        "" if ok else _FAILURES.get(int(each["outcome"]), "No right answer"),
                        0,
                        0,
                        cell.users,
                        cell.users,
                        url,
                        int(each["latency_us"]) // 1000,
                        0,
                        0,
                        timing,
                    ]
                )
        unnamed.replace(path)


def read(path: Path) -> list[dict[str, str]]:
    """Every sample by the names of its columns, in the order of the file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
