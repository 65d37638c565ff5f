"""What sar, pidstat and the service's metrics tell of a run's long windows (method, rule 13)."""

from __future__ import annotations

from dataclasses import dataclass

from restbench.experiment.records import LongWindow
from restbench.observe import service_metrics, sysstat
from restbench.observe.service_metrics import ServiceMetrics
from restbench.observe.sysstat import MachineUse, ProcessUse
from restbench.store.folders import CellFolder
from restbench.store.store import Run, read_model


@dataclass(frozen=True)
class Observed:
    """One long window; None where there was no sample in it."""

    cell: str
    seconds: float
    machine: MachineUse | None
    service: ProcessUse | None
    """None of a service that others run, too."""
    metrics: ServiceMetrics | None


def of_run(run: Run) -> list[Observed]:
    """Every long window of the run that is finished, in the order of the plan."""
    cells = dict.fromkeys(each.cell.id for each in run.manifest().plan)
    folders = ((cell, run.window(cell)) for cell in cells)
    return [_observed(cell, folder) for cell, folder in folders if folder.window_record.exists()]


def _observed(cell: str, folder: CellFolder) -> Observed:
    record = read_model(folder.window_record, LongWindow)
    return Observed(
        cell=cell,
        seconds=record.window.seconds,
        machine=sysstat.machine_use(folder.sar_json, record.window),
        service=sysstat.process_use(folder.pidstat, record.window, record.service_pids),
        metrics=service_metrics.read(folder.metrics, record.window),
    )
