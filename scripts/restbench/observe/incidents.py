"""What happened in service and database while a load went on, from their logs: spans that may
explain why a second was slow. Pure functions on text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Literal

Kind = Literal["autovacuum", "checkpoint", "gc-pause", "connection-renewal", "restart", "fault"]

#: A line of PostgreSQL's log as it is by default (`%m [%p] `): moment, zone, severity, text. Lines
#: that begin otherwise belong to the one before.
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) \S+ \[\d+\] (\w+):  (.*)", re.DOTALL)
_AUTOVACUUM = re.compile(r"automatic .*?(vacuum|analyze)\b.*?of table \"([^\"]+)\"")
_ELAPSED = re.compile(r"elapsed: ([\d.]+) s")
_CHECKPOINT = re.compile(r"checkpoint complete: (.*?);.*?total=([\d.]+) s", re.DOTALL)
_READY = "database system is ready to accept connections"
#: A JVM's line, where it was started with `-Xlog:gc:stdout:time`.
_PAUSE = re.compile(
    r"^\[(\d{4}-\d\d-\d\dT[\d:.]+[+-]\d{4})\].*?(Pause .*?) ([\d.]+)ms$", re.MULTILINE
)


@dataclass(frozen=True)
class Incident:
    """A span of time in seconds since the epoch; a single moment has equal begin and end."""

    kind: Kind
    begin_s: float
    end_s: float
    text: str = ""


def of_postgres(log: str, zone: tzinfo) -> list[Incident]:
    """Autovacuum, checkpoints and starts from PostgreSQL's log, whose times are in `zone`."""
    found = []
    for entry in re.split(r"\n(?=\d{4}-\d\d-\d\d \d\d:)", log):
        if (line := _LINE.match(entry)) is None:
            continue
        at_s = datetime.fromisoformat(line[1]).replace(tzinfo=zone).timestamp()
        text = line[3]
        if (its := _AUTOVACUUM.match(text)) and (took := _ELAPSED.search(text)):
            table = its[2].partition(".")[2]  # without the database's name
            begin_s = at_s - float(took[1])
            found.append(Incident("autovacuum", begin_s, at_s, f"{its[1]} of {table}"))
        elif done := _CHECKPOINT.match(text):
            found.append(Incident("checkpoint", at_s - float(done[2]), at_s, done[1]))
        elif text.startswith(_READY):
            found.append(Incident("restart", at_s, at_s, "the database accepts connections"))
    return found


def of_jvm(log: str) -> list[Incident]:
    """Pauses of the garbage collector from a JVM's log; a pause is logged at its end."""
    found = []
    for at, text, took_ms in _PAUSE.findall(log):
        end_s = datetime.strptime(at, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
        found.append(Incident("gc-pause", end_s - float(took_ms) / 1000, end_s, text))
    return found


def of_backends(samples: Iterable[Mapping[str, Any]], after_s: float) -> list[Incident]:
    """Connections that services opened after `after_s`, from the database monitor's samples."""
    begun = {at for each in samples for at in each.get("backends_begun_s", ()) if at > after_s}
    return [Incident("connection-renewal", at, at) for at in sorted(begun)]
