import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest
from live_service import SERVICE

from restbench_service import main, process
from restbench_service.environment import Environment, InvalidSettingError
from restbench_service.process import allowed_cores, environment_of
from restbench_service.settings import ALLOWED, Settings


def test_the_defaults_hold_when_nothing_is_set() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings(processes=len(allowed_cores()))


def written(value: str | int | tuple[str, ...]) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def test_every_setting_is_read_from_its_variable() -> None:
    values: dict[str, str | int | tuple[str, ...]] = {
        "host": "::1",
        "framework": "fastapi",
        "handoff": "loop",
        "strategies": ("serial", "adaptive"),
        "port": 8123,
        "max_body_bytes": 1000,
        "max_in_flight": 7,
        "max_delay_millis": 6,
        "workers": 2,
        "processes": 3,
        "running": 5,
        "pool_threads": 8,
        "blas_threads": 2,
        "max_loop_operations": 21,
        "max_operations": 22,
        "max_request_tasks": 23,
        "memory_budget_bytes": 4000,
        "input_cache_bytes": 600,
        "max_connections": 90,
        "receive_timeout_seconds": 11,
        "keep_alive_seconds": 13,
        "stop_timeout_seconds": 14,
        "stuck_timeout_seconds": 15,
        "database_url": "postgresql://restbench_service@127.0.0.1:5432/restbench",
        "database_password_file": "/dev/null",
        "database_free_path": "/proc",
        "database_min_free_bytes": 19,
        "database_connections": 16,
        "max_message_characters": 17,
        "receipt_seconds": 18,
    }
    environment = {f"RESTBENCH_{name.upper()}": written(value) for name, value in values.items()}
    assert asdict(Settings.from_environment(environment)) == values


@pytest.mark.parametrize("name", ALLOWED)
def test_the_lowest_and_the_highest_value_of_an_integer_are_taken(name: str) -> None:
    for value in ALLOWED[name]:
        assert Environment({name: str(value)}).integer(name, -1, *ALLOWED[name]) == value


def test_a_budget_that_the_largest_body_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidSettingError, match="RESTBENCH_INPUT_CACHE_BYTES, 13 together"):
        Settings.from_environment(
            {
                "RESTBENCH_MEMORY_BUDGET_BYTES": "12",
                "RESTBENCH_MAX_BODY_BYTES": "10",
                "RESTBENCH_INPUT_CACHE_BYTES": "3",
            }
        )


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "localhost", "bench-1.example.org", "::1", f"unix:/{'x' * 106}"],  # noqa: S104
)
def test_an_address_or_a_host_name_is_a_host(host: str) -> None:
    assert Settings.from_environment({"RESTBENCH_HOST": host}).host == host


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("RESTBENCH_PORT", "0", "from 1 to 65535"),
        ("RESTBENCH_PORT", "65536", "from 1 to 65535"),
        ("RESTBENCH_PORT", "80a", "from 1 to 65535"),
        ("RESTBENCH_PORT", "", "from 1 to 65535"),
        ("RESTBENCH_PORT", "٨٠", "from 1 to 65535"),
        ("RESTBENCH_MAX_BODY_BYTES", "-1", "from 1 to 201326592"),
        ("RESTBENCH_MAX_BODY_BYTES", "64MiB", "from 1 to 201326592"),
        ("RESTBENCH_BLAS_THREADS", "1.5", "from 1 to 1024"),
        ("RESTBENCH_DATABASE_PASSWORD_FILE", "/nowhere", "must be a file that can be read"),
        ("RESTBENCH_DATABASE_PASSWORD_FILE", sys.executable, "must be a file in UTF-8"),
        ("RESTBENCH_DATABASE_FREE_PATH", "/nowhere", "must be a path that exists"),
        ("RESTBENCH_HOST", "", "an IP address, a host name or unix:/PATH"),
        ("RESTBENCH_HOST", "127.0.0.256", "an IP address, a host name or unix:/PATH"),
        ("RESTBENCH_HOST", "a..b", "an IP address, a host name or unix:/PATH"),
        ("RESTBENCH_HOST", f"{'a' * 64}.org", "an IP address, a host name or unix:/PATH"),
        ("RESTBENCH_HOST", "a b", "an IP address, a host name or unix:/PATH"),
        ("RESTBENCH_HOST", "unix:", "an IP address, a host name or unix:/PATH"),
        ("RESTBENCH_HOST", f"unix:/{'x' * 107}", "at most 107 bytes"),
        ("RESTBENCH_HANDOFF", "queue", "must be one of thread, loop"),
        ("RESTBENCH_STRATEGIES", "", "a list of names with commas, each once"),
        ("RESTBENCH_STRATEGIES", "serial,", "a list of names with commas, each once"),
        ("RESTBENCH_STRATEGIES", "serial,serial", "a list of names with commas, each once"),
    ],
)
def test_a_bad_value_is_named_with_the_variable_and_what_is_allowed(
    name: str, value: str, rule: str
) -> None:
    """Integers are all read alike; the harness's tests hold their bounds against README.md."""
    with pytest.raises(InvalidSettingError) as error:
        Settings.from_environment({name: value})
    assert name in str(error.value)
    assert repr(value) in str(error.value)
    assert rule in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "postgresql://127.0.0.1:5432/a",
        "postgresql://user@127.0.0.1/a",
        "postgresql://user@127.0.0.1:x/a",
        "postgresql://user@127.0.0.1:5432/",
        "mysql://user@127.0.0.1:5432/a",
        "postgresql://user:secret@127.0.0.1:5432/a",
        "postgresql://user@127.0.0.1:5432/a?password=secret",
        "postgresql://user@127.0.0.1:5432/a?sslmode=require",
        "postgresql://user@127.0.0.1:5432/a\n",
        "postgresql://user@127.0.0.256:5432/a",
        "postgresql://user@host-:5432/a",
        "postgresql://user@127.0.0.1:0/a",
        "postgresql://user@127.0.0.1:65536/a",
    ],
)
def test_a_bad_address_of_a_database_is_refused_and_not_repeated(url: str) -> None:
    rule = "must be postgresql://USER@HOST:PORT/DATABASE, without a password"
    with pytest.raises(InvalidSettingError, match=f"^RESTBENCH_DATABASE_URL: {rule}$"):
        Settings.from_environment({"RESTBENCH_DATABASE_URL": url})


HANDOFF = "RESTBENCH_HANDOFF='loop': must be left out: {} has no event loop\n"
REFUSED = [
    ({"RESTBENCH_PORT": "eight"}, "RESTBENCH_PORT='eight': must be an integer from 1 to 65535\n"),
    (
        {"RESTBENCH_FRAMEWORK": "django"},
        "RESTBENCH_FRAMEWORK='django': must be one of flask, flask-granian, fastapi, "
        "fastapi-gunicorn, aiohttp, rsgi\n",
    ),
    ({"RESTBENCH_HANDOFF": "loop"}, HANDOFF.format("flask")),
    (
        {"RESTBENCH_HANDOFF": "loop", "RESTBENCH_FRAMEWORK": "flask-granian"},
        HANDOFF.format("flask-granian"),
    ),
    *[
        (
            {"RESTBENCH_WORKERS": "2", "RESTBENCH_FRAMEWORK": name},
            f"RESTBENCH_WORKERS=2: {name} has one; several have flask, flask-granian, "
            "fastapi-gunicorn, rsgi\n",
        )
        for name in ("fastapi", "aiohttp")
    ],
    *[
        (
            {"RESTBENCH_HOST": f"unix:/{folder}/socket"},
            f"RESTBENCH_HOST='unix:/{folder}/socket': the folder is missing or not writable\n",
        )
        for folder in ("nowhere", "etc/passwd")
    ],
    (
        {"RESTBENCH_HOST": "nowhere.invalid"},
        "RESTBENCH_HOST='nowhere.invalid': must be an address or the name of this machine\n",
    ),
    (
        {"RESTBENCH_STRATEGIES": "serial,pinned"},
        "RESTBENCH_STRATEGIES: 'pinned' must be one of serial, process-per-element, "
        "process-per-request, executor-per-element, executor-per-request, adaptive, "
        "worker-pool\n",
    ),
]


@pytest.mark.parametrize(("variables", "line"), REFUSED)
def test_a_bad_value_ends_the_start_with_one_line_and_code_2(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, str],
    line: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as exit_:
        main.prepared_settings()
    assert (exit_.value.code, capsys.readouterr().err) == (2, line)


@pytest.mark.parametrize(
    ("framework", "line"),
    [
        ("fastapi", "not installed (uvloop): make frameworks; there is flask"),
        ("django", "must be one of flask"),
    ],
)
def test_a_framework_that_is_not_installed_is_not_listed_and_what_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    framework: str,
    line: str,
) -> None:
    monkeypatch.setenv("RESTBENCH_FRAMEWORK", framework)
    monkeypatch.setattr(main, "find_spec", lambda name: None if name == "uvloop" else name)
    with pytest.raises(SystemExit) as exit_:
        main.prepared_settings()
    told = f"RESTBENCH_FRAMEWORK='{framework}': {line}\n"
    assert (exit_.value.code, capsys.readouterr().err) == (2, told)


def test_too_few_open_files_end_the_start_with_one_line_and_code_2() -> None:
    program = 'ulimit -n 500; exec "$0" -m restbench_service'
    result = subprocess.run(
        ["bash", "-c", program, sys.executable], cwd=SERVICE, capture_output=True, check=False
    )
    assert result.returncode == 2
    assert b"RESTBENCH_MAX_CONNECTIONS=2000" in result.stderr
    assert result.stderr.count(b"\n") == 1


def test_a_relative_path_is_one_of_the_folder_in_which_the_service_was_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "password").touch()
    monkeypatch.chdir(tmp_path)
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(main, "become", lambda command, _: commands.append(command))
    for name in ("PASSWORD_FILE", "FREE_PATH"):
        monkeypatch.setenv(f"RESTBENCH_DATABASE_{name}", "password")
    monkeypatch.setattr(main, "ensure_environment", lambda _: None)
    monkeypatch.setattr(main, "_require_free", lambda _: None)  # others may use the port
    main.main()
    settings = Settings.from_environment(os.environ)
    for found in (settings.database_password_file, settings.database_free_path):
        assert found and (tmp_path / "password").samefile(found)
    assert Path(commands[0][-1]) == SERVICE / "gunicorn.conf.py"  # found from any folder


def test_the_environment_of_what_computes_is_the_service_s_own() -> None:
    dropped = ("CORETYPE", "L2_SIZE", "VERBOSE", "MAIN_FREE", "DEFAULT_NUM_THREADS", "NUM_THREADS")
    variables = {**{f"OPENBLAS_{name}": "7" for name in dropped}, "MALLOC_ARENA_MAX": "4"}
    variables |= {"GUNICORN_CMD_ARGS": "--workers 3", "prometheus_multiproc_dir": "/nowhere"}
    variables |= {"PYTHONWARNINGS": "error::UserWarning"}
    found = environment_of(variables, 2)
    assert environment_of(found, 2) == found
    assert found == {
        "PYTHONWARNINGS": "error::UserWarning,ignore:resource_tracker",
        "MALLOC_ARENA_MAX": "4",
        "MALLOC_MMAP_THRESHOLD_": "33554432",
        "MALLOC_TRIM_THRESHOLD_": "268435456",
        "OPENBLAS_NUM_THREADS": "2",
        "OMP_NUM_THREADS": "2",
        "MKL_NUM_THREADS": "2",
    }


@pytest.fixture
def no_tmp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As in a container whose file system is read-only and that has no /tmp."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc/nowhere"])
    return tmp_path


def test_without_tmp_temporary_files_are_in_shared_memory_and_a_line_says_so(
    no_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMPDIR", "is restored after the test")
    memory = str(no_tmp)
    monkeypatch.setattr(process, "SHARED_MEMORY", memory)
    assert process.find_temporary_folder() == memory
    assert (os.environ["TMPDIR"], tempfile.gettempdir()) == (memory, memory)
    assert (
        capsys.readouterr().err == f"there is no writable /tmp: temporary files are in {memory}\n"
    )


@pytest.mark.usefixtures("no_tmp")
def test_without_any_folder_for_temporary_files_the_start_ends_with_one_line_and_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(process, "SHARED_MEMORY", "/no")
    with pytest.raises(SystemExit) as exit_:
        main.prepared_settings()
    line = capsys.readouterr().err
    assert (exit_.value.code, line.count("\n")) == (2, 1)
    assert "docker run --tmpfs /tmp" in line
