"""Which commit a run was made by: one that is unknown is said to be, and never to be unchanged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from small_repository import made
from trial_run import PINNED, SERIAL, build

from restbench.analyse import measures
from restbench.judge.compare import compare
from restbench.machine import machine
from restbench.show import export, report, views
from restbench.store import exported
from restbench.store.store import Run
from restbench.store.writing import write_model


@pytest.fixture
def unknown(tmp_path: Path) -> Run:
    """A run that was made where neither git nor a checkout is, as in a container."""
    run = build(
        tmp_path / "unknown", {SERIAL: [300.0, 310.0, 305.0], PINNED: [200.0, 205.0, 210.0]}
    )
    said = {"git_commit": machine.UNKNOWN, "git_dirty": None}
    write_model(run.manifest_file, run.manifest().model_copy(update=said))
    return run


def test_a_folder_that_is_no_checkout_has_no_commit(tmp_path: Path) -> None:
    assert machine.git_commit(tmp_path) == ("unknown", None)


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.git_commit() == ("unknown", None)


def test_a_checkout_has_its_commit_and_says_whether_it_was_changed(tmp_path: Path) -> None:
    repository = made(tmp_path / "repository")
    commit = repository.commit()
    assert machine.git_commit(repository.path) == (commit, False)
    (repository.path / "tool").write_text("another")
    assert machine.git_commit(repository.path) == (commit, True)
    with pytest.raises(subprocess.CalledProcessError):
        machine.git(repository.path, "rev-parse", "--verify", "no-such")


def test_a_class_that_was_never_added_is_a_change_and_a_kept_run_is_none(tmp_path: Path) -> None:
    repository = made(tmp_path / "repository")
    commit = repository.commit()
    kept = repository.path / "results" / "kept" / "run.json"
    added = repository.path / "java-service" / "src" / "New.java"
    for path, is_changed in ((kept, False), (added, True)):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        assert machine.git_commit(repository.path) == (commit, is_changed)


def test_page_file_and_comparison_say_that_the_commit_is_unknown(unknown: Run) -> None:
    report.write(views.drawn(export.write(unknown, measures.rows(unknown), print), unknown))
    page = unknown.report.read_text()
    assert "commit unknown: neither git nor a checkout was there" in page
    manifest = exported.read(unknown.exported_file).manifest
    assert (manifest.git_commit, manifest.git_dirty) == ("unknown", None)
    notes = compare(unknown, unknown, "throughput_per_s", 0.05).notes
    assert "the commit of unknown is unknown" in notes
