"""The trials and events of a run, in one SQLite file. They are appended and never changed; those of
an interrupted block are deleted when the block begins again, except for wrong answers.

The trials of a round are written together when the round is over, so a run that is killed loses the
current round. Everything that the analysis reads about a run's loads is in this file.
"""

from __future__ import annotations

import errno
import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from restbench.failures import EnvironmentProblem, Unreadable
from restbench.machine import storage

Microseconds = npt.NDArray[np.int64]
#: Name of the block's fact with the seconds that its trials took beyond the least that they need.
SPARE_S = "spare_s"
#: Name of the block's fact with the seconds that it lacked for one trial of every cell.
MISSING_S = "missing_s"
#: Name of the block's fact with the seconds that passed before its first trial.
BEFORE_TRIALS_S = "before_trials_s"
#: The version of the file's format. A file of another version is refused.
FORM = 2
#: The arm in which a group's first cell is measured once more (A/A): only chance makes it differ.
AGAIN = "again"


@dataclass(frozen=True)
class Trial:
    """One cell under load for a short time. Members describe the part of the trial that is kept,
    unless they say otherwise."""

    block: int
    round: int
    cell: str
    users: int
    began_ms: int
    """When the kept part began, milliseconds since the epoch."""
    seconds: float
    elapsed_us: Microseconds
    """The response time of each correct response, sorted."""
    errors: int = 0
    wrong: int = 0
    """Wrong answers in the whole trial. A single one voids the cell in this block."""
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    """The mean of each stage by the service's own clock, without stages that it did not report."""
    arm: str = ""
    """`again` where the trial measures its group's first cell once more."""
    service_cpu_ms: float | None = None
    generator_cpu_ms: float | None = None
    busy_ms: float | None = None
    """CPU time of everything on the machine."""
    steal_ms: float | None = None
    compilers_ms: float | None = None
    """Of `service_cpu_ms`, what a JVM's compilers took."""
    collector_ms: float | None = None
    """Of `service_cpu_ms`, what a JVM's garbage collector took."""
    memory_mib: float | None = None
    """Resident memory of the service's processes at the end."""
    kinds_us: Mapping[str, Microseconds] = field(default_factory=dict)
    """For a mix: response times as in `elapsed_us`, by kind of request."""
    extras: Mapping[str, float] = field(default_factory=dict)
    """Values that only the cell's driver measures, by name."""

    @property
    def completions(self) -> int:
        """How many correct responses there were."""
        return int(self.elapsed_us.size)

    @property
    def users_in_flight(self) -> float:
        """Mean number of users that were waiting for an answer, by Little's law."""
        return float(self.elapsed_us.sum()) / 1e6 / self.seconds


_TYPES = {
    "int": "INTEGER NOT NULL",
    "float": "REAL NOT NULL",
    "float | None": "REAL",
    "str": "TEXT NOT NULL",
}
#: Columns with their types: members of a trial that are stored as they are, and packed ones.
_PLAIN = {each.name: _TYPES[str(each.type)] for each in fields(Trial) if each.type in _TYPES}
_PACKED = {
    "elapsed": "BLOB NOT NULL",
    "stages_ms": "TEXT NOT NULL",
    "kinds": "TEXT NOT NULL",
    "elapsed_of_kinds": "BLOB NOT NULL",
    "extras": "TEXT NOT NULL",
}
_COLUMNS = ", ".join((*_PLAIN, *_PACKED))
_MARKS = ", ".join("?" * (len(_PLAIN) + len(_PACKED)))
_TABLES = f"""
CREATE TABLE IF NOT EXISTS blocks (
    block INTEGER PRIMARY KEY, began TEXT NOT NULL, finished TEXT, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (
    id INTEGER PRIMARY KEY, completions INTEGER NOT NULL,
    {", ".join(f"{name} {kind}" for name, kind in (_PLAIN | _PACKED).items())});
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, block INTEGER, cell TEXT, kind TEXT NOT NULL,
    text TEXT NOT NULL);
"""


#: SQLite's messages about the place where the file lies, with the errno that they mean. On a full
#: disk SQLite's own files next to this one often fail first, which it reports as "disk I/O".
_OF_THE_PLACE = {
    "full": errno.ENOSPC,
    "disk I/O": errno.ENOSPC,
    "readonly": errno.EACCES,
    "unable to open": errno.EACCES,
}


@dataclass(frozen=True)
class Block:
    """One block: a set of trials on freshly started processes."""

    block: int
    began: str
    finished: str | None
    facts: Mapping[str, Any]
    """Such as the machine's speed at its begin and the versions that served."""

    @property
    def seconds(self) -> float | None:
        """How long the block took; None where it has not finished."""
        if self.finished is None:
            return None
        began, ended = map(datetime.fromisoformat, (self.began, self.finished))
        return (ended - began).total_seconds()

    @property
    def least_s(self) -> float:
        """The least time in seconds that the block would have needed; 0 where it is not known."""
        taken_s = self.seconds or 0.0
        return taken_s - float(self.facts.get(SPARE_S, taken_s))

    @property
    def whole_s(self) -> float:
        """The seconds in which the block would have measured every cell once; 0 where a cell has
        several trials in a block."""
        missing_s = self.facts.get(MISSING_S)
        return 0.0 if missing_s is None else (self.seconds or 0.0) + float(missing_s)


def last_block_minutes(blocks: Sequence[Block]) -> float | None:
    """How long the last finished block took: what one more block takes; None before the first."""
    seconds = [each.seconds for each in blocks if each.seconds]
    return seconds[-1] / 60 if seconds else None


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, other than a trial."""

    at: str
    kind: str
    text: str
    block: int | None = None
    cell: str | None = None


@dataclass(frozen=True)
class TrialFile:
    """The trials of one run. It is opened for each use: nothing is held open between two."""

    path: Path
    """The file may not be there yet."""

    def begin(self, block: int, at: str, facts: Mapping[str, Any]) -> None:
        """Begin a block. What an interrupted block of this number has written is deleted, except
        for the events of wrong answers."""
        with self._open() as file:
            for table in ("blocks", "trials", "events"):
                which = "block = ? AND kind != 'wrong'" if table == "events" else "block = ?"
                file.execute(f"DELETE FROM {table} WHERE {which}", (block,))  # noqa: S608
            row = (block, at, json.dumps(facts))
            file.execute("INSERT INTO blocks (block, began, facts) VALUES (?, ?, ?)", row)

    def fact(self, block: int, name: str, value: object) -> None:
        """Set a fact of a block. If the value is an object, its members are merged into it."""
        with self._open() as file:
            row = (json.dumps({name: value}), block)
            file.execute("UPDATE blocks SET facts = json_patch(facts, ?) WHERE block = ?", row)

    def finish(self, block: int, at: str) -> None:
        """Note that a block has finished: all of its trials are written."""
        with self._open() as file:
            file.execute("UPDATE blocks SET finished = ? WHERE block = ?", (at, block))

    def add(self, trials: Iterable[Trial]) -> None:
        """Append trials, all or none."""
        with self._open() as file:
            file.executemany(
                f"INSERT INTO trials (completions, {_COLUMNS}) VALUES (?, {_MARKS})",  # noqa: S608
                map(_row, trials),
            )

    def note(self, event: Event) -> None:
        """Append an event."""
        with self._open() as file:
            row = (event.at, event.block, event.cell, event.kind, event.text)
            query = "INSERT INTO events (at, block, cell, kind, text) VALUES (?, ?, ?, ?, ?)"
            file.execute(query, row)

    def trials(self) -> list[Trial]:
        """Every trial, in the order of measuring; none where there is no file."""
        return [_trial(row) for row in self._all(f"SELECT {_COLUMNS} FROM trials ORDER BY id")]  # noqa: S608

    def tried(self) -> dict[str, tuple[int, float]]:
        """By cell: in how many blocks it has trials, and its response time in seconds, from
        Little's law; infinite where no answer was right."""
        query = (
            "SELECT cell, COUNT(DISTINCT block), users * SUM(seconds), SUM(completions) "
            "FROM trials GROUP BY cell"
        )
        return {
            cell: (blocks, waited_s / completions if completions else math.inf)
            for cell, blocks, waited_s, completions in self._all(query)
        }

    def rates(self) -> dict[tuple[int, str, str], float]:
        """Correct responses per second by finished block, cell and arm."""
        query = (
            "SELECT block, cell, arm, SUM(completions) / SUM(seconds) FROM trials "
            "JOIN blocks USING (block) WHERE finished IS NOT NULL GROUP BY block, cell, arm"
        )
        return {(block, cell, arm): per_s for block, cell, arm, per_s in self._all(query)}

    def course(self) -> list[tuple[int, int, str, float]]:
        """Block, round, cell and correct responses per second of each trial that had any, in the
        order of measuring; of finished blocks."""
        query = (
            "SELECT block, round, cell, completions / seconds FROM trials "
            "JOIN blocks USING (block) "
            "WHERE finished IS NOT NULL AND completions > 0 ORDER BY trials.id"
        )
        return self._all(query)

    def blocks(self) -> list[Block]:
        """Every block that began."""
        found = self._all("SELECT block, began, finished, facts FROM blocks ORDER BY block")
        return [
            Block(block, began, ended, json.loads(facts)) for block, began, ended, facts in found
        ]

    def events(self) -> list[Event]:
        """Every event, in order."""
        found = self._all("SELECT at, kind, text, block, cell FROM events ORDER BY id")
        return [Event(*row) for row in found]

    def _all(self, query: str) -> list[Any]:
        if not self.path.exists():
            return []
        with self._open() as file:
            return file.execute(query).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the file. Raises StorageProblem where the file cannot be written,
        EnvironmentProblem where another process holds it for long, and Unreadable where it is no
        file of trials or has another format."""
        try:
            with storage.writing(self.path), closing(sqlite3.connect(self.path)) as file, file:
                file.execute("PRAGMA journal_mode = WAL")
                (form,) = file.execute("PRAGMA user_version").fetchone()
                if form == 0:
                    file.executescript(_TABLES)
                    file.execute(f"PRAGMA user_version = {FORM}")
                elif form != FORM:
                    raise Unreadable(f"{self.path}: of form {form}, this version reads {FORM}")
                yield file
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise EnvironmentProblem(
                    f"{self.path}: another process has held it for seconds: try again when it ends"
                ) from error
            for words, number in _OF_THE_PLACE.items():
                if words in str(error):
                    raise storage.problem(OSError(number, words), self.path) or error from error
            raise Unreadable(f"{self.path}: {error}: remove it, and measure again") from error


def _row(each: Trial) -> Sequence[Any]:
    kinds = {name: int(elapsed.size) for name, elapsed in each.kinds_us.items()}
    together = np.concatenate([np.empty(0, np.int64), *each.kinds_us.values()])
    return (
        each.completions,
        *(getattr(each, name) for name in _PLAIN),
        _packed(each.elapsed_us),
        json.dumps(each.stages_ms),
        json.dumps(kinds),
        _packed(together),
        json.dumps(each.extras),
    )


def _trial(row: Sequence[Any]) -> Trial:
    *plain, elapsed, stages_ms, kinds, elapsed_of_kinds, extras = row
    together, at, kinds_us = _unpacked(elapsed_of_kinds), 0, {}
    for name, size in json.loads(kinds).items():
        kinds_us[name] = together[at : at + size]
        at += size
    return Trial(
        **dict(zip(_PLAIN, plain, strict=True)),
        elapsed_us=_unpacked(elapsed),
        stages_ms=json.loads(stages_ms),
        kinds_us=kinds_us,
        extras=json.loads(extras),
    )


def _packed(values_us: Microseconds) -> bytes:
    """Differences of neighbours in 32 bits, compressed: about a byte and a half a value."""
    return zlib.compress(np.diff(values_us, prepend=0).astype("<i4").tobytes(), 1)


def _unpacked(packed: bytes) -> Microseconds:
    return np.cumsum(np.frombuffer(zlib.decompress(packed), "<i4").astype(np.int64))
