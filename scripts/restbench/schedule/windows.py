"""Long uninterrupted windows: the study's own view (method, rule 13), and a cross-check of trials.

Each is one trial of some seconds with sar, pidstat and the service's own metrics next to it. Its
requests are written as a JTL, which JMeter makes the study's dashboards of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from restbench.drive import generator, jtl_file, monitor
from restbench.drive.payload import path_of
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.records import LongWindow, Window
from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.machine import clock
from restbench.machine.phases import spent_on
from restbench.schedule.deployments import Deployments
from restbench.store.store import Run
from restbench.store.trials import Event
from restbench.store.writing import write_record

#: Load on a cell before its window, as long a part of it as of the trials.
WARM_SHARE = 0.5
#: Of a fresh service the first window is preceded by so much more.
FIRST_WARM_S = 6.0
#: What a window takes in addition to itself, as a part of it: its warm-up and its collectors' ends.
_BESIDE = 0.6


def missing(order: Order, run: Run) -> list[Cell]:
    """The cells that the profile names a window for and that have none yet."""
    if order.experiment.traits.trials_are_windows:
        return []
    cells = dict.fromkeys(each.cell for each in order.plan)
    return [
        cell
        for cell in cells
        if order.profile.has_window(cell) and not run.window(cell.id).window_record.exists()
    ]


def seconds(order: Order, run: Run) -> float:
    """How long those take."""
    return (1 + _BESIDE) * order.profile.window_s * len(missing(order, run))


@spent_on("long windows")
def take(order: Order, run: Run, note: Callable[[str], None]) -> None:
    """A window for each cell that lacks one."""
    groups: dict[object, list[Cell]] = {}
    for cell in missing(order, run):
        groups.setdefault(cell.service_group, []).append(cell)
    for group in groups.values():
        note(f"long windows: {', '.join(each.id for each in group)}")
        _measure(order, run, group, note)


def _measure(order: Order, run: Run, cells: Sequence[Cell], note: Callable[[str], None]) -> None:
    deployments = Deployments(run, 0, order.experiment.settings, order.attached, order.builds)
    users = max(cell.users for cell in cells)
    try:
        deployments.start([cells[0].service_group])
        running = deployments.running(cells[0])
        cores = running.cores.own_load
        with generator.started(users, run.path / "load" / "windows", cores) as load:
            for number, cell in enumerate(cells):
                folder = run.window(cell.id)
                folder.path.mkdir(parents=True, exist_ok=True)
                workload = order.experiment.workload(cell.complexity)
                path = path_of(workload, cell.strategy, cell.kernel)
                url = running.service.base_url + path
                load.cell(cell.id, url, run.payload(cell.complexity))
                seconds = order.profile.window_s
                warm_s = WARM_SHARE * seconds + (0 if number else FIRST_WARM_S)
                load.trial(cell.id, cell.users, warm_s, 0.1, running.service.pids())
                pids = running.service.pids()
                with monitor.collectors(running.service, load.pid, folder, cores) as collectors:
                    sent = load.trial(cell.id, cell.users, 0.0, seconds, pids)
                    for name in monitor.ended(collectors):
                        note(f"{cell.id}: {name} ended before its window did")
                jtl_file.write(folder.samples, cell, url, sent)
                span = Window(start_ms=sent.opened.epoch_ms, end_ms=sent.closed.epoch_ms)
                record = LongWindow(window=span, service_pids=tuple(pids))
                write_record(folder.window_record, record)
    except StorageProblem:
        raise
    except EnvironmentProblem as error:
        run.trials.note(Event(clock.now_text(), "window-failed", str(error), None, cells[0].id))
        note(f"no long windows of {cells[0].service}: {error}")
    finally:
        deployments.stop()
