"""An experiment file (TOML) and its expansion into cells: the only place with experiment values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar, assert_never

from pydantic import BaseModel, Field, model_validator

from restbench.experiment import toml_file
from restbench.experiment.calls import Calls
from restbench.experiment.cell import Cell, Kind, ServiceName, Shape, require
from restbench.experiment.cell_group import CellGroup, corner
from restbench.experiment.design import Design
from restbench.experiment.drivers import DRIVERS, Demand, Driver, DriverTable, Traits, View
from restbench.experiment.faults import Faults
from restbench.experiment.level import Logs, Messages, Shares, Size, Workload, require_known
from restbench.experiment.npb import Npb
from restbench.experiment.open_load import EngineLoad, OpenLoad
from restbench.experiment.profile import Profile
from restbench.experiment.selection import Above0, FileName, NotNegative, Strict, Where, is_any
from restbench.experiment.study import Figure, PublishedWorkers, TestId, Thresholds
from restbench.experiment.trace import Trace
from restbench.failures import BadConfiguration

T = TypeVar("T")
#: An element of a matrix, of 64 bits.
Element = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
#: By view: the table that it shows.
_OF_VIEWS: dict[View, str] = {
    "builds": "thresholds",
    "workers": "workers",
    "factorial": "factorial",
}
#: The load generator numbers its users with three digits: all ids of requests have one length.
MOST_USERS = 999
#: A hint for users of a former profile, which measured until a precision was reached.
FORMER_PROFILE_HINT = "; for a longer run, set its time: MINUTES=120, --minutes 120"


class Group(Strict):
    """Cells that are measured in the same rounds, because their ratios are asked for; each cell is
    in the first group that selects it."""

    name: str
    share: Above0 = 1.0
    """The weight of the group when groups share the time of a block."""
    where: Where


class Experiment(Strict):
    """A whole experiment file."""

    name: FileName
    title: str
    seed: NotNegative
    element_min: Element = 0
    element_max: Element = 50
    driver: Driver = "closed-load"
    views: Annotated[list[View], Field(min_length=1)] = Field(default=["study"])
    apart: Literal["service", "pool_threads"] | None = None
    """A factor whose levels a block measures one after the other: only the services of one level
    are up at a time."""
    complexities: dict[FileName, Size] = Field(default_factory=dict)
    wrk: Where | None = None
    """Cells that wrk loads too, once in a block: it takes less CPU time than the load generator,
    and checks only the status of an answer."""
    pgbench: Where | None = None
    """Cells of messages whose statements pgbench sends too, without a service: their limit."""
    pgbench_at_rate: Where | None = None
    """Cells whose statements pgbench also sends at the cell's own rate, on as many connections as
    the service has: a database that has less to do takes more CPU time for an operation."""
    mixes: dict[FileName, Shares] = Field(default_factory=dict)
    """Further levels of complexity: mixes of several other levels, with their shares."""
    settings: dict[ServiceName, dict[str, str]] = Field(default_factory=dict)
    profiles: dict[FileName, Profile]
    cells: list[CellGroup] = Field(default_factory=list)
    factorial: Design | None = None
    """A factorial design, whose corner points are cells, before those of `cells`."""
    groups: list[Group] = Field(default_factory=list)
    """Cells in none of these groups are one more group, `rest`."""
    tests: list[TestId] = Field(default_factory=list)
    figures: list[Figure] = Field(default_factory=list)
    claims: str | None = None
    """The path, relative to this file, of the claims file that runs are judged by."""
    open: OpenLoad | None = None
    """A driver's own table, as are all tables that DRIVERS names."""
    engines: EngineLoad | None = None
    thresholds: Thresholds | None = None
    """The limits of a comparison of two builds. With this table every cell has both builds."""
    workers: PublishedWorkers | None = None
    trace: Trace | None = None
    npb: Npb | None = None
    calls: Calls | None = None
    faults: Faults | None = None

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if self.element_min > self.element_max:
            raise ValueError("element_min: needs to be at most element_max")
        names = [each.name for each in self.groups]
        if twice := [each for each in names if names.count(each) > 1]:
            raise ValueError(f"groups: two groups are named '{twice[0]}'")
        for service, variables in self.settings.items():
            require("settings", variables, service)
        self._require_tables()
        cells = self.all_cells()
        self._require_levels(cells)
        self._require_workloads(cells)
        self._require_driver_can(cells)
        for key, selection in _selections(self):
            # One of its levels is misspelt, and what it is for would not happen.
            if not any(map(selection.matches, cells)):
                raise ValueError(f"{key}: selects no cell; there are such as {cells[0].id}")
        return self

    def _require_tables(self) -> None:
        """Raises ValueError where a table that the driver or a view needs is missing, or where a
        table, a view or a key is there that the driver does not have."""
        for driver, its in DRIVERS.items():
            if its.table and (self.driver == driver) != (getattr(self, its.table) is not None):
                raise ValueError(
                    f"driver '{driver}' needs a table [{its.table}], and no other driver has one"
                )
        keys = [key for its in DRIVERS.values() for key in its.keys if getattr(self, key)]
        for used in (*self.views, *keys):
            takers = [name for name, its in DRIVERS.items() if used in (*its.views, *its.keys)]
            if takers and self.driver not in takers:
                raise ValueError(f"'{used}' is only for driver = {' or '.join(takers)}")
        for view, shown in _OF_VIEWS.items():
            if (view in self.views) != (getattr(self, shown) is not None):
                raise ValueError(f"views: the view '{view}' and a table [{shown}] need each other")
        if not self.cells and self.factorial is None:
            raise ValueError("cells: need one group or more, or a table [factorial]")
        for group in self.cells:
            wanted = ["A", "B"] if self.thresholds else ["checkout"]
            if sorted(group.levels("build")) != wanted:
                raise ValueError(
                    f"cells '{group.name}': build: allowed is {wanted}, as a table [thresholds] "
                    f"{'is' if self.thresholds else 'is not'} there (got {group.levels('build')})"
                )

    def _require_levels(self, cells: Sequence[Cell]) -> None:
        """Raises ValueError where a complexity is not defined, or where a figure over rows shows a
        complexity that has no rows."""
        require_known(self.mixes, self.complexities)
        defined = self.levels
        unknown = [
            (f"cells '{group.name}'", level)
            for group in self.cells
            for level in group.complexity
            if not any(is_any(each, [level]) for each in defined)
        ]
        single = (cell.complexity for cell in self.corners())  # in a design a pattern is no level
        unknown += [("factorial", level) for level in single if level not in defined]
        if unknown:
            where, level = unknown[0]
            raise ValueError(
                f"{where}: complexity: '{level}' is not defined; defined are {', '.join(defined)}"
            )
        for figure in self.figures:
            if figure.x != "rows":
                continue
            levels = {cell.complexity for cell in cells if figure.where.matches(cell)}
            if any(self.size(level, Logs) for level in levels):
                raise ValueError(f"figure {figure.number}: lines of a log are no rows")
            if levels & {*self.mixes}:
                raise ValueError(f"figure {figure.number}: a mix has no number of rows")

    def _require_workloads(self, cells: Sequence[Cell]) -> None:
        """Raises ValueError unless only matrices have kernels, only messages a technique, and the
        driver takes the workload of every cell."""
        of_messages = self.traits.of_messages
        for cell in cells:
            workload = self.workload(cell.complexity)
            is_message = workload == "messages"
            if is_message != (cell.technique != "none") or is_message not in of_messages:
                takers = (name for name, its in DRIVERS.items() if True in its.of_messages)
                raise ValueError(
                    f"cells: '{cell.id}': a complexity of messages, a technique and a driver of "
                    f"messages ({', '.join(takers)}) belong together"
                )
            if workload != "matrix" and cell.kernel != "loops":
                raise ValueError(
                    f"cells: kernel: '{cell.kernel}' multiplies matrices, and complexity "
                    f"'{cell.complexity}' is of {workload}: leave it out there"
                )
        if len(of_messages) > 1 and len({self.workload(cell.complexity) for cell in cells}) > 1:
            raise ValueError(f"cells: driver '{self.driver}' has cells of one workload")

    def _require_driver_can(self, cells: Sequence[Cell]) -> None:
        """Raises ValueError where the driver or wrk cannot measure a cell, or a profile lacks what
        a cell needs."""
        selected = [cell for cell in cells if self.wrk and self.wrk.matches(cell)]
        if any(each.complexity in self.mixes or each.connection == "each" for each in selected):
            raise ValueError(
                "wrk: sends one body on kept connections, so no mix and no connection = 'each'"
            )
        users = max((cell.users for cell in cells), default=0)
        if self.traits.sends_load and users > MOST_USERS:
            raise ValueError(f"cells: users: the load generator has at most {MOST_USERS}")
        measured = [(n, c) for n, it in self.profiles.items() for c in cells if it.measures(c)]
        for name, cell in measured:
            if cell.service not in self.profiles[name].warm_max_s:
                raise ValueError(f"profiles.{name}.warm_max_s: lacks '{cell.service}'")
            if self.profiles[name].windows and not self.traits.has_windows:
                raise ValueError(f"profiles.{name}.windows: driver '{self.driver}' has none")
        self.driver_table.require(Demand(cells, measured, self.mixes))
        if any(cell.delay_ms for cell in cells) and not self.driver_table.has_hosts():
            raise ValueError("cells: delay_ms: needs driver = 'engines', hosts = 'namespaces'")

    def table(self, kind: type[T]) -> T:
        """The table of this kind, which the driver or a view needs (`_require_tables`)."""
        (found,) = (each for _, each in self if isinstance(each, kind))
        return found

    @property
    def traits(self) -> Traits:
        """The properties of the experiment's driver."""
        return DRIVERS[self.driver]

    @property
    def driver_table(self) -> DriverTable:
        """The driver's own table; the base class where the driver has none."""
        found: DriverTable | None = getattr(self, self.traits.table or "", None)
        return found or DriverTable()

    @property
    def levels(self) -> tuple[str, ...]:
        """Every level of complexity: of one size, then the mixes and the driver's own."""
        return (*self.complexities, *self.mixes, *self.driver_table.levels())

    def size(self, complexity: str, kind: type[T]) -> T | None:
        """The size of a level's requests: a Shape, Logs or Messages; None where it is not of this
        kind, or has several sizes."""
        level: object = self.complexities.get(complexity)
        return level if isinstance(level, kind) else None

    def workload(self, complexity: str) -> Workload:
        """The workload of a level's requests; `matrix` for a mix and for a driver's own level."""
        level = self.complexities.get(complexity)
        if isinstance(level, Logs):
            return "logs"
        if isinstance(level, Messages):
            return "messages"
        if level is None or isinstance(level, Shape):
            return "matrix"
        assert_never(level)

    def mix(self, complexity: str) -> tuple[Kind, ...]:
        """The kinds of request of a level; none for a level of one size."""
        shares = self.mixes.get(complexity, {})
        return tuple(
            Kind(name=name, share=share, shape=shape)
            for name, share in shares.items()
            if (shape := self.size(name, Shape))
        )

    def all_cells(self) -> list[Cell]:
        """Every cell once, in the order of the file."""
        defined = self.levels
        grouped = [cell for group in self.cells for cell in group.cells(defined)]
        return list(dict.fromkeys([*self.corners(), *grouped]))

    def corners(self) -> list[Cell]:
        """The cells of the factorial design in Yates order; none without one. Raises ValueError
        where a factor is not one of cells, or a service has no such strategy."""
        if self.factorial is None:
            return []
        return [corner(levels) for levels in self.factorial.cells()]

    def test_ids(self, cell: Cell) -> tuple[str, ...]:
        """The ids of the study's tests that this cell answers."""
        return tuple(test.id for test in self.tests if test.where.matches(cell))

    def profile(self, name: str) -> Profile:
        """The profile of that name. Raises BadConfiguration, with the known names, without one."""
        if name not in self.profiles:
            raise BadConfiguration(
                f"experiment '{self.name}' has no profile '{name}'; it has "
                + ", ".join(self.profiles)
                + (FORMER_PROFILE_HINT if name == "full" else "")
            )
        return self.profiles[name]


def _selections(of: object, *at: str) -> Iterator[tuple[str, Where]]:
    """Every selection in a part of the file, with the keys to it."""
    members: Iterable[tuple[object, object]] = ()
    if isinstance(of, Where):
        yield ".".join(at), of
    elif isinstance(of, BaseModel):
        members = of
    elif isinstance(of, dict):
        members = of.items()
    elif isinstance(of, list | tuple):
        members = enumerate(of)
    for name, value in members:
        yield from _selections(value, *at, str(name))


def load(path: Path, cores_allowed: Sequence[int] | None = None) -> Experiment:
    """Read an experiment file; `cores_allowed` as in `toml_file.parse`. Raises BadConfiguration,
    which names the file, the key and the allowed values."""
    return toml_file.parse(toml_file.content(path), Experiment, path, cores_allowed)


def parse(text: str, path: Path, cores_allowed: Sequence[int] | None = None) -> Experiment:
    """The experiment in a file's text; BadConfiguration names `path` as the file."""
    return toml_file.parse(text.encode(), Experiment, path, cores_allowed)
