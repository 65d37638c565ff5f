"""Two benchmarks at once, or two processes at one run: real ones, and the kernel between them."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import typer
from command_line import restbench
from other_process import beside, line_of
from stub_bench import Bench

from restbench import cli
from restbench.failures import EnvironmentProblem
from restbench.machine import machine_lock, watch
from restbench.store import store
from restbench.store.store import Run
from tools.bench_growth import bench_growth
from tools.bench_limit import bench_limit
from tools.bench_microbench import measure_parts
from tools.queue_controls import queue_controls

HOLDER = """
import sys, time
from restbench.machine import machine_lock
machine_lock.take()
machine_lock.take()
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def held(name: str) -> Iterator[subprocess.Popen[str]]:
    """By another process."""
    of_lock = {watch.MACHINE: name}
    with beside(HOLDER, "restbench", "run", "thesis", **of_lock) as holder:
        assert line_of(holder) == "held"
        yield holder


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    chosen = f"restbench-tests-{os.getpid()}-lock"
    monkeypatch.setenv(watch.MACHINE, chosen)
    return chosen


#: Has a run.
AT_WORK = """
import sys, time
from pathlib import Path
from restbench.store.store import Run, locked
with locked(Run(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_run_that_another_process_measures_is_refused_until_that_is_killed(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path)
    refused = pytest.raises(EnvironmentProblem, match="another process is measuring this run")
    with beside(AT_WORK, str(run.path)) as holder:
        assert line_of(holder) == "held"
        with refused, store.locked(run):
            pass
    with store.locked(run) as is_held:
        assert is_held


def test_a_second_benchmark_is_refused_and_told_who_has_the_machine(name: str) -> None:
    with held(name) as first, pytest.raises(EnvironmentProblem) as refused:
        machine_lock.take()
    assert f"(pid {first.pid} of user {os.getuid()}: restbench run thesis)" in str(refused.value)


def test_the_kernel_takes_the_lock_back_from_a_process_that_is_killed(name: str) -> None:
    with held(name):
        pass
    machine_lock.take()
    machine_lock.take()  # what has it is not in its own way


def test_who_asks_behind_many_others_does_not_wait(name: str) -> None:
    with held(name), ExitStack() as asking:
        for _ in range(200):
            each = asking.enter_context(socket.socket(socket.AF_UNIX))
            each.setblocking(False)
            each.connect_ex(f"\0{name}")
        with pytest.raises(EnvironmentProblem, match="another benchmark runs"):
            machine_lock.take()


def test_what_a_benchmark_starts_does_not_keep_the_lock(name: str) -> None:
    machine_lock.take()
    child = subprocess.Popen(["sleep", "20"], close_fds=False)
    try:
        machine_lock._held.pop(name).close()
        machine_lock.take()
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (cli.app, ("run",)),
        (cli.app, ("calibrate",)),
        (cli.app, ("npb", "IS", "S")),
        (cli.single_command_app(bench_limit), ()),
        (cli.single_command_app(bench_growth), ()),
        (cli.single_command_app(measure_parts), ()),
        (cli.single_command_app(queue_controls), ()),
    ],
    ids=["run", "calibrate", "npb", "limit", "growth", "microbench", "queue controls"],
)
def test_what_measures_needs_the_machine_for_itself(
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    command: typer.Typer,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setattr(store.create_run, "__defaults__", (tmp_path,))
    path = Bench(tmp_path).experiment({"java": ["serial"]})
    more = (path, "--profile", "p") if arguments == ("run",) else ()
    with held(name) as first:
        refused = restbench(*arguments, *more, command=command)
        planned = restbench("plan", path, "--profile", "p")
    assert refused.returncode == 3, refused.stdout + refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert f"another benchmark runs on this machine (pid {first.pid}" in refused.stderr
    assert planned.returncode == 0, planned.stderr
    assert list(tmp_path.glob("*/manifest.json")) == []
