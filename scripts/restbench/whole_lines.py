"""Where the last whole record of a CSV file ends: its writer is stopped in the middle of one."""

from __future__ import annotations

import mmap
from pathlib import Path


def whole_bytes(path: Path) -> int:
    """The length of the part of the file that holds whole records.

    JMeter is stopped in the middle of a line at times. A record ends at a line break that has an
    even number of quotes before it; a line break inside a quoted message has an odd one.
    """
    if path.stat().st_size == 0:
        return 0
    quotes = _count_quotes(path)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _end_of_last_record(content, quotes)


def _end_of_last_record(content: mmap.mmap, quotes_before: int) -> int:
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
