"""What runs of made-up blocks start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from closed_driver import FAST, RESPONSES, answers
from made_blocks import measured

from restbench.experiment.cell import Cell
from restbench.schedule import begin, block, closed_load, reduction
from restbench.store.store import Run


@pytest.fixture
def known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {"cores_allowed": [0, 1], "measured": {}, "java": "17", "python": "3.11"}
    monkeypatch.setattr(begin, "surroundings", lambda _order: dict(described))
    monkeypatch.setattr(begin, "require_as_begun", lambda *_given: None)
    monkeypatch.setattr(block, "measure", measured)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    found = Run(tmp_path / "results" / "run")
    found.path.mkdir(parents=True)
    return found


@pytest.fixture
def short_loads(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """The cells that had a short load."""
    found: list[Cell] = []

    def load(_here: object, which: Cell, _users: int, _seconds: float) -> Any:
        found.append(which)
        return answers([RESPONSES.get(which, RESPONSES[FAST])] * which.users)

    monkeypatch.setattr(closed_load, "short_load", load)
    monkeypatch.setattr(reduction, "_helpers_ms", lambda _pids: (0.0, 0.0))
    return found
