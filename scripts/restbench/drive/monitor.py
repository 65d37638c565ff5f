"""Collectors that run during a cell: sar, pidstat and a sampler of the service's metrics."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import httpx

from restbench.deploy.service import Service
from restbench.failures import EnvironmentProblem
from restbench.machine import process
from restbench.machine.alongside import alongside
from restbench.store.folders import CellFolder

INTERVAL_S = 1
METRICS_TIMEOUT_S = 5.0
STOP_TIMEOUT_S = 3.0

#: The service's own metrics that are kept: requests, JVM heap, GC pauses, threads by state.
KEPT = (
    "restbench_",
    "jvm_memory_used_bytes",
    "jvm_gc_pause_seconds",
    "jvm_threads_states_threads",
    "process_resident_memory_bytes",
    "process_cpu",
)
COUNT = "restbench_requests_total"
#: What `sadf -j` is asked for: CPU per core, run queue, memory, context switches.
SADF_SELECTION = ["-u", "ALL", "-P", "ALL", "-q", "-r", "-w"]


Running: TypeAlias = dict[str, subprocess.Popen[bytes]]
"""The processes of the collectors by name."""


def require_tools() -> None:
    """EnvironmentProblem where collectors are not installed."""
    if missing := [each for each in ("sar", "sadf", "pidstat") if shutil.which(each) is None]:
        raise EnvironmentProblem(
            f"{', '.join(missing)} missing: apt-get install sysstat (make setup does it as root)"
        )


@contextmanager
def collectors(
    service: Service, load_pid: int | None, folder: CellFolder, cores: str | None = None
) -> Iterator[Running]:
    """Run sar, pidstat and the metrics sampler while the block runs; then convert sar's file, which
    ends with its last sample. sar and pidstat run on `cores` where they are given: those of the
    load generator, so that the service's cores are left alone."""
    pids = [*service.pids(), *([load_pid] if load_pid else [])]
    sar = ["env", "LC_ALL=C", "sar", "-A", "-o", str(folder.sar_binary), str(INTERVAL_S)]
    pidstat = ["env", "LC_ALL=C", "pidstat", "-H", "-h", "-u", "-r", "-w"]
    pidstat += ["-p", ",".join(map(str, pids)), str(INTERVAL_S)]
    running: Running = {}
    with alongside(partial(_sample_metrics, service, folder.metrics)):
        try:
            running["sar"] = process.start(process.bound_to_us(sar, cores), Path("/dev/null"))
            if pids:
                line = process.bound_to_us(pidstat, cores)
                running["pidstat"] = process.start(line, folder.pidstat)
            yield running
        finally:
            for each in running.values():
                # Signal the whole group: sar alone would wait for the next sample of its collector.
                process.stop(each, signal.SIGINT, STOP_TIMEOUT_S, to_group=True)
            command = ["sadf", "-j", str(folder.sar_binary), "--", *SADF_SELECTION]
            with folder.sar_json.open("wb") as output:
                # A file that sadf cannot read has no samples: the page has no figures of it then.
                subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, check=False)


def ended(running: Running) -> list[str]:
    """The names of the collectors that should be running and have ended."""
    return [name for name, each in running.items() if each.poll() is not None]


def _sample_metrics(service: Service, path: Path, stopped: threading.Event) -> None:
    """Write the metrics every INTERVAL_S, a JSON object a line; of several instances the sums."""
    with path.open("w", encoding="utf-8") as output:
        while not stopped.is_set():
            values = Counter[str]()
            # No line where an instance does not answer: the series has a gap, and no wrong sum.
            for each in _metrics_of_instances(service, is_kept) or ():
                values.update(each)
            if values:
                line = {"t_ms": round(time.time() * 1000), "values": values}
                output.write(json.dumps(line) + "\n")
            stopped.wait(INTERVAL_S)


def is_kept(name: str) -> bool:
    """Whether a metric is one of `KEPT`."""
    return name.startswith(KEPT)


def parse_metrics(text: str, wanted: Callable[[str], bool] = is_kept) -> dict[str, float]:
    """The values in Prometheus text format by `name{labels}`, only for the wanted names."""
    values: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name and not line.startswith("#") and wanted(name):
            values[name] = float(value)
    return values


def answered_requests(service: Service, strategy: str) -> list[float] | None:
    """How many requests of a strategy each instance has answered; None if one does not say it."""
    reported = _metrics_of_instances(
        service, lambda name: name.startswith(COUNT) and f'strategy="{strategy}"' in name
    )
    # A missing line is not a count of 0: the service has already answered the request of the check.
    # Of several instances only one has answered it, so the others may have no line.
    if reported is None or not (service.instances or all(reported)):
        return None
    return [sum(each.values()) for each in reported]


def _metrics_of_instances(
    service: Service, wanted: Callable[[str], bool]
) -> list[dict[str, float]] | None:
    """The wanted metrics of each instance; None if one needs over METRICS_TIMEOUT_S (overload)."""
    with contextlib.suppress(httpx.HTTPError):
        answers = (
            each.client.get(f"{each.base_url}/metrics", timeout=METRICS_TIMEOUT_S)
            for each in service.each()
        )
        return [parse_metrics(each.raise_for_status().text, wanted) for each in answers]
    return None
