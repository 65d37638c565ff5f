"""Rooms and files stay small enough to be known whole."""

from __future__ import annotations

from collections import Counter

from restbench import ROOT

ROOM_MOST_FILES = 25
ROOMS = ROOT / "scripts" / "restbench"


def test_a_room_of_the_harness_has_few_files() -> None:
    files = Counter(each.parent.relative_to(ROOMS) for each in ROOMS.rglob("*.py"))
    assert len(files) >= 15, "rooms"
    assert not {room: count for room, count in files.items() if count > ROOM_MOST_FILES}
