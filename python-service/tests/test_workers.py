"""Several workers are one service to who asks it."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from live_metrics import answered, in_flight
from live_service import (
    SERVICE,
    LiveService,
    answers,
    children,
    cpu_ticks,
    everyone_below,
    kill,
    running,
    side_by_side,
    state_of,
    wait_until,
)
from prometheus_client.mmap_dict import MmapedDict
from raw_client import answer_of, connected, everything, post_head
from test_frameworks import LONG
from test_killed_processes import SMALL, post

from restbench_service.frameworks import FRAMEWORKS
from restbench_service.process import METRICS_VARIABLE, name_metrics_folder, remove_metrics_folder
from restbench_service.settings import Settings

WORKERS, IN_FLIGHT = 3, 6
WITH_WORKERS = [name for name, it in FRAMEWORKS.items() if it.has_workers]


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveService]]:
    """A service of several workers under each framework that can have them. What is killed comes
    back, so each test begins by waiting until all is_whole()."""
    folder = tmp_path_factory.mktemp("workers")
    settings = {"STRATEGIES": "serial", "WORKERS": str(WORKERS), "MAX_IN_FLIGHT": str(IN_FLIGHT)}
    settings["STOP_TIMEOUT_SECONDS"] = "5"  # a worker that has only begun may miss the stop
    wanted = {folder / name: {"FRAMEWORK": name, **settings} for name in WITH_WORKERS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        with side_by_side(wanted) as services:
            yield dict(zip(WITH_WORKERS, services, strict=True))
    assert not list(folder.glob("restbench-metrics-*"))


def is_whole(service: LiveService) -> bool:
    """Every worker is up: its files are there."""
    try:
        pids = service.health()["pids"] if answers(service.port) else []
    except ConnectionError:  # it was given to a worker that was being killed
        return False
    return len(pids) == WORKERS and all(own_count(service, pid) is not None for pid in pids)


def own_count(service: LiveService, pid: int) -> float | None:
    """What this worker alone has answered; None before it can."""
    variables = Path(f"/proc/{service.process.pid}/environ").read_bytes().decode().split("\0")
    (folder,) = [it.partition("=")[2] for it in variables if it.startswith(f"{METRICS_VARIABLE}=")]
    path = Path(folder) / f"counter_{pid}.db"
    if not (Path(folder) / f"gauge_livesum_{pid}.db").exists():
        return None
    if not path.exists():
        return 0.0
    rows = MmapedDict.read_all_values_from_file(path)  # type: ignore[no-untyped-call]
    return float(sum(row[1] for row in rows if "restbench_requests_total" in row[0]))


def post_to_several(service: LiveService) -> int:
    """Requests until more than one worker has answered some; how many there were."""
    posted = 0
    while sum(bool(own_count(service, pid)) for pid in service.health()["pids"]) < 2:
        assert post(service, "serial", SMALL[0]).body == SMALL[1]
        posted += 1
        assert posted < 1000
    return posted


def end(pid: int) -> None:
    """Kill it, and be sure that no connection can reach it any more."""
    kill(pid)
    wait_until(lambda: state_of(pid) in "XZ")


def computing_worker(service: LiveService, client: socket.socket) -> int:
    """The one that has got the client's long request: its CPU time is well above what it was."""
    begun = {pid: cpu_ticks(pid) for pid in service.health()["pids"]}
    client.sendall(post_head(len(LONG[0])) + LONG[0])

    def computing() -> list[int]:
        return [pid for pid, ticks in begun.items() if cpu_ticks(pid) - ticks > 30]

    wait_until(lambda: bool(computing()))
    return computing()[0]


@pytest.mark.parametrize("framework", WITH_WORKERS)
def test_with_a_killed_worker_go_its_own_requests_and_no_count_of_what_was_answered(
    all_of_them: dict[str, LiveService], framework: str
) -> None:
    service = all_of_them[framework]
    wait_until(lambda: is_whole(service))
    pids = service.health()["pids"]
    assert pids == children(service.process.pid)
    posted = post_to_several(service)
    assert [answered(service) for _ in range(5)] == [{"200": posted}] * 5
    with connected(service.port) as client:
        killed = computing_worker(service, client)
        assert in_flight(service) == 1
        end(killed)
        assert everything(client) == b""
    wait_until(lambda: is_whole(service) and killed not in service.health()["pids"])
    wait_until(lambda: in_flight(service) == 0)
    assert [answered(service) for _ in range(5)] == [{"200": posted}] * 5
    with connected(service.port) as client:
        computing = computing_worker(service, client)
        # Granian ends with a worker that dies soon after it has replaced another.
        end(next(pid for pid in pids if pid not in (killed, computing)))
        assert answer_of(client).body == LONG[1]
    assert answered(service) == {"200": posted + 1}


@pytest.mark.parametrize("framework", ["flask", "fastapi-gunicorn"])
def test_workers_share_the_limit_of_requests_in_flight(
    all_of_them: dict[str, LiveService], framework: str
) -> None:
    service = all_of_them[framework]
    wait_until(lambda: is_whole(service))
    before = answered(service)
    with ExitStack() as clients:
        for _ in range(2 * IN_FLIGHT):
            client = clients.enter_context(connected(service.port))
            client.sendall(post_head(len(SMALL[0])) + b"{")
        wait_until(
            lambda: in_flight(service) + (answered(service) - before).total() == 2 * IN_FLIGHT
        )
        assert set(answered(service) - before) == {"503"}
        assert IN_FLIGHT / WORKERS <= in_flight(service) <= IN_FLIGHT


def test_a_worker_is_a_living_process_of_the_same_parent() -> None:
    asked = """import sys; from restbench_service.process import is_worker
print(is_worker(__import__("os").getpid()), *[is_worker(int(pid)) for pid in sys.argv[1:]])"""
    with ExitStack() as stack:
        living, ended = (stack.enter_context(subprocess.Popen(["sleep", "60"])) for _ in range(2))
        stack.callback(living.kill)
        ended.kill()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # a zombie: nobody has asked for it
        others = (living.pid, ended.pid, os.getpid(), 2**22 + 1)
        command = [sys.executable, "-c", asked, *map(str, others)]
        told = subprocess.run(command, cwd=SERVICE, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True", "False", "False", "False"]


def test_a_worker_has_its_part_of_the_limits_rounded_up() -> None:
    settings = Settings(
        workers=3, max_in_flight=256, memory_budget_bytes=1001, input_cache_bytes=1, processes=2
    )
    assert (settings.in_flight_a_worker, settings.database_connections_a_worker) == (86, 7)
    assert settings.request_memory_bytes == 334
    assert Settings(workers=3, input_cache_bytes=210, processes=2).cached_bytes_a_process == 10


def test_serial_alone_starts_no_pools(all_of_them: dict[str, LiveService]) -> None:
    service = all_of_them["flask"]
    wait_until(lambda: is_whole(service))
    listed = json.loads(service.request("GET", "/strategies").body)["strategies"]
    assert [each["name"] for each in listed] == ["serial"]
    assert post(service, "process-per-request", SMALL[0]).status == 404
    assert everyone_below(service.process.pid) == children(service.process.pid)


def busy(services: Mapping[str, LiveService]) -> dict[str, int]:
    """Clock ticks of those that use more than 0.5 % of a core while nobody asks, for 5 s."""
    before = {name: service.used_ticks() for name, service in services.items()}
    time.sleep(5)
    used = {name: it.used_ticks() - before[name] for name, it in services.items()}
    most = 0.005 * 5 * os.sysconf("SC_CLK_TCK")
    return {name: ticks for name, ticks in used.items() if ticks > most}


def test_idle_workers_use_no_time_all_of_a_service_together(
    all_of_them: dict[str, LiveService], tmp_path: Path
) -> None:
    """Eight: the most that the experiment which compares their numbers has on two cores."""
    settings = {"STRATEGIES": "serial", "FRAMEWORK": "fastapi-gunicorn", "WORKERS": "8"}
    with running(tmp_path / "log", **settings) as eight:
        wait_until(lambda: len(eight.health()["pids"]) == 8)
        of_three = {name: all_of_them[name] for name in ("flask", "fastapi-gunicorn")}
        wait_until(lambda: not busy({"eight": eight} | of_three))


def test_the_folder_of_a_service_that_was_killed_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv(METRICS_VARIABLE, "is restored after the test")
    left, of_another = (tmp_path / f"restbench-metrics-{pid}-x" for pid in (2**22 + 1, 1))
    for folder in (left, of_another):
        folder.mkdir()
    name_metrics_folder(2)
    ours = Path(os.environ[METRICS_VARIABLE])
    assert set(tmp_path.iterdir()) == {of_another, ours}
    name_metrics_folder(2)  # the process has become another program
    assert Path(os.environ[METRICS_VARIABLE]) == ours
    remove_metrics_folder()
    assert set(tmp_path.iterdir()) == {of_another}
    name_metrics_folder(1)
    assert METRICS_VARIABLE not in os.environ
