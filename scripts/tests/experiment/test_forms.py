"""A run's files that are broken or of another form: a line each, and the other cells' results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import restbench
from fixture_run import FIXTURES, Made, build, cell, steady_load

from restbench.experiment.records import SCHEMA_VERSION
from restbench.failures import Unreadable
from restbench.store.store import Run

GOOD, OTHER = cell("java serial low 10"), cell("java pinned low 10")
BROKEN = {"empty": "", "cut off": '{"schema_version": 1, "run": "a', "a list": "[]", "words": "ok"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    load = steady_load(10, 50)
    return build(tmp_path / "run", [Made(GOOD, load), Made(OTHER, load)])


def one_line(run: Run, *arguments: str) -> str:
    done = restbench(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_manifest_is_named_with_what_to_do(run: Run, text: str) -> None:
    run.manifest_file.write_text(text)
    with pytest.raises(Unreadable) as raised:
        run.manifest()
    told = str(raised.value)
    assert told.startswith(f"{run.manifest_file}: ")
    assert told.endswith("restore it from a copy, or measure again; raw/ next to it is as it was")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("command", "broken"),
    [
        (("report",), "manifest.json"),
        (("keep", "mine"), "manifest.json"),
        (("dashboard", "java-serial-unbound-low-10u"), "manifest.json"),
        (("compare",), "machine.json"),
        (("report",), "machine.json"),
        (("report",), "proofs.json"),
        (("report",), "experiment.toml"),
    ],
)
def test_every_command_says_in_one_line_which_file_is_broken(
    run: Run, command: tuple[str, ...], broken: str
) -> None:
    (run.path / broken).write_text('{"half')
    name, *more = command
    line = one_line(run, name, str(run.path), *(more or [str(run.path)] * (name == "compare")))
    assert f"{run.path / broken}: " in line.replace("restbench: ", "")


def test_a_manifest_with_a_member_of_the_wrong_type_says_which(run: Run) -> None:
    told = json.loads(run.manifest_file.read_text())
    told["plan"][1]["cell"]["users"] = "many"
    run.manifest_file.write_text(json.dumps(told))
    with pytest.raises(Unreadable, match=r"plan\.1\.cell\.users: "):
        run.manifest()


def test_a_newer_form_is_refused_with_the_version_that_reads_it(run: Run) -> None:
    told = json.loads(run.manifest_file.read_text())
    told |= {"schema_version": SCHEMA_VERSION + 1, "moon": "full"}
    run.manifest_file.write_text(json.dumps(told))
    line = one_line(run, "report", str(run.path))
    assert f"of form {SCHEMA_VERSION + 1}, this version reads forms 1 to {SCHEMA_VERSION}" in line
    assert f"git commit {told['git_commit']}, which wrote it" in line


@pytest.mark.parametrize("form", [0, None, "1"])
def test_a_form_that_never_was_is_refused(run: Run, form: object) -> None:
    told = json.loads(run.manifest_file.read_text())
    run.manifest_file.write_text(json.dumps(told | {"schema_version": form}))
    with pytest.raises(Unreadable, match=f"of form {form!r}, this version reads"):
        run.manifest()


def test_a_kept_run_of_the_first_form_is_read() -> None:
    kept = Run(FIXTURES / "old-run")
    assert json.loads(kept.manifest_file.read_text())["schema_version"] == 1
    assert kept.manifest().experiment == "thesis"
    assert kept.calibration() is not None
    assert len(kept.proofs()) == 2
