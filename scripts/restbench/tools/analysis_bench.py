"""How fast the analysis of one sample log is, beside JMeter's own dashboard generator on the same
file: each in a process of its own, timed from its start to its end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from restbench.analyse import measures
from restbench.drive import load
from restbench.experiment.cell import Cell, Shape
from restbench.experiment.records import CellRun, Usage, Window
from restbench.failures import EnvironmentProblem
from restbench.machine import process
from restbench.store.cell_folder import CellFolder
from restbench.store.store import read_model
from restbench.store.writing import write_model
from restbench.tools import synthetic

USERS = 60
START_MS = 1_795_225_800_000
ERROR_SHARE = 0.001
#: The dashboard generator as JMeter ships it: percentiles of the last 20 000 samples of a label
#: only, a point a minute.
AS_SHIPPED = (
    "-Jjmeter.reportgenerator.statistic_window=20000",
    "-Jjmeter.reportgenerator.overall_granularity=60000",
)
#: The launcher's compiler is chosen for short runs; minutes of work are faster with the full one.
FULL_COMPILER = {"JMETER_JVM_ARGS": "-XX:TieredStopAtLevel=4"}


@dataclass(frozen=True)
class Timed:
    """One analysis of the file."""

    name: str
    seconds: float
    peak_mib: float
    """The largest resident memory of its process."""


def lay_down(folder: CellFolder, rows: int) -> None:
    """Write a load of so many samples with its record: lognormal times, some errors."""
    times_ms = np.random.default_rng(2019).lognormal(2.5, 0.6, rows)
    made = synthetic.closed_load(times_ms, USERS, START_MS, ERROR_SHARE)
    folder.path.mkdir(parents=True, exist_ok=True)
    synthetic.write(folder.samples, made)
    write_model(folder.record, _record(int(made.end_ms[-1]), made.end_ms.size))


def analyse(folder: CellFolder) -> int:
    """Everything that a report needs of one measurement; returns its correct responses."""
    found = measures.measurement(read_model(folder.record, CellRun), folder)
    return found.samples or 0


def compare(folder: CellFolder, rows: int) -> Iterator[Timed]:
    """Lay the file down, analyse it, then let JMeter's generator do so: as shipped, and with
    percentiles of every sample as the suite's settings ask for.

    Each is told as it ends: JMeter takes minutes. EnvironmentProblem where one fails.
    """
    load.require_jmeter()
    _run("writing the file", [*_python("lay_down"), str(folder.path), str(rows)])
    yield _run("restbench", [*_python("analyse"), str(folder.path)])
    # The generator's working files would stay where the command was typed.
    temporary = f"-Jjmeter.reportgenerator.temp_dir={folder.path / 'temp'}"
    dashboard = [str(load.LAUNCHER), "-g", str(folder.samples), "-j", str(folder.load_log)]
    dashboard += [temporary, "-o"]
    shipped = [*dashboard, str(folder.path / "as-shipped"), *AS_SHIPPED]
    yield _run("JMeter dashboard, as shipped", shipped, FULL_COMPILER)
    exact = [*dashboard, str(folder.path / "all-samples")]
    yield _run("JMeter dashboard, all samples", exact, FULL_COMPILER)


def _python(function: str) -> list[str]:
    """A process that has done nothing else: its memory is the analysis' own."""
    code = (
        "import sys; from pathlib import Path; "
        "from restbench.tools import analysis_bench as bench; "
        "from restbench.store.cell_folder import CellFolder; "
        f"bench.{function}(CellFolder(Path(sys.argv[1])), *map(int, sys.argv[2:]))"
    )
    return [sys.executable, "-c", code]


def _run(name: str, command: list[str], environment: Mapping[str, str] | None = None) -> Timed:
    started = time.monotonic()
    child = subprocess.Popen(
        process.bound_to_us(command),
        env={**process.surroundings(), **(environment or {})},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    if child.returncode:
        raise EnvironmentProblem(f"{name}: ended with {child.returncode}: {' '.join(command)}")
    return Timed(name, seconds, usage.ru_maxrss / 1024)


def _record(end_ms: int, samples: int) -> CellRun:
    """The first tenth is warm-up; in the last one some users have no times left to wait."""
    tenth_ms = (end_ms - START_MS) // 10
    window_start_ms = START_MS + tenth_ms
    return CellRun(
        cell=Cell(service="java", strategy="serial", complexity="low", users=USERS),
        shape=Shape(rows=30, inner=20, columns=20),
        test_ids=(),
        block=1,
        order=1,
        status="measured",
        window=Window(start_ms=window_start_ms, end_ms=end_ms - tenth_ms, ended="enough"),
        warmup_s=(window_start_ms - START_MS) / 1000,
        usage=Usage(service_cpu_ms=1.0 * samples, load_cpu_ms=0.1 * samples, service_requests=None),
        service_cores=(0,),
        load_cores=(0,),
        payload_seed=2019,
    )
