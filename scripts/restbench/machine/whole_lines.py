"""The whole records of a CSV file, whose writer is stopped in the middle of one."""

from __future__ import annotations

import mmap
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


def whole_bytes(path: Path) -> int:
    """The length of the part of the file that holds whole records."""
    if path.stat().st_size == 0:
        return 0
    quotes = _count_quotes(path)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _end_of_last_record(content, quotes)


def _end_of_last_record(content: bytes | mmap.mmap, quotes_before: int) -> int:
    """JMeter is stopped in the middle of a line at times. A record ends at a line break that has an
    even number of quotes before it; a line break inside a quoted message has an odd one."""
    end = len(content)
    while (line_break := content.rfind(b"\n", 0, end)) >= 0:
        quotes_before -= content[line_break:end].count(b'"')
        if quotes_before % 2 == 0:
            return line_break + 1
        end = line_break
    return 0


def _count_quotes(path: Path, chunk_bytes: int = 1 << 20) -> int:
    """Read, not mapped: a mapped file would count as this process's memory, all of it."""
    with path.open("rb", buffering=0) as file:
        return sum(chunk.count(b'"') for chunk in iter(lambda: file.read(chunk_bytes), b""))
