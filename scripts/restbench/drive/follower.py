"""Follows a JTL while JMeter writes it: what has come so far, and nothing of a single sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

#: Where a JTL line has its columns (jtl.properties).
TIMESTAMP, ELAPSED, THREAD, SUCCESS = 0, 1, 5, 7
#: How the plan calls its threads, which are the users.
USER = b"user "


@dataclass
class Follower:
    """Reads what JMeter has appended to a JTL since the last look."""

    path: Path
    offset: int = 0
    rest: bytes = b""
    correct: int = 0
    """Correct completions so far."""
    correct_ms: int = 0
    """Their response times together, milliseconds."""
    others: int = 0
    """Samples that were not correct."""
    users: set[bytes] = field(default_factory=set)
    """The users who have had an answer, right or not."""
    since_ms: int | None = None
    """The moment that was asked for last, milliseconds since the epoch."""
    ended_since: int = 0
    """Correct completions with an END at that moment or later, of those that were read since it was
    first asked for."""

    def poll(self) -> None:
        """Take in the whole lines that are new."""
        if not self.path.exists():
            return
        with self.path.open("rb") as jtl:
            jtl.seek(self.offset)
            new = jtl.read()
        self.offset += len(new)
        *lines, self.rest = (self.rest + new).split(b"\n")
        for line in lines:
            self._take(line.split(b","))

    def _take(self, columns: list[bytes]) -> None:
        # The header, and the later lines of a message that spans several, do not start with a time.
        if len(columns) <= SUCCESS or not columns[TIMESTAMP].isdigit():
            return
        # A status message may have a comma: everything after it is one place further then.
        self.users.update(each for each in columns[THREAD : THREAD + 2] if each.startswith(USER))
        if b"true" in columns[SUCCESS : SUCCESS + 2]:
            elapsed_ms = int(columns[ELAPSED])
            self.correct += 1
            self.correct_ms += elapsed_ms
            if self.since_ms is not None:
                self.ended_since += int(columns[TIMESTAMP]) + elapsed_ms >= self.since_ms
        else:
            self.others += 1

    def users_answered(self) -> int:
        """How many users have had an answer so far."""
        self.poll()
        return len(self.users)

    def correct_since(self, start_ms: int) -> int:
        """How many correct responses ended at or after a moment, which lies no earlier than the
        last look. Nothing is kept of a single one: a load may have millions."""
        if start_ms != self.since_ms:
            self.since_ms, self.ended_since = start_ms, 0
        self.poll()
        return self.ended_since
