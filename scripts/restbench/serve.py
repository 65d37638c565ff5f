"""`make serve` and `make stop`: both services in the background, and lines to paste."""

from __future__ import annotations

import contextlib
import json
import shlex
from pathlib import Path

import psutil

from restbench import service
from restbench.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.store import serve_folder, write_json

STOP_TIMEOUT_S = 20.0
EXAMPLE = {
    "requestId": 1,
    "matrixOne": {"columnCount": 3, "rows": [{"value": "1,2,3"}, {"value": "4,5,6"}]},
    "matrixTwo": {
        "columnCount": 2,
        "rows": [{"value": "7,8"}, {"value": "9,10"}, {"value": "11,12"}],
    },
}


def start_all() -> list[service.Service]:
    """Start both services on 127.0.0.1; they go on when this process ends, until `stop_all`."""
    if running():
        raise EnvironmentProblem("services of 'make serve' are running: 'make stop' ends them")
    names: tuple[ServiceName, ...] = ("java", "python")
    for name in names:
        service.require_free(service.port(name), service.PORT_VARIABLES[name])
    started: list[service.Service] = []
    try:
        for name in names:
            started.append(_start(name))
    except BaseException:
        for each in started:
            each.stop()
        raise
    write_json(_state(), {each.name: each.processes[0].pid for each in started})
    return started


def stop_all() -> list[str]:
    """End the services that `start_all` left running; returns their names."""
    stopped = []
    for name, pid in running().items():
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            children = process.children(recursive=True)
            process.terminate()
            _, left = psutil.wait_procs([process, *children], timeout=STOP_TIMEOUT_S)
            for each in left:
                each.kill()
        stopped.append(name)
    _state().unlink(missing_ok=True)
    return stopped


def running() -> dict[str, int]:
    """The services left running by `start_all`, name to process id."""
    if not _state().exists():
        return {}
    noted: dict[str, int] = json.loads(_state().read_text(encoding="utf-8"))
    return {name: pid for name, pid in noted.items() if psutil.pid_exists(pid)}


def curl_lines(target: service.Service) -> list[str]:
    """One line a strategy that works when pasted into a shell."""
    body = shlex.quote(json.dumps(EXAMPLE, separators=(",", ":")))
    header = "-H 'Content-Type: application/json'"
    return [
        f"curl -sS {header} {target.base_url}/matrix/{strategy} -d {body}"
        for strategy in target.strategies()
    ]


def _start(name: ServiceName) -> service.Service:
    return service.start(name, "none", None, serve_folder() / name, outlives_us=True)


def _state() -> Path:
    return serve_folder() / "running.json"
