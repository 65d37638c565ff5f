"""The way of an experiment's name through a run can be followed by a reader."""

from __future__ import annotations

from pathlib import Path

import journey
import pytest
from journey import Journey

MOST_STAYS = 80


def test_from_the_command_to_the_page_the_name_of_an_experiment_changes_files_seldom() -> None:
    found = Journey("restbench.commands.measuring", "run_experiment", "name").stays
    assert {"restbench.schedule.runner", "restbench.show.report"} <= {*found}, "to its end"
    assert len(found) < MOST_STAYS, found


def test_a_stay_is_a_call_into_another_file_with_the_value_or_what_was_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = {
        "one": (
            "from pack import two\nfrom pack.three import last\n"
            "def first(given, other):\n"
            "    made = two.make(given)\n"
            "    two.make(other)\n"
            "    last(3, of=made or other)\n"
            "    two.make(made)\n"
            "def unseen(given): two.make(given)\n"
        ),
        "two": "def make(it): return _inner(it)\ndef _inner(it): return it\n",
        "three": "def last(number, of): return number\n",
    }
    (tmp_path / "pack").mkdir()
    for name, text in sources.items():
        (tmp_path / "pack" / f"{name}.py").write_text(text)
    monkeypatch.setattr(journey, "SCRIPTS", tmp_path)
    found = Journey("pack.one", "first", "given").stays
    assert found == ["pack.one", "pack.two", "pack.three", "pack.two"]
