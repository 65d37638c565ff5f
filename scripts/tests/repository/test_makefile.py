"""What is given to `make` reaches the command that it calls."""

from __future__ import annotations

import os
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
    return subprocess.run(
        ["make", "--no-print-directory", "-C", str(store.ROOT), "-n", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name not in FROM_A_CALLER},
    ).stdout


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("bench", "PROFILE=smoke"), "restbench run smoke --profile smoke"),
        (("microbench", "PROFILE=smoke"), "python -m tools.bench_microbench --profile smoke"),
        (("bench-growth", "PROFILE=smoke"), "python -m tools.bench_growth --profile smoke"),
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
