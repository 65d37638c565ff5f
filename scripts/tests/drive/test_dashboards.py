"""Dashboards of a run's long windows: what is at their place before."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from restbench.drive import dashboards


def test_a_dashboard_that_was_half_made_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, file in (("half", "index.html"), ("whole", "statistics.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    monkeypatch.setattr(dashboards, "LAUNCHER", "true")
    monkeypatch.setattr(dashboards, "windows", lambda _: ["half", "whole"])
    run = Mock(dashboard=lambda cell: tmp_path / cell)
    pages = [tmp_path / cell / "index.html" for cell in ("half", "whole")]
    assert dashboards.write(run) == pages
    assert not (tmp_path / "half").exists()
    assert (tmp_path / "whole").exists()
