"""A disk that is full, too small, read-only or no folder at all: real ones, in memory, which nobody
leaves behind."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml
from command_line import restbench
from other_process import beside, line_of
from stub_bench import Bench
from waiting import PATIENCE_S, await_true

from restbench import ROOT
from restbench.failures import EnvironmentProblem
from restbench.machine import guardian, storage, watch

#: Mounts one, says where, and is killed.
KILLED = """
import os, signal
from restbench.machine import storage
with storage.mounted(16) as disk:
    (disk / "file").write_text("there")
    print(disk, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@contextmanager
def disk_of(mib: int) -> Iterator[Path]:
    """A test is left out, and says so, where none can be had."""
    with ExitStack() as stack:
        try:
            mounted = stack.enter_context(storage.mounted(mib))
        except EnvironmentProblem as error:
            pytest.skip(str(error))
        yield mounted


@pytest.fixture
def disk() -> Iterator[Path]:
    with disk_of(64) as folder:
        yield folder


def test_a_full_disk_takes_not_a_byte_and_an_emptied_one_does() -> None:
    with disk_of(16) as disk:
        kept = disk / "kept"
        kept.write_bytes(b"1" * 4096)
        with storage.filled(disk):
            with pytest.raises(OSError, match="No space left") as refused:
                (disk / "more").write_bytes(b"1" * 8192)
            assert refused.value.errno == errno.ENOSPC
            assert kept.read_bytes() == b"1" * 4096
        (disk / "more").write_bytes(b"1" * (1 << 20))
    assert not disk.exists()


def test_the_disk_of_a_harness_that_is_killed_goes_with_it() -> None:
    lock = {watch.MACHINE: f"restbench-tests-{os.getpid()}-disk"}
    with disk_of(16), beside(KILLED, **lock) as killed:
        disk = Path(line_of(killed))
    assert disk.name.startswith("restbench-disk-")
    assert await_true(lambda: not disk.exists())
    assert str(disk) not in Path("/proc/mounts").read_text()


def refused(bench: Bench, *arguments: str) -> str:
    """The one line of a command that ends with exit code 3, having started nothing."""
    done = bench.restbench(*arguments)
    assert done.returncode == 3, done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert bench.left_running() == []
    return done.stderr


def test_a_run_does_not_begin_on_a_disk_without_room_for_it() -> None:
    with disk_of(18) as folder:
        bench = Bench(folder)
        path = bench.experiment({"java": ["serial"]})
        line = refused(bench, "run", path, "--profile", "p", "--minutes", "60")
        assert "a run needs 32 MiB: free some space" in line
        assert list(folder.glob("*/manifest.json")) == []


@pytest.mark.live
def test_a_disk_that_fills_up_ends_the_run_and_what_was_measured_stays_readable(disk: Path) -> None:
    bench = Bench(disk)
    path = bench.experiment({"java": ["serial", "pinned"]}, minutes=1, blocks=2)
    started = bench.start("run", path, "--profile", "p")
    try:
        bench.await_trial(started)
        with storage.filled(disk):
            _, err = started.communicate(timeout=PATIENCE_S)
    finally:
        started.kill()
    assert started.returncode == 3, err
    assert len(err.strip().splitlines()) == 1, err
    assert "disk is full" in err or "No space left" in err
    assert "the measurements are kept: 'restbench report latest' shows them" in err
    assert "the same command with --resume" in err
    assert bench.left_running() == []
    run = bench.latest.path
    assert restbench("report", str(run)).returncode == 0
    assert bench.latest.trials.trials(), "what was measured before is there"


def test_what_cannot_be_written_is_one_line_and_exit_code_3_for_a_read_only_folder(
    disk: Path,
) -> None:
    bench = Bench(disk)
    path = bench.experiment({"java": ["serial"]})
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    line = refused(bench, "run", path, "--profile", "p")
    assert "Read-only file system: mount it writable" in line


def test_a_folder_that_a_container_may_not_write_to_is_named_as_the_host_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = PermissionError(errno.EACCES, "Permission denied")
    assert "BENCH_USER" not in str(storage.problem(refused, Path("/restbench/results")))
    monkeypatch.setenv(storage.ON_HOST, "/home/me/restbench/results")
    told = str(storage.problem(refused, Path("/restbench/results")))
    assert told.startswith("/restbench/results: cannot be written: Permission denied: on the host")
    assert "it is /home/me/restbench/results, and user" in told
    assert "BENCH_USER=$(id -u):$(id -g)" in told
    full = storage.problem(OSError(errno.ENOSPC, "full"), Path("/restbench/results"))
    assert "BENCH_USER" not in str(full)


def test_the_readmes_benchmark_in_containers_runs_as_its_caller() -> None:
    lines = re.findall(r"`(BENCH_USER=[^`]*)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert lines == ["BENCH_USER=$(id -u):$(id -g) docker compose --profile bench run --rm bench"]
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    bench = compose["services"]["bench"]
    assert bench["profiles"] == ["bench"]
    assert bench["user"] == "${BENCH_USER:-1000:1000}"
    assert bench["volumes"] == ["./results:/restbench/results"]
    # Right where the README's line is typed; `docker compose -f` is called from any folder.
    for each in ("bench", "scale"):
        on_host = compose["services"][each]["environment"][storage.ON_HOST]
        assert on_host == "${PWD:-.}/results (with -f: results beside that file)"
    # Of a user that the image does not know all else is in memory.
    assert bench["read_only"] and bench["tmpfs"][0].startswith("/tmp:")  # noqa: S108 - its own
    assert "HOME=/tmp" in (ROOT / "scripts" / "Dockerfile").read_text(encoding="utf-8")


def test_a_file_in_the_place_of_the_results_folder_is_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "results")
    experiment = Bench(tmp_path).experiment({"java": ["serial"]})
    bench.folder.write_text("")
    line = refused(bench, "run", experiment, "--profile", "p")
    assert f"{bench.folder}: cannot be written" in line
    assert "a file stands where a folder is needed" in line


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "mount it writable"),
        (errno.EIO, "dmesg"),
    ],
)
def test_an_error_of_the_place_is_one_wherever_it_is_met(number: int, told: str) -> None:
    found = storage.problem(OSError(number, "", "figure.svg"))
    assert str(found).startswith("figure.svg: cannot be written: ")
    assert told in str(found)


def test_what_is_written_on_trial_is_known_for_half_written_where_the_harness_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Path] = []

    def look(trial: Path) -> None:
        trial.touch()
        found.extend(guardian.half_written(tmp_path, os.getpid()))

    monkeypatch.setattr(storage, "_write_through", look)
    storage.require_room(tmp_path)
    assert len(found) == 1
    assert list(tmp_path.iterdir()) == []


def test_what_processes_that_are_gone_left_half_written_is_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    raw = tmp_path / "raw" / "block-1"
    raw.mkdir(parents=True)
    names = [f".run.json.{gone.pid}.tmp", f".run.json.{os.getpid()}.tmp", ".notes.tmp", "a.tmp"]
    for name in names:
        (raw / name).touch()
    watch.sweep(tmp_path)
    assert {each.name for each in raw.iterdir()} == set(names[1:])


def test_a_missing_command_or_a_lost_connection_is_no_error_of_the_place() -> None:
    assert storage.problem(FileNotFoundError(errno.ENOENT, "", "setpriv")) is None
    assert storage.problem(PermissionError(errno.EACCES, "", "jmeter.sh")) is None
    assert storage.problem(ConnectionResetError(errno.ECONNRESET, "")) is None
