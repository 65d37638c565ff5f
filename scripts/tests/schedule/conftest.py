"""What runs of made-up blocks start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_blocks import measured

from restbench.schedule import begin, block
from restbench.store.store import Run


@pytest.fixture
def known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {"cores_allowed": [0, 1], "measured": {}, "java": "17", "python": "3.11"}
    monkeypatch.setattr(begin, "surroundings", lambda: dict(described))
    monkeypatch.setattr(begin, "require_as_begun", lambda *_given: None)
    monkeypatch.setattr(block, "measure", measured)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    found = Run(tmp_path / "results" / "run")
    found.path.mkdir(parents=True)
    return found
