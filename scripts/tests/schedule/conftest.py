"""What runs of made-up blocks start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.schedule import begin
from restbench.store.store import Run


@pytest.fixture
def known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {"cores_allowed": [0, 1], "measured": {}, "java": "17", "python": "3.11"}
    monkeypatch.setattr(begin, "surroundings", lambda: dict(described))
    monkeypatch.setattr(begin, "require_as_begun", lambda *_given: None)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "results" / "run")
