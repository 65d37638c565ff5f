"""Several workers are one service to who asks it."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from live_metrics import answered, in_flight
from live_service import (
    LiveService,
    answers,
    children,
    cpu_ticks,
    everyone_below,
    kill,
    running,
    state_of,
    wait_until,
)
from prometheus_client.mmap_dict import MmapedDict
from raw_client import answer_of, connected, everything, post_head
from test_frameworks import LONG, busy
from test_killed_processes import SMALL, post

from restbench_service.frameworks import FRAMEWORKS
from restbench_service.metrics_folder import VARIABLE, name_folder, remove_folder
from restbench_service.settings import Settings

WORKERS = 3
WITH_WORKERS = [name for name, it in FRAMEWORKS.items() if it.has_workers]


@pytest.fixture(params=WITH_WORKERS)
def service(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LiveService]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    settings = {"FRAMEWORK": request.param, "STRATEGIES": "serial", "WORKERS": str(WORKERS)}
    settings["STOP_TIMEOUT_SECONDS"] = "5"  # a worker that has only begun may miss the stop
    with running(tmp_path / "log", **settings) as live:
        wait_until(lambda: is_whole(live, WORKERS))
        yield live
    assert not list(tmp_path.glob("restbench-metrics-*"))


def pids_of(service: LiveService) -> list[int]:
    found: list[int] = json.loads(service.request("GET", "/health").body)["pids"]
    return found


def is_whole(service: LiveService, workers: int) -> bool:
    """Every worker is up: its files are there."""
    pids = pids_of(service) if answers(service.port) else []
    return len(pids) == workers and all(own_count(service, pid) is not None for pid in pids)


def own_count(service: LiveService, pid: int) -> float | None:
    """What this worker alone has answered; None before it can."""
    variables = Path(f"/proc/{service.process.pid}/environ").read_bytes().decode().split("\0")
    (folder,) = [it.partition("=")[2] for it in variables if it.startswith(f"{VARIABLE}=")]
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
    while sum(bool(own_count(service, pid)) for pid in pids_of(service)) < 2:
        assert post(service, "serial", SMALL[0]).body == SMALL[1]
        posted += 1
        assert posted < 1000
    return posted


def test_metrics_are_the_sum_of_all_workers_also_after_one_was_killed(
    service: LiveService,
) -> None:
    pids = pids_of(service)
    assert pids == children(service.process.pid)
    posted = post_to_several(service)
    assert [answered(service) for _ in range(5)] == [{"200": posted}] * 5
    end(pids[0])
    wait_until(lambda: is_whole(service, WORKERS) and pids[0] not in pids_of(service))
    assert [answered(service) for _ in range(5)] == [{"200": posted}] * 5
    assert post(service, "serial", SMALL[0]).body == SMALL[1]
    assert answered(service) == {"200": posted + 1}


def end(pid: int) -> None:
    """Kill it, and be sure that no connection can reach it any more."""
    kill(pid)
    wait_until(lambda: state_of(pid) in "XZ")


def busy_worker(begun: dict[int, int]) -> int:
    """The one that computes: its CPU time is well above what it was, in clock ticks."""

    def busy() -> list[int]:
        return [pid for pid, ticks in begun.items() if cpu_ticks(pid) - ticks > 30]

    wait_until(lambda: bool(busy()))
    return busy()[0]


def test_a_worker_s_death_leaves_the_requests_of_the_others(service: LiveService) -> None:
    begun = {pid: cpu_ticks(pid) for pid in pids_of(service)}
    with connected(service.port) as client:
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        busy = busy_worker(begun)
        end(next(pid for pid in begun if pid != busy))
        assert answer_of(client).body == LONG[1]
    assert answered(service) == {"200": 1}


def test_what_a_worker_had_in_flight_is_gone_with_it(service: LiveService) -> None:
    begun = {pid: cpu_ticks(pid) for pid in pids_of(service)}
    with connected(service.port) as client:
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        busy = busy_worker(begun)
        assert in_flight(service) == 1
        end(busy)
        assert everything(client) == b""
    wait_until(lambda: answers(service.port) and in_flight(service) == 0)
    assert answered(service) == {}


@pytest.mark.parametrize("framework", ["flask", "fastapi-gunicorn"])
def test_workers_share_the_limit_of_requests_in_flight(tmp_path: Path, framework: str) -> None:
    settings = {"WORKERS": "2", "MAX_IN_FLIGHT": "3", "STRATEGIES": "serial"}
    settings["STOP_TIMEOUT_SECONDS"] = "5"
    with (
        running(tmp_path / "log", FRAMEWORK=framework, **settings) as service,
        ExitStack() as clients,
    ):
        wait_until(lambda: is_whole(service, 2))
        for _ in range(12):
            client = clients.enter_context(connected(service.port))
            client.sendall(post_head(len(SMALL[0])) + b"{")
        wait_until(lambda: in_flight(service) + sum(answered(service).values()) == 12)
        assert set(answered(service)) == {"503"}
        assert 2 <= in_flight(service) <= 4


def test_a_worker_has_its_part_of_the_limits_rounded_up() -> None:
    settings = Settings(
        workers=3, max_in_flight=256, memory_budget_bytes=1001, input_cache_bytes=1, processes=2
    )
    assert settings.in_flight_a_worker == 86
    assert settings.request_memory_bytes == 334
    assert Settings(workers=3, input_cache_bytes=210, processes=2).cached_bytes_a_process == 10


def test_serial_alone_starts_no_pools(tmp_path: Path) -> None:
    with running(tmp_path / "log", STRATEGIES="serial", WORKERS="2") as service:
        wait_until(lambda: is_whole(service, 2))
        listed = json.loads(service.request("GET", "/strategies").body)["strategies"]
        assert [each["name"] for each in listed] == ["serial"]
        assert post(service, "process-per-request", SMALL[0]).status == 404
        assert everyone_below(service.process.pid) == children(service.process.pid)


def test_idle_workers_use_no_time_all_of_a_service_together(tmp_path: Path) -> None:
    """Under the frameworks of the experiment that compares numbers of workers."""
    several = {"STRATEGIES": "serial", "WORKERS": str(WORKERS), "STOP_TIMEOUT_SECONDS": "5"}
    with ExitStack() as stack:
        up = {
            name: stack.enter_context(running(tmp_path / name, FRAMEWORK=name, **several))
            for name in ("flask", "fastapi-gunicorn")
        }
        wait_until(lambda: all(is_whole(each, WORKERS) for each in up.values()))
        wait_until(lambda: not busy(up))


def test_the_folder_of_a_service_that_was_killed_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "is restored after the test")
    left, of_another = (tmp_path / f"restbench-metrics-{pid}-x" for pid in (2**22 + 1, 1))
    for folder in (left, of_another):
        folder.mkdir()
    name_folder(2)
    ours = Path(os.environ[VARIABLE])
    assert set(tmp_path.iterdir()) == {of_another, ours}
    name_folder(2)  # the process has become another program
    assert Path(os.environ[VARIABLE]) == ours
    remove_folder()
    assert set(tmp_path.iterdir()) == {of_another}
    name_folder(1)
    assert VARIABLE not in os.environ
