"""The whole records of a CSV file, whose writer is stopped in the middle of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

#: So much of a file is looked at at a time: what reading it takes does not grow with it.
PIECE_BYTES = 8 << 20


def pieces(path: Path, piece_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """All whole records, a piece of the file at a time; each piece begins with the file's first
    line, its header. Nothing of a file without one. OSError where it cannot be read."""
    header = rest = b""
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(piece_bytes):
            content = rest + chunk
            end = _end_of_last_record(content, content.count(b'"'))
            whole, rest = content[:end], content[end:]
            if whole:
                yield header + whole
                header = header or whole[: whole.index(b"\n") + 1]


def _end_of_last_record(content: bytes, quotes_before: int) -> int:
    """JMeter is stopped in the middle of a line at times. A record ends at a line break that has an
    even number of quotes before it; a line break inside a quoted message has an odd one."""
    end = len(content)
    while (line_break := content.rfind(b"\n", 0, end)) >= 0:
        quotes_before -= content[line_break:end].count(b'"')
        if quotes_before % 2 == 0:
            return line_break + 1
        end = line_break
    return 0
