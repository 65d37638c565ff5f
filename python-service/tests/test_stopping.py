"""However the service is stopped: what runs is finished, nothing new begins, nothing is left."""

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live_metrics import begun
from live_service import (
    SERVICE,
    answers,
    begin,
    children,
    everyone_below,
    free_port,
    read_proc,
    running,
    state_of,
    wait_until,
)
from raw_client import answer_of, connected, everything
from test_killed_processes import LONG, SMALL, computing, post

from restbench_service.frameworks import FRAMEWORKS

ASKED = ("process-per-element", *["process-per-request"] * 2, "executor-per-request", "adaptive")


def is_refused(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return False
    except OSError:
        return True


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "TERM"])
def test_what_runs_is_finished_and_another_signal_does_no_harm(
    tmp_path: Path, users: ThreadPoolExecutor, stop: signal.Signals
) -> None:
    """To the whole group: test_delay.py has Ctrl-C to the master alone, and TERM to it is a probe
    of the contract. Connections that are idle are closed, and none is taken any more."""
    with (
        running(tmp_path / "log", PROCESSES="2", STOP_TIMEOUT_SECONDS="200") as service,
        connected(service.port) as idle,
    ):
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer_of(idle).status == 200
        pids = [service.process.pid, *everyone_below(service.process.pid)]
        busy = computing([service.pool()["PE-1"], service.pool()["PR-1"]])
        found = [users.submit(post, service, strategy, LONG[0]) for strategy in ASKED]
        wait_until(lambda: begun(service) == len(found))
        wait_until(busy)
        for pid in pids:
            os.kill(pid, stop)
        wait_until(lambda: is_refused(service.port))
        for again in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            os.kill(service.process.pid, again)
        assert everything(idle) == b""
        assert [future.result().body == LONG[1] for future in found] == [True] * len(found)
        assert service.process.wait(60) == 0
    wait_until(lambda: {state_of(pid) for pid in pids} == {"X"})


def test_a_worker_that_does_nothing_is_replaced_and_all_end_when_gunicorn_s_master_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long name of the folder for temporary files is no hindrance: a socket's path has 107
    characters."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    service = begin(tmp_path / "log", {"PROCESSES": "1", "STUCK_TIMEOUT_SECONDS": "8"})
    try:
        wait_until(service.has_begun)
        worker, pool = service.worker_pid(), service.pool()
        os.kill(worker, signal.SIGSTOP)
        wait_until(lambda: children(service.process.pid) not in ([], [worker]))
        wait_until(lambda: answers(service.port))
        assert post(service, "process-per-request", SMALL[0]).body == SMALL[1]
        wait_until(lambda: all(state_of(pid) in "XZ" for pid in [worker, *pool.values()]))
        pids = everyone_below(service.process.pid)
        service.process.kill()
        wait_until(lambda: {state_of(pid) for pid in pids} <= {"X", "Z"})
        assert is_refused(service.port)
    finally:
        service.process.kill()
        assert service.process.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_ctrl_c_while_a_server_is_imported_ends_it_without_a_word(
    tmp_path: Path, framework: str
) -> None:
    settings = {"FRAMEWORK": framework, "STRATEGIES": "serial"}
    process = begin(tmp_path / "log", settings).process
    _, server, *_ = FRAMEWORKS[framework].command
    try:
        wait_until(lambda: server in read_proc(Path(f"/proc/{process.pid}/cmdline")))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (130, 0), "0 where the server was up already"
    finally:
        process.kill()
    assert not (tmp_path / "log").read_text()


def test_ctrl_c_during_the_first_import_ends_the_service_without_a_word() -> None:
    program = """
import _signal, os, runpy, sys
_signal.signal(_signal.SIGINT, _signal.default_int_handler)  # shells ignore it in the background
class Interrupting:
    def find_spec(name, *_):
        if name == "signal":
            os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Interrupting)
runpy.run_module("restbench_service", run_name="__main__")
"""
    ended = ended_program(program, "flask")
    assert (ended.returncode, ended.stderr) == (130, b"")


@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM"])
def test_a_signal_before_uvicorn_handles_signals_ends_the_service(stop: str) -> None:
    program = f"""
import os, signal
from restbench_service.frameworks import fastapi
made = fastapi.create_app
def create_app(*arguments):
    os.kill(os.getpid(), signal.{stop})
    return made(*arguments)
fastapi.create_app = create_app
fastapi.main()
"""
    ended = ended_program(program, "fastapi")
    assert (ended.returncode, ended.stderr) == (0, b"")


def ended_program(program: str, framework: str) -> "subprocess.CompletedProcess[bytes]":
    variables = {"RESTBENCH_PORT": str(free_port()), "RESTBENCH_STRATEGIES": "serial"}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=SERVICE,
        env={**os.environ, **variables, "RESTBENCH_FRAMEWORK": framework},
        capture_output=True,
        timeout=100,
        check=False,
    )
