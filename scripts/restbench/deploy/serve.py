"""`make serve` and `make stop`: services and database in the background, curl lines to paste."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

import psutil

from restbench.deploy import database, fronts, programs, service
from restbench.deploy.database import Database
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, FRAMEWORKS, Front, ServiceName
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import ports, watch
from restbench.store.store import read_object, serve_folder
from restbench.store.writing import write_json

STOP_TIMEOUT_S = 20.0
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
NAMES: tuple[ServiceName, ...] = ("java", "python")
EXAMPLE = {
    "requestId": 1,
    "matrixOne": {"columnCount": 3, "rows": [{"value": "1,2,3"}, {"value": "4,5,6"}]},
    "matrixTwo": {
        "columnCount": 2,
        "rows": [{"value": "7,8"}, {"value": "9,10"}, {"value": "11,12"}],
    },
}

#: An example of every operation: method, path, and body of a POST. In this order, in a new
#: database, each has something to do.
MESSAGES_EXAMPLES: tuple[tuple[str, str, dict[str, object] | None], ...] = (
    ("POST", "queues", {"requestId": 1, "queue": "a"}),
    ("POST", "queues", {"requestId": 2, "queue": "b"}),
    ("GET", "queues?limit=10", None),
    ("POST", "queues/a/messages", {"requestId": 3, "sender": 1, "body": "hello"}),
    ("POST", "broadcast", {"requestId": 4, "sender": 1, "queues": ["a", "b"], "body": "to all"}),
    ("GET", "queues/a", None),
    ("GET", "queues/a/messages?limit=10", None),
    ("POST", "queues/a/pop", {"requestId": 5, "client": 2}),
    ("DELETE", "queues/b/messages/3", None),
    ("DELETE", "queues/b", None),
)
LOGS_EXAMPLE = {"requestId": 1, "ruleSet": "R16", "lines": ["took 4001 ms", "all is well"]}


def database_folder(url: str | None = None) -> Path:
    """The folder of the database of `make serve`, which keeps its messages over a stop. For a
    server that others run, at `url`, another one: its roles have other passwords."""
    return serve_folder() / ("database" if url is None else "other-database")


def start_database(wanted: Database) -> None:
    """Start the database with its tables, or use that of its folder; it runs until `stop_all`."""
    if wanted.own_url is None and wanted.alive():
        wanted.port = database.attached(wanted.folder).port
    else:
        wanted.start()
    wanted.migrate()


def require_frameworks() -> None:
    """BadConfiguration where JAVA_FRAMEWORK or PYTHON_FRAMEWORK is not available here."""
    for name in NAMES:
        variable = f"{name.upper()}_FRAMEWORK"
        given = os.environ.get(variable) or DEFAULT_FRAMEWORKS[name]
        framework = next((each for each in FRAMEWORKS[name] if each == given), None)
        if framework is None:
            raise BadConfiguration(f"{variable}={given}: the {name} service offers {_known(name)}")
        if lack := programs.why_unavailable(name, framework):
            raise BadConfiguration(f"{variable}: {lack}; there is {_known(name)}")


def _known(name: ServiceName) -> str:
    """The frameworks of a service that are available here, for a message."""
    return ", ".join(each for each in FRAMEWORKS[name] if not programs.why_unavailable(name, each))


def start_all(
    front: Front = "none", settings: Mapping[str, str] = programs.NO_SETTINGS
) -> list[service.Service]:
    """Start both services on 127.0.0.1, each behind a front of its own if one is wanted; they go on
    when this process ends, until `stop_all`. `settings` are variables of both."""
    if running():
        raise EnvironmentProblem("services of 'make serve' are running: 'make stop' ends them")
    for name in NAMES:
        ports.free_port_of(name)
    started: list[service.Service] = []
    try:
        for name in NAMES:
            folder = serve_folder() / name
            own = service.start(
                name, front, None, folder, outlives_us=True, protected=True, settings=settings
            )
            started.append(own)
            _note(started)
    except BaseException:
        for each in started:
            each.stop()
        _state().unlink(missing_ok=True)
        raise
    return started


def stop_all() -> list[str]:
    """End the services that `start_all` left running, the fronts before them and the database
    behind them; returns their names. EnvironmentProblem where they are another user's."""
    stopped = _noted()
    for name, processes in stopped.items():
        for pid, *front_folder in reversed(processes):
            try:
                _end(pid)
            except psutil.AccessDenied as error:
                raise EnvironmentProblem(
                    f"the {name} service (pid {pid}) belongs to another user: run 'make stop' as "
                    "that user"
                ) from error
            for folder in front_folder:
                shutil.rmtree(folder, ignore_errors=True)
    _state().unlink(missing_ok=True)
    names: list[str] = list(stopped)
    with contextlib.suppress(EnvironmentProblem):
        database.attached(database_folder()).stop()
        names.append("database")
    return names


def _end(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        children = process.children(recursive=True)
        process.send_signal(fronts.DRAINED_BY.get(process.name(), signal.SIGTERM))
        _, left = psutil.wait_procs([process, *children], timeout=STOP_TIMEOUT_S)
        for each in left:
            each.kill()


def running() -> dict[str, list[int]]:
    """By service: the ids of its process, and of its front's, that `start_all` left running."""
    return {name: [pid for pid, *_ in processes] for name, processes in _noted().items()}


def _noted() -> dict[str, list[tuple[int, *tuple[str, ...]]]]:
    """By service its processes that still run: the id of each, and the folder of a front."""
    if not _state().exists():
        return {}
    noted = read_object(_state(), "remove it, and end services that still run by hand")
    ours = {
        name: [(pid, *rest) for pid, born, *rest in processes if born and _born(pid) == born]
        for name, processes in noted.items()
    }
    return {name: processes for name, processes in ours.items() if processes}


def curl_lines(target: service.Service) -> list[str]:
    """A curl line for each strategy, to be pasted into a shell, and one for the workload `logs`."""
    requests = [(f"matrix/{strategy}", EXAMPLE) for strategy in target.strategies()]
    requests.append(("logs/serial", LOGS_EXAMPLE))
    return [_curl(target, "POST", path, request) for path, request in requests]


def messages_lines(target: service.Service) -> list[str]:
    """A curl line for each operation of the workload `messages`, to be pasted in this order."""
    return [
        _curl(target, method, f"messages/serial/{path}", request)
        for method, path, request in MESSAGES_EXAMPLES
    ]


def _curl(
    target: service.Service, method: str, path: str, request: Mapping[str, object] | None
) -> str:
    url = shlex.quote(f"{target.base_url}/{path}")
    if request is None:
        return f"curl -sS {'' if method == 'GET' else f'-X {method} '}{url}"
    body = shlex.quote(json.dumps(request, separators=(",", ":")))
    return f"curl -sS -H 'Content-Type: application/json' {url} -d {body}"


def _note(started: list[service.Service]) -> None:
    """Save each process's id with its start, as ids are used again, and a front's folder."""
    noted = {}
    for each in started:
        noted[each.name] = [[process.pid, _born(process.pid)] for process in each.processes]
        if each.front_folder:
            noted[each.name][-1].append(str(each.front_folder))
    write_json(_state(), noted)


def _born(pid: int) -> str | None:
    """The start of a process: the id of the boot, and clock ticks since then, which no change of
    the wall clock affects; None for a process that is gone."""
    ticks = watch.born(pid)
    return f"{BOOT_ID.read_text().strip()} {ticks}" if ticks else None


def _state() -> Path:
    return serve_folder() / "processes.json"
