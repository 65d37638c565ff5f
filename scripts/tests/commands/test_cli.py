"""The command line as a user meets it: its lines and its exit codes."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import restbench, started
from fixture_run import FIXTURES
from trial_run import build

from restbench.commands import results
from restbench.drive import dashboards
from restbench.failures import BadConfiguration
from restbench.store import exported, store
from restbench.store.store import EXPERIMENTS


def test_help_shows_examples_and_exit_codes() -> None:
    shown = started("--help").stdout
    for expected in (
        "restbench plan thesis",
        "restbench run",
        "0    all measured",
        "serve",
    ):
        assert expected in shown
    assert "..." not in shown.partition("Commands:")[2]
    examples = [line for line in shown.splitlines() if line.strip().startswith("restbench ")]
    assert len(examples) >= 7


def test_plan_prints_every_cell_and_the_time_and_starts_nothing() -> None:
    done = restbench("plan", "thesis", "--profile", "quick")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len([line for line in lines if "-unbound-" in line or "-core0-" in line]) == 127
    assert lines[-1].startswith("127 cells, 3 blocks in about 20 min 00 s; one takes at least ")
    assert sum("T-A01" in line for line in lines) == 3


def test_a_locale_that_lacks_a_character_does_not_end_a_command() -> None:
    done = started("plan", "factorial", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "B complexity: low ? medium" in done.stdout


def test_the_id_of_a_cell_is_one_line_however_long(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "smoke.toml").read_text(encoding="utf-8")
    settings = ",".join(
        f"RESTBENCH_MAX_{name}=99" for name in ("IN_FLIGHT", "CONNECTIONS", "OPERATIONS")
    )
    (tmp_path / "mine.toml").write_text(
        text.replace("[[cells]]", f'[[cells]]\nsettings = "{settings}"'), encoding="utf-8"
    )
    done = restbench("plan", str(tmp_path / "mine.toml"), "--profile", "smoke")
    assert done.stdout.count(f"-{settings}\n") == 4


def test_plan_tells_the_time_of_the_selected_traces_alone() -> None:
    only = ("--cells", "users=60 postgres=shared_buffers=2GB")
    done = restbench("plan", "messages-trace", "--profile", "reference", *only)
    told = "1 cell, 1 block in about 30 min 05 s and the start of its services"
    assert done.stdout.splitlines()[-1] == told


def test_the_path_of_a_dashboard_is_one_line_however_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Path(*["a-folder-of-a-run"] * 9, "index.html")
    monkeypatch.setattr(results, "with_raw_data", lambda name: name)
    monkeypatch.setattr(dashboards, "write", lambda _run, _cell: [page])
    assert restbench("dashboard", "a-run", "a-cell").stdout == f"{page}\n"


def test_plan_tells_the_share_of_the_time_that_each_group_has() -> None:
    """It was the weight alone: `3 of the time`."""
    lines = restbench("plan", "thesis", "--profile", "quick").stdout.splitlines()
    groups = [line for line in lines if line.startswith("group ")]
    assert "group users and techniques at low: 20 % of the time" in groups
    assert groups[-1] == "group rest: the remaining time"
    assert all(line.endswith(" % of the time") for line in groups[:-1])


def test_the_time_of_a_run_without_claims_is_that_of_its_planned_blocks() -> None:
    """Blocks beyond the planned ones are for undecided claims: half an hour ended after a third."""
    done = restbench("plan", "factorial", "--minutes", "30")
    assert done.stdout.splitlines()[-1].startswith("8 cells, 3 to 15 blocks in about 30 min 00 s")
    assert "while a claim" not in done.stdout


@pytest.mark.parametrize(
    ("minutes", "told"),
    [
        # Five of twelve minutes are planned; three are the fewest, however long they take.
        ("60", "296 cells, 3 to 5 blocks in about 1 h 00 min; one takes at least "),
        ("10", "296 cells, 3 blocks in about 2"),
    ],
)
def test_plan_tells_how_many_blocks_the_time_is_for_as_far_as_is_known(
    minutes: str, told: str
) -> None:
    done = restbench("plan", "adaptive", "--profile", "full", "--minutes", minutes)
    assert done.stdout.splitlines()[-1].startswith(told)


PARTS = "instances: each has a part of the heap or processes of a single one"


@pytest.mark.parametrize(
    ("name", "profile", "told"),
    [
        ("engines", "smoke", "hosts=namespaces needs root: run it with sudo, or as root"),
        ("instances", "smoke", f"2 {PARTS}, and nginx or HAProxy shares the cores with them"),
        ("messages-threads", "quick", f"3 {PARTS}"),
    ],
)
def test_plan_tells_what_the_run_needs_and_what_it_divides(
    name: str, profile: str, told: str
) -> None:
    assert told in restbench("plan", name, "--profile", profile).stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("run", "tesis"),
            "no experiment 'tesis'; there are: "
            + ", ".join(sorted(file.stem for file in EXPERIMENTS.glob("*.toml"))),
        ),
        (
            ("run", "thesis", "--profile", "quik"),
            "no profile 'quik'; it has quick, reference",
        ),
        (("run", "thesis", "--cells", "users=-1"), "users: '-1' is not in experiment 'thesis'"),
        (
            ("plan", "thesis", "--cells", "service=go"),
            "service: 'go' is not in experiment 'thesis'",
        ),
        (("run", "thesis", "--attach", "go=http://x"), "--attach go=http://x: give SERVICE="),
        (
            ("run", "thesis", "--attach", "java=http://127.0.0.1:65536"),
            "--attach java=http://127.0.0.1:65536: give SERVICE=",
        ),
        (("calls", "--attach", "http://10.0.0.999"), "--attach http://10.0.0.999: give http://HO"),
        (("plan", "smoke", "--profile", "smoke", "--minutes", "nan"), "--minutes nan: give a time"),
        (("plan", "smoke", "--profile", "smoke", "--minutes", "1e300"), "above 0, at most a week"),
        (("extend", "latest", "--minutes", "inf"), "--minutes inf: give a time above 0, at most a"),
        (("report", "yesterday"), "no run 'yesterday'"),
        (("report", "y" * 300), "File name too long: give a shorter one"),
        (("plan", "y" * 300), "File name too long: give a shorter one"),
        (("database", "start", "--folder", __file__), "Not a directory: name a folder"),
        (("ab", "no-such", "HEAD"), "'no-such' is no commit of"),
        (
            ("ab", "HEAD", ".", "--experiment", "thesis"),
            "has no table [thresholds]: it compares no",
        ),
        (
            ("ab", "HEAD", ".", "--experiment", "smoke"),
            "experiment 'smoke' has no table [thresholds]: it compares no builds",
        ),
        (("ab", "HEAD", ".", "--junit", "/proc/nowhere/x"), "its folder does not exist"),
        (("ab", "HEAD", ".", "--summary", "/proc"), "/proc: is a folder: give the name of a file"),
        (("run", "ab"), "experiment 'ab' compares two builds: restbench ab COMMIT_A COMMIT_B"),
        (("run", "ab", "--profile", "x"), "experiment 'ab' compares two builds: restbench ab "),
        (
            ("run", "thesis", "--profile", "full"),
            "for a longer run, set its time: MINUTES=120",
        ),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments: tuple[str, ...], expected: str) -> None:
    done = restbench(*arguments)
    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


def test_an_experiment_file_with_a_wrong_key_names_file_key_and_allowed_values(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('nme = "x"\n')
    done = restbench("run", str(path))
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert "nme: unknown key; allowed here are name, title" in done.stderr


@pytest.mark.parametrize(
    ("there", "instead", "told"),
    [
        ('name = "smoke"', 'name = "a/b"', "name: String should match pattern"),
        ('name = "smoke"', f'name = "{"x" * 300}"', "name: String should match pattern"),
        ("low =", '"../low" =', "complexities.../low.[key]: String should match pattern"),
        ("[profiles.smoke]", '[profiles."a/b"]', "profiles.a/b.[key]: String should match"),
        ("seed = 1", 'claims = "no.toml"\nseed = 1', "mine.toml: claims: 'no.toml' does not exist"),
        ("seed = 1", 'views = ["factorial"]\nseed = 1', "mine.toml: views: the view 'factorial'"),
        ("seed = 1", f"seed = {'[' * 5000}", "mine.toml: not TOML: maximum recursion depth"),
        ("seed = 1", f"seed = {'9' * 5000}", "mine.toml: not TOML: Exceeds the limit (4300 dig"),
    ],
)
def test_what_an_experiment_file_may_not_say_is_one_line(
    tmp_path: Path, there: str, instead: str, told: str
) -> None:
    text = store.experiment_file("smoke").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(there, instead))
    done = restbench("plan", str(path), "--profile", "smoke")
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("minutes", ["nan", "inf", "1e300"])
def test_an_experiment_file_has_a_time_that_can_be_measured(tmp_path: Path, minutes: str) -> None:
    text = store.experiment_file("smoke").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("minutes = 0.6", f"minutes = {minutes}"))
    done = restbench("plan", str(path), "--profile", "smoke")
    assert done.returncode == 2
    assert "profiles.smoke.minutes: " in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("plan", "thesis"), ("--help",), ("plan", "--help"), ("command", "python"), ("no-command",)],
    ids=" ".join,
)
def test_output_that_nobody_reads_ends_the_command_without_a_word(
    arguments: tuple[str, ...],
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from restbench.cli import main; main()", *arguments]
    with os.fdopen(writer) as output:
        done = subprocess.run(
            command,
            cwd=store.ROOT / "scripts",
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if arguments == ("no-command",):  # it has no output: what is wrong is still said
        assert done.returncode == 2
        assert "No such command" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (130, "")


def test_without_an_output_a_command_does_its_work() -> None:
    line = f'"{sys.executable}" -c "from restbench.cli import main; main()" plan thesis >&-'
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=store.ROOT / "scripts",
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_that_may_not_be_read_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "another-users")

    monkeypatch.setattr(Path, "exists", refused)
    done = restbench("report", "another-users")
    assert done.returncode == 2
    wanted = "another-users: Permission denied: give yourself the right to use it"
    assert done.stderr == f"restbench: {wanted}\n"


@pytest.mark.parametrize("command", ["report", "keep", "compare", "dashboard", "extend"])
def test_a_run_of_an_earlier_form_is_refused_with_the_commit_that_reads_it(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    more = {"keep": ["mine"], "compare": [str(tmp_path)], "dashboard": ["a-cell"]}
    done = restbench(command, str(tmp_path), *more.get(command, []))
    assert done.returncode == 2
    assert "of an earlier form, without trials.sqlite and run.json; the last" in done.stderr
    assert "that reads it is 311baf3" in done.stderr


def test_a_run_of_an_earlier_form_is_listed_as_one(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "old-run", tmp_path / "old")
    with pytest.raises(BadConfiguration, match=r"there are: old \(of an earlier form\)$"):
        store.open_run("yesterday", tmp_path)


def test_what_a_kept_run_has_decided_is_told_of_its_run_json() -> None:
    told = exported.read(store.Run(store.RESULTS / "reference").exported_file)
    done = restbench("plan", "--run", "reference")
    assert done.returncode == 0
    ids = [each.id for each in told.claims]
    assert [each.split()[0] for each in done.stdout.splitlines()[: len(ids)]] == ids
    assert "restbench extend" not in done.stdout  # a copy has no raw data to go on with


def test_a_run_whose_trials_are_gone_is_shown_by_its_run_json(tmp_path: Path) -> None:
    """Of a broken file of trials the advice is to remove it: a report then emptied `run.json`."""
    run = build(tmp_path / "run", {"java serial low 10": [200.0], "java pinned low 10": [100.0]})
    run.payloads.mkdir(exist_ok=True)
    assert restbench("report", str(run.path)).returncode == 0
    results_of = run.exported_file.read_bytes()
    assert exported.read(run.exported_file).blocks
    run.trials.path.unlink()
    assert run.has_raw_data, "its payloads are there"
    done = restbench("report", str(run.path))
    assert done.returncode == 0
    assert run.exported_file.read_bytes() == results_of
    assert "no number" not in done.stdout


def test_a_port_in_use_is_one_line_and_exit_code_3() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        done = started("run", "smoke", "--profile", "smoke", JAVA_PORT=port, PYTHON_PORT=port)
    assert done.returncode == 3
    assert f"port {port} is in use" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
