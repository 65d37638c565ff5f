"""Long uninterrupted windows: the study's own view (method, rule 13), and a cross-check of trials.

Each window is one trial of some seconds, while sar, pidstat and the service's own metrics are
recorded. Its requests are written as a JTL, from which JMeter makes the study's dashboards.
"""

from __future__ import annotations

from restbench.drive import generator, jtl_file, monitor
from restbench.drive.generator import WRONG
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.records import LongWindow, Window
from restbench.failures import EnvironmentProblem, NotOffered, counted
from restbench.grouping import grouped
from restbench.machine import clock
from restbench.schedule import under_load
from restbench.schedule.block_run import BlockOrder, LoadRun, kind_of
from restbench.schedule.deployments import Deployments
from restbench.schedule.pace import TrialGroup
from restbench.show.progress import ProgressView
from restbench.store.store import Run
from restbench.store.trials import Event
from restbench.store.writing import write_record

#: The duration of the load on a cell before its window, as a share of the window's.
WARM_SHARE = 0.5
#: Additional seconds of load before the first window of a fresh service.
FIRST_WARM_S = 6.0
#: The time that the warm-up before a window and the end of its collectors take, as a share of it.
_OVERHEAD_SHARE = 0.6


def missing(order: Order, run: Run) -> list[Cell]:
    """The cells for which the profile wants a window, and which have none yet."""
    if order.experiment.traits.trials_are_windows:
        return []
    cells = dict.fromkeys(each.cell for each in order.plan)
    return [
        cell
        for cell in cells
        if order.profile.has_window(cell) and not run.window(cell.id).window_record.exists()
    ]


def seconds(order: Order, run: Run) -> float:
    """How many seconds the missing windows take."""
    return (1 + _OVERHEAD_SHARE) * order.profile.window_s * len(missing(order, run))


def take(order: Order, run: Run, view: ProgressView) -> None:
    """Measure a window for each cell that lacks one."""
    for cells in grouped(missing(order, run), lambda each: each.service_group).values():
        view.note(f"long windows: {', '.join(each.id for each in cells)}")
        group = TrialGroup("long windows", tuple(cells))
        _measure(BlockOrder(order, run, view, 0, [group], seconds(order, run)))


def _measure(wanted: BlockOrder) -> None:
    run, cells = wanted.run, wanted.cells
    window_s = wanted.order.profile.window_s
    wanted.view.show(wanted.begun())
    try:
        with under_load.services(wanted) as deployments:
            if not (cells := _offered(wanted, deployments)):
                return
            users = max(cell.users for cell in cells)
            cores = deployments.running(cells[0]).cores.own_load
            with generator.started(users, run.load(0), cores) as load:
                here = LoadRun(**vars(wanted), deployments=deployments, load=load)
                for number, cell in enumerate(cells):
                    folder, service = run.window(cell.id), here.running(cell).service
                    folder.path.mkdir(parents=True, exist_ok=True)
                    here.announce(cell)
                    warm_s = WARM_SHARE * window_s + (0 if number else FIRST_WARM_S)
                    warmed = load.trial(cell.id, cell.users, warm_s, 0.1, service.pids())
                    pids = service.pids()
                    with monitor.collectors(service, load.pid, folder, cores) as collectors:
                        sent = load.trial(cell.id, cell.users, 0.0, window_s, pids)
                        for name in monitor.ended(collectors):
                            wanted.view.note(f"{cell.id}: {name} ended before its window did")
                    outcomes = [each.records["outcome"] for each in (warmed, sent)]
                    wrong = sum(int((each == WRONG).sum()) for each in outcomes)
                    if not wrong and not service.alive():
                        raise EnvironmentProblem(service.ending())
                    if wrong:  # first: a window that has its record is not measured again
                        answers = counted(wrong, "answer", "was", "were")
                        _say(wanted, "wrong", f"{answers} wrong in a long window", cell)
                    jtl_file.write(folder.samples, cell, here.url(cell), sent)
                    span = Window(start_ms=sent.opened.epoch_ms, end_ms=sent.closed.epoch_ms)
                    record = LongWindow(window=span, service_pids=tuple(pids))
                    write_record(folder.window_record, record)
    except EnvironmentProblem as error:
        for cell in missing(wanted.order, run):
            if cell in cells:
                _say(wanted, "window-failed", str(error), cell)


def _offered(wanted: BlockOrder, deployments: Deployments) -> list[Cell]:
    """The cells without those that the service does not offer, of which an event is noted: every
    answer to their load would be 404."""
    found = []
    for cell in wanted.cells:
        lack = deployments.lacks(cell)
        if isinstance(lack, NotOffered):
            _say(wanted, kind_of(cell, lack), str(lack), cell)
        else:
            found.append(cell)
    return found


def _say(wanted: BlockOrder, kind: str, text: str, cell: Cell) -> None:
    """Note an event of a window, at the last finished block of the run: an event without a block
    would not be shown for its cell."""
    finished = [each.block for each in wanted.run.trials.blocks() if each.finished]
    event = Event(clock.now_text(), kind, text, max(finished, default=None), cell.id)
    wanted.run.trials.note(event)
    wanted.view.note(f"{kind}  {cell.id}: {text}")
