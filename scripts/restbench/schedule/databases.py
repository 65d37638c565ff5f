"""The databases of a block: one for each set of settings that its cells name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from restbench.deploy.database import Database, fresh
from restbench.drive.messages import Connection, InDatabase
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.schedule.block_run import Wanted
from restbench.store.store import Run


@dataclass
class Store:
    """A database of a block, with what the harness asks of it."""

    database: Database
    owner: Connection
    watching: Connection
    """For `resources.Meter` alone, which asks from a thread of its own."""
    most: int
    """Queues that a load of the run needs."""
    queues: dict[str, InDatabase] = field(default_factory=dict)
    """By technique."""

    def of(self, cell: Cell) -> InDatabase:
        """The queues of a cell's technique."""
        if cell.technique not in self.queues:
            made = InDatabase.made(self.owner, cell.technique, self.most)
            self.queues[cell.technique] = made
        return self.queues[cell.technique]


@contextmanager
def stores_of(order: Order, run: Run, wanted: Wanted, cores: str) -> Iterator[dict[str, Store]]:
    """A fresh database for each set of settings that cells name, and the usual one where none
    does; all are removed in the end, but for their logs."""
    names = dict.fromkeys(cell.postgres for cell in wanted.cells)
    levels = [order.experiment.messages(cell.complexity) for cell in wanted.cells]
    most = max((level.queues for level in levels if level), default=0)
    found: dict[str, Store] = {}
    with ExitStack() as stack:
        for number, name in enumerate(names, start=1):
            folder = run.path / "load" / f"block-{wanted.block}" / f"database-{number}"
            given = dict(each.split("=", 1) for each in name.split(",") if each)
            database = Database(folder, overrides=given, cores=cores)
            stack.enter_context(fresh(database))
            owner = stack.enter_context(database.connect())
            watching = stack.enter_context(database.connect("monitor"))
            found[name] = Store(database, owner, watching, most)
        yield found
