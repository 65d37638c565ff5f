"""A load's requests as a file in JMeter's format (JTL), from which it makes dashboards."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from restbench.drive.generator import CORRECT, ERROR, STAGES, WRONG, LoadResult
from restbench.experiment.cell import Cell
from restbench.store.writing import write_text

COLUMNS = (
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType",
    "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL",
    "Latency", "IdleTime", "Connect", "serverTiming",
)  # fmt: skip
_FAILURES = {
    CORRECT: "",
    WRONG: "The body is not this request's id with the exact answer",
    ERROR: "No right answer",
}


def write(path: Path, cell: Cell, url: str, sent: LoadResult) -> None:
    """Write every request of a load, in the order of their ends. StorageProblem if that fails."""
    records = sent.records
    order = (records["start_us"] + records["elapsed_us"]).argsort()
    text = io.StringIO()
    # Columns that the load generator does not report are 0.
    lines = csv.DictWriter(text, COLUMNS, restval=0, lineterminator="\n")
    lines.writeheader()
    for each in records[order]:
        timing = (
            f"{name};dur={value:g}"
            for name, value in zip(STAGES, each["stages_ms"], strict=True)
            if not math.isnan(value)
        )
        lines.writerow(
            {
                "timeStamp": sent.begun.epoch_ms + int(each["start_us"]) // 1000,
                "elapsed": int(each["elapsed_us"]) // 1000,
                "label": cell.id,
                "responseCode": str(each["status"] or "Non HTTP response code: none"),
                "responseMessage": "",
                "threadName": f"user 1-{int(each['user']) + 1}",
                "dataType": "text",
                "success": str(each["outcome"] == CORRECT).lower(),
                "failureMessage": _FAILURES[int(each["outcome"])],
                "grpThreads": cell.users,
                "allThreads": cell.users,
                "URL": url,
                "Latency": int(each["latency_us"]) // 1000,
                "serverTiming": ", ".join(timing),
            }
        )
    write_text(path, text.getvalue())


def read(path: Path) -> list[dict[str, str]]:
    """Every sample by the names of its columns, in the order of the file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
