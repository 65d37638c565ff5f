"""What runs next to a cell: sar, pidstat and the service's own metrics."""

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
from pathlib import Path
from typing import TypeAlias

import httpx

from restbench.deploy.service import Service
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
"""The collectors by their names."""


def missing_tools() -> list[str]:
    """The collectors that are not installed."""
    return [tool for tool in ("sar", "sadf", "pidstat") if shutil.which(tool) is None]


@contextmanager
def collectors(
    service: Service, load_pid: int | None, folder: CellFolder, cores: str | None = None
) -> Iterator[Running]:
    """Run sar, pidstat and the metrics sampler while the block runs; convert sar's file after. What
    came after sar's last sample is not in it. sar and pidstat run on `cores` where they are given:
    the load generator's own, so that the service's are left alone."""
    running: Running = {}
    with _sampled_metrics(service, folder.metrics):
        try:
            _start_collectors(running, service, load_pid, folder, cores)
            yield running
        finally:
            for each in running.values():
                # The whole group: sar alone would wait for the next sample of its collector.
                process.stop(each, signal.SIGINT, STOP_TIMEOUT_S, to_group=True)
            _convert(folder)


def ended(running: Running) -> list[str]:
    """Those that should run and do not."""
    return [name for name, each in running.items() if each.poll() is not None]


def _start_collectors(
    running: Running,
    service: Service,
    load_pid: int | None,
    folder: CellFolder,
    cores: str | None,
) -> None:
    pids = [*service.pids(), *([load_pid] if load_pid else [])]
    sar = ["env", "LC_ALL=C", "sar", "-A", "-o", str(folder.sar_binary), str(INTERVAL_S)]
    selection = ",".join(map(str, pids))
    pidstat = ["env", "LC_ALL=C", "pidstat", "-H", "-h", "-u", "-r", "-w"]
    pidstat += ["-p", selection, str(INTERVAL_S)]
    running["sar"] = process.start(process.bound_to_us(sar, cores), Path("/dev/null"))
    if pids:
        line = process.bound_to_us(pidstat, cores)
        running["pidstat"] = process.start(line, folder.pidstat)


def _convert(folder: CellFolder) -> None:
    command = ["sadf", "-j", str(folder.sar_binary), "--", *SADF_SELECTION]
    with folder.sar_json.open("wb") as output:
        # A file that sadf cannot read has no samples: the page has no figures of the machine then.
        subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, check=False)


@contextmanager
def _sampled_metrics(service: Service, path: Path) -> Iterator[None]:
    def sample(stopped: threading.Event) -> None:
        with path.open("w", encoding="utf-8") as output:
            while not stopped.is_set():
                if values := _scrape(service):
                    line = {"t_ms": round(time.time() * 1000), "values": values}
                    output.write(json.dumps(line) + "\n")
                stopped.wait(INTERVAL_S)

    with alongside(sample):
        yield


def _scrape(service: Service) -> dict[str, float]:
    """Of several instances the sums."""
    found: Counter[str] = Counter()
    # A service under overload may not answer in time; a gap in the series is the truth then.
    with contextlib.suppress(httpx.HTTPError):
        for each in service.each():
            found.update(parse_metrics(_metrics(each)))
        return dict(found)
    return {}


def parse_metrics(
    text: str, wanted: Callable[[str], bool] = lambda n: n.startswith(KEPT)
) -> dict[str, float]:
    """Prometheus text format to `name{labels}` → value, only the wanted names."""
    values: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name and not line.startswith("#") and wanted(name):
            values[name] = float(value)
    return values


def answered_requests(service: Service, strategy: str) -> list[float] | None:
    """How many requests of a strategy each instance of the service says it has answered; None if
    one does not say."""
    counts: list[float] = []
    with contextlib.suppress(httpx.HTTPError):
        for each in service.each():
            found = parse_metrics(
                _metrics(each),
                lambda name: name.startswith(COUNT) and f'strategy="{strategy}"' in name,
            )
            # No such line is not a count of nothing: what counts has answered the check. Of several
            # instances one has.
            if not found and not service.instances:
                return None
            counts.append(sum(found.values()))
        return counts
    return None


def _metrics(service: Service) -> str:
    answer = service.client.get(f"{service.base_url}/metrics", timeout=METRICS_TIMEOUT_S)
    return answer.raise_for_status().text
