"""What is given to `make` reaches the command that it calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from restbench.machine import jvm
from restbench.store import store

#: What a make tells those that it calls: these tests may run within one.
FROM_A_CALLER = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")


def made(*arguments: str) -> str:
    """What `make` would call."""
    done = run_make(store.ROOT, os.environ["PATH"], "-n", *arguments)
    done.check_returncode()
    return done.stdout


def run_make(folder: Path, path: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A `make` in a folder, which finds programs on `path`."""
    environment = {name: value for name, value in os.environ.items() if name not in FROM_A_CALLER}
    make, makefile = str(shutil.which("make")), str(store.ROOT / "Makefile")
    return subprocess.run(
        [make, "--no-print-directory", "-C", str(folder), "-f", makefile, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"PATH": path},
    )


def write_program(file: Path, script: str) -> None:
    """A shell script that stands for a program."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("bench", "PROFILE=smoke"), "restbench run smoke --profile smoke"),
        (("microbench", "PROFILE=smoke"), "python -m tools.bench_microbench --profile smoke"),
        (("bench-growth", "PROFILE=smoke"), "python -m tools.bench_growth --profile smoke"),
        (("bench", "PROFILE="), "restbench run thesis --profile quick"),
        (("bench", "RESUME=0"), '--profile quick --cells ""'),
        (("chaos", "REAL=1"), "chaos.py --times 50 --seed 1 --real"),
        (("overload", "FRONT=caddy"), "--front caddy"),
        (("serve", "FRONT=nginx"), "restbench serve --front nginx"),
        (("serve", "DATABASE=none"), "restbench serve --no-database"),
        (("serve", "DATABASE=/opt/pg/bin"), "restbench serve --postgres-bin /opt/pg/bin"),
        (
            ("serve", "DATABASE=postgresql://a@b:1/c"),
            "restbench serve --database-url 'postgresql://a@b:1/c'",
        ),
    ],
)
def test_what_is_given_is_not_dropped(arguments: tuple[str, ...], command: str) -> None:
    told = made(*arguments)
    assert f"{command}\n" in told or f"{command} " in told


@pytest.mark.parametrize(("target", "unset"), [("chaos", "REAL"), ("bench", "RESUME")])
@pytest.mark.parametrize("no", ["", "0", "no", "false"])
def test_what_is_told_not_to_be_is_not(target: str, unset: str, no: str) -> None:
    assert f"--{'real' if unset == 'REAL' else 'resume'}" not in made(target, f"{unset}={no}")


@pytest.mark.parametrize(
    ("arguments", "installed"),
    [
        (("bench",), "command -v sar"),
        (("calibrate",), "command -v sar"),
        (("calibrate",), "command -v wrk"),
        (("chaos",), "command -v sar"),
        (("serve", "FRONT=nginx"), "command -v nginx"),
        (("serve", "FRONT=apache"), "command -v apache2"),
        (("bench", "EXPERIMENT=frameworks"), "command -v wrk"),
        (("bench", "EXPERIMENT=instances"), "command -v nginx"),
        (("bench", "EXPERIMENT=workers", "PROFILE=wide"), "command -v nginx"),
        (("bench-limit",), "command -v wrk"),
        (("bench-limit",), "command -v g++"),
        (("bench-mg",), "command -v g++"),
        (("bench-growth",), "command -v wrk"),
        (("overload",), "command -v wrk"),
        (("overload",), "command -v nginx"),
    ],
)
def test_what_a_target_needs_is_installed_first(arguments: tuple[str, ...], installed: str) -> None:
    assert installed in made(*arguments)


@pytest.mark.parametrize(
    ("target", "chosen", "other"),
    [
        ("serve", "PYTHON_FRAMEWORK=fastapi", "PYTHON_FRAMEWORK=flask"),
        ("bench", "EXPERIMENT=frameworks", "EXPERIMENT=thesis"),
    ],
)
def test_a_framework_that_is_chosen_is_installed_first(
    target: str, chosen: str, other: str
) -> None:
    """-W: as if the lock had just changed."""
    changed = ("-W", "python-service/requirements-frameworks.txt")
    assert "adding web frameworks" in made(*changed, target, chosen)
    assert "adding web frameworks" not in made(*changed, target, other)


def test_the_java_service_is_built_by_the_jdk_that_it_runs_on() -> None:
    told = made("-B", "services")
    home = str(Path(jvm.java()).parents[1])
    assert f"env JAVA_HOME={home} mvn" in told


def test_a_precision_is_refused_in_a_line_that_names_minutes() -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        made("bench", "PRECISION=2%")
    assert refused.value.returncode == 2
    assert (
        "PRECISION no longer exists" in refused.value.stderr
        and "MINUTES=60" in refused.value.stderr
    )
    assert refused.value.stderr.count("\n") == 1


@pytest.mark.parametrize("database", ["pg/bin", "no"])
def test_a_database_that_is_neither_none_nor_a_folder_nor_a_url_is_refused(database: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        made("serve", f"DATABASE={database}")
    assert refused.value.returncode == 2
    assert (
        f"DATABASE={database}: give none, an absolute path of a folder, or a URL"
        in refused.value.stderr
    )


def test_lint_finds_sql_that_is_made_of_values() -> None:
    """Java's is ArchitectureTest's; here no line of the service is left out."""
    service = store.ROOT / "python-service" / "restbench_service"
    planted = 'text = f"DELETE FROM messages.message WHERE id = {number}"\n'
    done = subprocess.run(
        [
            Path(sys.executable).with_name("ruff"),
            "check",
            "--stdin-filename",
            service / "a.py",
            "-",
        ],
        input=planted,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "S608" in done.stdout
    assert not [path for path in service.rglob("*.py") if "S608" in path.read_text()]


def test_the_services_are_built_without_the_load_generator() -> None:
    told = made("-B", "services")
    assert "java-service/pom.xml package" in told
    assert "requirements.txt" in told
    assert "jmeter-plans" not in told


@pytest.mark.parametrize("there", [(), ("java",), ("mvn",), ("java", "mvn")], ids="+".join)
def test_java_and_maven_are_both_needed(there: tuple[str, ...], tmp_path: Path) -> None:
    for name in there:
        write_program(tmp_path / name, "")
    done = run_make(tmp_path, str(tmp_path), "tools-java")
    assert (done.returncode == 0) == (len(there) == 2)
    assert ("Java 17+ and Maven are needed" in done.stdout) == (len(there) < 2)


def test_without_chromium_and_the_right_to_install_it_the_tests_go_on(tmp_path: Path) -> None:
    write_program(tmp_path / "id", "echo 1000")
    done = run_make(tmp_path, str(tmp_path), "chromium")
    assert "chromium is missing" in done.stdout
    assert done.returncode == 0


def test_a_password_that_was_not_written_whole_is_no_password(tmp_path: Path) -> None:
    write_program(tmp_path / "bin" / "od", "printf 12; exit 1")
    done = run_make(tmp_path, f"{tmp_path / 'bin'}:{os.environ['PATH']}", "secrets")
    assert done.returncode
    assert not list(tmp_path.rglob("*.password"))
    run_make(tmp_path, os.environ["PATH"], "secrets").check_returncode()
    made = {path.name: len(path.read_text()) for path in tmp_path.rglob("*.password")}
    assert made == {f"{role}.password": 48 for role in ("owner", "service", "monitor")}


def test_what_serves_is_ended_before_its_folder_is_removed(tmp_path: Path) -> None:
    """`make stop` finds it by a file in that folder."""
    write_program(tmp_path / ".venv" / "bin" / "python", "")
    write_program(tmp_path / ".venv" / "bin" / "restbench", "ls .cache/serve; echo it was told $1")
    (tmp_path / ".cache" / "serve").mkdir(parents=True)
    (tmp_path / ".cache" / "serve" / "processes.json").touch()
    done = run_make(tmp_path, os.environ["PATH"], "clean")
    assert "processes.json\nit was told stop\n" in done.stdout
    assert not (tmp_path / ".cache").exists()


def test_clean_removes_an_environment_that_does_not_work(tmp_path: Path) -> None:
    write_program(tmp_path / ".venv" / "bin" / "python", "exit 1")
    write_program(tmp_path / ".venv" / "bin" / "restbench", "exit 1")
    run_make(tmp_path, os.environ["PATH"], "clean").check_returncode()
    assert not (tmp_path / ".venv").exists()


def test_stop_installs_nothing() -> None:
    assert "pip" not in made("-B", "stop")


def test_the_audit_asks_maven_under_the_jdk_that_builds() -> None:
    home = str(Path(jvm.java()).parents[1])
    for target in ("audit", "test-beside"):
        lines = [line for line in made(target).splitlines() if line.startswith("cd audit ")]
        assert lines
        assert all(f"env JAVA_HOME={home} ../.cache/audit/bin/python" in line for line in lines)
