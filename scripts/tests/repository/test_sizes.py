"""Rooms and files stay small enough to be known whole."""

from __future__ import annotations

import subprocess
from collections import Counter

from restbench import ROOT

ROOM_MOST_FILES = 25
FILE_MOST_LINES = 400


def code(*patterns: str) -> list[str]:
    """The files of the repository that match, relative to its root."""
    command = ["git", "ls-files", "-z", "--", *patterns]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).exists()]


def test_a_room_of_the_harness_has_few_files() -> None:
    files = Counter(name.rpartition("/")[0] for name in code("scripts/restbench/*.py"))
    assert len(files) >= 15, "rooms"
    assert not {room: count for room, count in files.items() if count > ROOM_MOST_FILES}


def test_a_file_of_code_is_read_in_one_go() -> None:
    lines = {name: len((ROOT / name).read_text().splitlines()) for name in code("*.py", "*.java")}
    assert len(lines) >= 500, "files"
    assert not {name: count for name, count in lines.items() if count > FILE_MOST_LINES}
