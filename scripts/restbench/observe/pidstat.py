"""Reads what pidstat wrote of single processes, cut to the window (method, rule 12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from restbench.experiment.records import Window
from restbench.observe.intervals import mean_of, weight_ms

_MIB_KIB = 1024


@dataclass(frozen=True)
class ProcessUse:
    """What some processes together did in the window."""

    cpu_pct: float
    """Percent of ONE core: two cores at work are 200. Mean, weighted by time."""
    peak_rss_mib: float
    """The highest sum of resident memory. Pages that processes share count once a process."""


def process_use(pidstat: Path, window: Window, pids: Iterable[int]) -> ProcessUse | None:
    """The use of these processes from the output of `pidstat -H -h -u -r -w -p ... 1`.

    None when the file is not there or tells nothing of them in the window.
    """
    return _process_mean(_moments(pidstat, pids), window)


def _moments(pidstat: Path, pids: Iterable[int]) -> dict[int, list[dict[str, str]]]:
    """The lines of these processes by the second that stamps them."""
    if not pidstat.exists():
        return {}
    wanted = set(pids)
    moments: dict[int, list[dict[str, str]]] = {}
    for line in _pidstat_lines(pidstat.read_text(encoding="utf-8")):
        if int(line["PID"]) in wanted:
            moments.setdefault(int(line["Time"]), []).append(line)
    return moments


def _process_mean(moments: dict[int, list[dict[str, str]]], window: Window) -> ProcessUse | None:
    weighted = [(weight_ms(time_s, 1, window), lines) for time_s, lines in moments.items()]
    inside = [(weight, lines) for weight, lines in weighted if weight > 0]
    if not inside:
        return None
    rss_kib = [sum(float(line["RSS"]) for line in lines) for _, lines in inside]
    return ProcessUse(
        cpu_pct=mean_of((w, sum(float(line["%CPU"]) for line in lines)) for w, lines in inside),
        peak_rss_mib=max(rss_kib) / _MIB_KIB,
    )


def _pidstat_lines(text: str) -> Iterator[dict[str, str]]:
    """Each line of a process as header → value; a line cut off at the end is left out."""
    header: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            header = line[1:].split()
        elif header and line.strip():
            fields = line.split(maxsplit=len(header) - 1)
            if len(fields) == len(header):
                yield dict(zip(header, fields, strict=True))
