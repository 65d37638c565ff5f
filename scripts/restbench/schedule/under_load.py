"""A block under load: its services and its load generator, what comes before the first trial, and
what is checked after the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias, TypeVar

from restbench.drive import generator, monitor
from restbench.experiment.cell import Cell, ServiceGroup
from restbench.machine.namespaces import Host
from restbench.schedule import preparation
from restbench.schedule.block_run import BlockOrder, Driver, LoadRun
from restbench.schedule.deployments import Deployments, RunningService

R = TypeVar("R", bound=LoadRun)
Counts: TypeAlias = dict[tuple[ServiceGroup, str], tuple[RunningService, list[float] | None]]
"""By service and strategy: the service, and how many requests each instance has answered by its own
count; None where an instance reports no count."""
#: An instance that served less than this part of its fair share is reported as unbalanced.
LEAST_OF_FAIR_SHARE = 0.5
#: The relative difference that is tolerated between requests sent and requests counted: a request
#: that never reached the service, or whose answer never came, is in one of the counts only.
COUNT_TOLERANCE = 0.001


class LoadDriver(Driver, Protocol):
    """A driver whose services are up, proven and warm."""

    def pilot(self) -> None:
        """Find out what must be known of each cell before its first trial."""


@contextmanager
def opened(
    kind: Callable[[R], LoadDriver],
    run_of: Callable[..., R],
    wanted: BlockOrder,
    databases: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[Driver]:
    """The driver of a block, ready for its first trial; checks follow after the last one. `run_of`
    makes the block: LoadRun, or a subclass for a kind of load that needs more."""
    folder = wanted.run.load(wanted.block)
    with (
        services(wanted, databases=databases) as deployments,
        generator.started(
            max(preparation.WARMING_USERS, *(cell.users for cell in wanted.cells)),
            folder,
            wanted.run.cores().own_load,
        ) as load,
    ):
        here = run_of(**vars(wanted), deployments=deployments, load=load)
        with proven(here):
            preparation.warm(here)
            driver = kind(here)
            driver.pilot()
            yield driver


@contextmanager
def proven(here: LoadRun) -> Iterator[None]:
    """Check each cell with a request, and prove the strategies; after the last trial check whether
    the services counted what was sent to them, and whether they kept to their cores."""
    preparation.look(here)
    preparation.prove(here)
    here.prove()
    before = _counts(here)
    yield
    _check_counts(here, before)
    shares = {key: each.off_cores_share() for key, each in here.deployments.up.items()}
    found = {cell.id: share for cell in here.cells if (share := shares.get(cell.service_group))}
    here.file.fact(here.block, "off_cores_share", found)


@contextmanager
def services(
    wanted: BlockOrder,
    host: Host | None = None,
    databases: Mapping[str, Mapping[str, str]] | None = None,
    cells: Sequence[Cell] | None = None,
    *,
    usual_ports: bool = True,
) -> Iterator[Deployments]:
    """The services that these cells need, by default all of the block, up as long as the context
    lasts; on `host` where one is given. `databases` and `usual_ports` as in Deployments."""
    deployments = Deployments(
        wanted.run, wanted.block, wanted.order, host, databases or {}, usual_ports
    )
    needed = wanted.cells if cells is None else cells
    groups = list(dict.fromkeys(cell.service_group for cell in needed))
    # A service that starts first has some seconds more before its trials: hence a random order.
    wanted.draws("start").shuffle(groups)
    try:
        deployments.start(groups)
        yield deployments
    finally:
        deployments.stop()


def _counts(here: LoadRun) -> Counts:
    found = {}
    for cell in here.cells:
        if running := here.deployments.of(cell):
            key = (cell.service_group, cell.strategy)
            found[key] = (running, monitor.answered_requests(running.service, cell.strategy))
    return found


def _check_counts(here: LoadRun, before: Counts) -> None:
    """Check that each service counted as many requests as were sent to it, and that its instances
    served similar numbers. A service that was replaced meanwhile is skipped: its count is new."""
    gaps: dict[str, float] = {}
    for (key, strategy), (running, first) in before.items():
        if first is None or here.deployments.up.get(key) is not running:
            continue
        last = monitor.answered_requests(running.service, strategy)
        if last is None:
            continue
        each = [now - then for now, then in zip(last, first, strict=True)]
        served, sent = sum(each), here.sent[key, strategy]
        if min(each) * len(each) < LEAST_OF_FAIR_SHARE * served:
            shares = ", ".join(f"{part:.0f}" for part in each)
            text = f"{key[0]} {strategy}: instances served {shares} requests"
            here.view.note(f"unbalanced  {text}")
            for cell in _under(here, key, strategy):
                here.note("unbalanced", text, cell)
        if abs(served - sent) > COUNT_TOLERANCE * sent:
            counts = f"{sent} requests were sent, the service counted {served:.0f}"
            text = f"{key.name} {strategy}: {counts}"
            here.view.note(f"count-mismatch  {text}")
            gap = abs(served - sent) / max(served, 1.0)
            gaps |= {cell.id: gap for cell in _under(here, key, strategy)}
    here.file.fact(here.block, "count_gap", gaps)


def _under(here: LoadRun, service: ServiceGroup, strategy: str) -> list[Cell]:
    return [
        each for each in here.cells if (each.service_group, each.strategy) == (service, strategy)
    ]
