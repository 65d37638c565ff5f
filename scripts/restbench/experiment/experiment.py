"""An experiment file (TOML) and its expansion into cells: the only place with experiment values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, Field, model_validator
from pydantic import ValidationError as PydanticError

from restbench.experiment import npb
from restbench.experiment.calls import Calls
from restbench.experiment.cell import Cell, Kind, ServiceName, Shape
from restbench.experiment.cell_group import CellGroup, corner
from restbench.experiment.design import Design
from restbench.experiment.engines import EngineLoad
from restbench.experiment.faults import Faults
from restbench.experiment.level import TAGS, Logs, Messages, Size, Workload, model_of
from restbench.experiment.mix import Shares, require_known
from restbench.experiment.npb import Npb
from restbench.experiment.open_load import OpenLoad
from restbench.experiment.profile import Profile
from restbench.experiment.selection import Many, Positive, Strict, Where, is_any
from restbench.experiment.thresholds import Thresholds
from restbench.experiment.trace import Trace
from restbench.experiment.workers import PublishedWorkers
from restbench.failures import BadConfiguration


class Group(Strict):
    """Cells that are measured in the same rounds, because their ratios are asked for; each cell is
    in the first group that selects it."""

    name: str
    share: Annotated[float, Field(gt=0)] = 1.0
    """Of the time, next to the other groups."""
    where: Where


class TestId(Strict):
    """A row of the study's test matrix: its id and the cells that it names."""

    id: str
    where: Where


class Figure(Strict):
    """One figure of the study, as data: what is on its axes and which cells it shows."""

    number: Positive
    title: str
    caption: str
    x: Literal["users", "rows"]
    metrics: Annotated[list[Literal["throughput_per_s", "mean_ms"]], Many]
    series: Literal["strategy", "users", "placement"]
    panels: Literal["users"] | None = None
    best_of: Literal["strategy"] | None = None
    """Show only the strategy with the highest throughput (geometric mean over its cells)."""
    where: Where


#: What takes trials of messages.
MESSAGE_DRIVERS = ("messages", "trace")
#: What stands in the place of a profile that measured until a precision was reached.
GONE = "; a longer run is a matter of minutes: MINUTES=120, --minutes 120"


class Experiment(Strict):
    """A whole experiment file."""

    name: str
    title: str
    seed: int
    element_min: int = 0
    element_max: int = 50
    driver: Literal[
        "closed-load", "open-load", "engines", "npb", "calls", "messages", "faults", "trace"
    ] = "closed-load"
    """What takes its trials."""
    views: Annotated[
        list[
            Literal[
                "study",
                "limits",
                "factorial",
                "npb",
                "calls",
                "builds",
                "frameworks",
                "workers",
                "bottleneck",
                "trace",
                "messages",
                "faults",
            ]
        ],
        Field(min_length=1),
    ] = Field(default=["study"])
    """What is made of its trials."""
    apart: Literal["service", "pool_threads"] | None = None
    """A factor of which the services of one level at a time are up: a block measures them one after
    the other."""
    complexities: dict[str, Size] = Field(default_factory=dict)
    wrk: Where | None = None
    """Cells that wrk loads too, once a block: it costs less than the load generator, and looks at
    nothing of an answer but its status."""
    pgbench: Where | None = None
    """Cells of messages whose statements pgbench sends too: without a service it is their limit."""
    mixes: dict[str, Shares] = Field(default_factory=dict)
    """Further levels of complexity, each of several of the others with their shares."""
    settings: dict[ServiceName, dict[str, str]] = Field(default_factory=dict)
    """Variables of a service's environment, in addition to its defaults."""
    profiles: dict[str, Profile]
    cells: list[CellGroup] = Field(default_factory=list)
    factorial: Design | None = None
    """Whose corner points are cells, before those of `cells`."""
    groups: list[Group] = Field(default_factory=list)
    """Cells in none of them are one more group, `rest`."""
    tests: list[TestId] = Field(default_factory=list)
    figures: list[Figure] = Field(default_factory=list)
    claims: str | None = None
    """Path, from this file, of the claims that a run is held against."""
    open: OpenLoad | None = None
    """What the driver of an open load needs to know."""
    engines: EngineLoad | None = None
    """What the driver of a load from several hosts needs to know."""
    thresholds: Thresholds | None = None
    """Of a comparison of two builds, which every cell is then in."""
    workers: PublishedWorkers | None = None
    """What was published of numbers of workers."""
    trace: Trace | None = None
    """What the driver of traces needs to know."""
    npb: Npb | None = None
    """What the driver of NAS kernels needs to know; they are its levels of complexity."""
    calls: Calls | None = None
    """What the driver of batches of calls needs to know; they are its levels of complexity."""
    faults: Faults | None = None
    """What the driver of faults needs to know; they are its levels of complexity."""

    @model_validator(mode="after")
    def _drivers_are_described(self) -> Self:
        for driver, table, view in (
            ("open-load", "open", "limits"),
            ("npb", "npb", "npb"),
            ("calls", "calls", "calls"),
            ("engines", "engines", None),
            ("faults", "faults", "faults"),
            ("trace", "trace", "trace"),
        ):
            is_described = getattr(self, table) is not None
            if (self.driver == driver) != is_described:
                raise ValueError(
                    f"driver '{driver}' needs a table [{table}], and no other driver has one"
                )
            if view in self.views and not is_described:
                raise ValueError(f"views: '{view}' is that of driver '{driver}'")
        return self

    @model_validator(mode="after")
    def _users_can_be_divided(self) -> Self:
        if self.engines is None:
            return self
        engines = self.engines.number
        for cell in self.all_cells():
            if cell.users % engines:
                raise ValueError(
                    f"cells: users = {cell.users}: {engines} engines share them, so give a "
                    f"multiple of {engines}"
                )
            if cell.front != "none" or cell.complexity in self.mixes:
                raise ValueError("cells: driver 'engines' has no front and no mix")
        return self

    @model_validator(mode="after")
    def _wrk_sends_one_body(self) -> Self:
        """On connections that it keeps, next to a closed load."""
        selected = [cell for cell in self.all_cells() if self.wrk and self.wrk.matches(cell)]
        if any(each.complexity in self.mixes or each.connection == "each" for each in selected):
            raise ValueError("wrk: sends one body on kept connections: no mix, no connection each")
        if self.wrk and (self.driver != "closed-load" or not selected):
            raise ValueError("wrk: selects cells of driver 'closed-load'")
        return self

    @model_validator(mode="after")
    def _messages_have_a_technique(self) -> Self:
        for cell in self.all_cells():
            is_message = self.workload(cell.complexity) == "messages"
            can_be = {"messages": {True}, "trace": {True, False}}.get(self.driver, {False})
            if is_message != (cell.technique != "none") or is_message not in can_be:
                raise ValueError(
                    f"cells: '{cell.id}': a complexity of messages, a technique and a driver of "
                    f"messages ({', '.join(MESSAGE_DRIVERS)}) belong together"
                )
        if (self.pgbench or "messages" in self.views) and self.driver != "messages":
            raise ValueError("pgbench: it and the view 'messages' belong to driver = 'messages'")
        return self

    @model_validator(mode="after")
    def _builds_are_compared(self) -> Self:
        if ("builds" in self.views) != (self.thresholds is not None):
            raise ValueError("views: 'builds' belongs to a table [thresholds], and that to it")
        for group in self.cells:
            wanted = ["A", "B"] if self.thresholds else ["checkout"]
            if sorted(group.build) != wanted:
                raise ValueError(
                    f"cells '{group.name}': build: allowed is {wanted}, as a table [thresholds] "
                    f"{'is' if self.thresholds else 'is not'} there (got {group.build})"
                )
        return self

    @property
    def sends_load(self) -> bool:
        """Whether its driver needs the load generator."""
        return self.npb is None and self.calls is None and self.faults is None

    @model_validator(mode="after")
    def _has_cells(self) -> Self:
        if not self.cells and self.factorial is None:
            raise ValueError("cells: need one group or more, or a table [factorial]")
        if "bottleneck" in self.views and self.driver not in ("closed-load", "messages"):
            raise ValueError(
                "views: 'bottleneck' is of a closed load, whose users wait for their answers"
            )
        if ("workers" in self.views) != (self.workers is not None):
            raise ValueError("views: 'workers' belongs to a table [workers], and that to it")
        if ("factorial" in self.views) != (self.factorial is not None):
            raise ValueError("views: 'factorial' belongs to a table [factorial], and that to it")
        return self

    @model_validator(mode="after")
    def _complexities_are_defined(self) -> Self:
        require_known(self.mixes, self.complexities)
        for cell in self.corners():
            if cell.complexity not in self.levels:
                raise ValueError(
                    f"factorial: complexity: '{cell.complexity}' is not defined; "
                    f"defined are {', '.join(self.levels)}"
                )
        defined = self.levels
        for group in self.cells:
            for level in group.complexity:
                if not any(is_any(each, [level]) for each in defined):
                    raise ValueError(
                        f"cells '{group.name}': complexity: '{level}' is not defined; "
                        f"defined are {', '.join(defined)}"
                    )
        return self

    @model_validator(mode="after")
    def _logs_are_lines(self) -> Self:
        """They have neither a kernel nor rows, and are no part of a mix."""
        for name, shares in self.mixes.items():
            for kind in shares:
                if (workload := self.workload(kind)) != "matrix":
                    raise ValueError(
                        f"mixes.{name}: '{kind}' is of {workload}; a mix is of matrices"
                    )
        for cell in self.all_cells():
            workload = self.workload(cell.complexity)
            if workload != "matrix" and cell.kernel != "loops":
                raise ValueError(
                    f"cells: kernel: '{cell.kernel}' multiplies matrices, and complexity "
                    f"'{cell.complexity}' is of {workload}: leave it out there"
                )
        for figure in self.figures:
            cells = [cell for cell in self.all_cells() if figure.where.matches(cell)]
            if figure.x == "rows" and any(self.logs(cell.complexity) for cell in cells):
                raise ValueError(f"figure {figure.number}: lines of a log are no rows")
        return self

    @model_validator(mode="after")
    def _kernels_can_be_run(self) -> Self:
        if self.npb is None:
            return self
        for name, profile in self.profiles.items():
            measured = [cell.complexity for cell in self.all_cells() if profile.measures(cell)]
            self.npb.require_runs(name, measured)
        if any((cell.users, cell.front) != (1, "none") for cell in self.all_cells()):
            raise ValueError("cells: driver 'npb' calls one at a time: users = 1, and no front")
        return self

    @model_validator(mode="after")
    def _traces_have_a_length(self) -> Self:
        if self.trace is None:
            return self
        cells = self.all_cells()
        for name, profile in self.profiles.items():
            self.trace.require(name, [cell for cell in cells if profile.measures(cell)])
        if len({self.workload(cell.complexity) for cell in cells}) > 1:
            raise ValueError("cells: driver 'trace' has cells of one workload")
        for cell in cells:
            if self.trace.run_of(cell).fault and cell.technique in ("none", "memory"):
                raise ValueError(f"trace.runs: fault: '{cell.id}' has no database")
        return self

    @model_validator(mode="after")
    def _batches_can_be_made(self) -> Self:
        if self.calls:
            self.calls.require_threads((each.complexity, each.users) for each in self.all_cells())
        return self

    @model_validator(mode="after")
    def _mixes_can_be_drawn(self) -> Self:
        for figure in self.figures:
            cells = [cell for cell in self.all_cells() if figure.where.matches(cell)]
            if figure.x == "rows" and any(cell.complexity in self.mixes for cell in cells):
                raise ValueError(f"figure {figure.number}: a mix has no number of rows")
        return self

    @property
    def levels(self) -> tuple[str, ...]:
        """Every level of complexity: of one size, then the mixes, kernels, batches or faults."""
        others = npb.levels() if self.npb else ()
        others = next((it.levels() for it in (self.calls, self.faults) if it), others)
        return (*self.complexities, *self.mixes, *others)

    def shape(self, complexity: str) -> Shape:
        """The operand sizes of a level of one size, which is of a matrix."""
        return Shape(**self.complexities[complexity].model_dump())

    def logs(self, complexity: str) -> Logs | None:
        """The lines and rules of a level; None where it is not of logs."""
        level = self.complexities.get(complexity)
        return level if isinstance(level, Logs) else None

    def messages(self, complexity: str) -> Messages | None:
        """What a level's messages are; None where it is not of messages."""
        level = self.complexities.get(complexity)
        return level if isinstance(level, Messages) else None

    def workload(self, complexity: str) -> Workload:
        """What the requests of a level are of."""
        if self.logs(complexity):
            return "logs"
        return "messages" if self.messages(complexity) else "matrix"

    def mix(self, complexity: str) -> tuple[Kind, ...]:
        """The kinds of request of a level; none for a level of one size."""
        shares = self.mixes.get(complexity, {})
        return tuple(
            Kind(name=name, share=share, shape=self.shape(name)) for name, share in shares.items()
        )

    def all_cells(self) -> list[Cell]:
        """Every cell once, in the order of the file."""
        defined = self.levels
        grouped = [cell for group in self.cells for cell in group.cells(defined)]
        return list(dict.fromkeys([*self.corners(), *grouped]))

    def corners(self) -> list[Cell]:
        """The cells of the factorial design in Yates order; ValueError where its factors are no
        cell's, or a service has no such strategy."""
        if self.factorial is None:
            return []
        return [corner(levels) for levels in self.factorial.cells()]

    def test_ids(self, cell: Cell) -> tuple[str, ...]:
        """The ids of the study's tests that this cell answers."""
        return tuple(test.id for test in self.tests if test.where.matches(cell))

    def profile(self, name: str) -> Profile:
        """The profile of that name, or BadConfiguration with the names there are."""
        if name not in self.profiles:
            raise BadConfiguration(
                f"experiment '{self.name}' has no profile '{name}'; it has "
                + ", ".join(self.profiles)
                + (GONE if name == "full" else "")
            )
        return self.profiles[name]


def load(path: Path) -> Experiment:
    """Read an experiment file. BadConfiguration names the file, the key and the allowed values."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error
    return parse(text, path)


def parse(text: str, path: Path) -> Experiment:
    """An experiment of its file's text; `path` is what BadConfiguration names."""
    try:
        return Experiment.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path}: not TOML: {error}") from error
    except PydanticError as error:
        raise BadConfiguration(f"{path}: {_first_problem(error)}") from error
    except BadConfiguration as error:
        raise BadConfiguration(f"{path}: {error}") from error


def _first_problem(error: PydanticError) -> str:
    # An unknown key is named before what is then missing: it is most likely the same one, misspelt.
    problems = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    problem = problems[0]
    key = ".".join(str(part) for part in problem["loc"] if part not in TAGS) or "file"
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown key; allowed here are {', '.join(_allowed_keys(problem['loc']))}"
    message = problem["msg"].removeprefix("Value error, ")
    given = problem.get("input")
    shown = f" (got {given!r})" if isinstance(given, str | int | float) else ""
    return f"{key}: {message}{shown}"


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Experiment
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        model = next(_models(field.annotation), model) if field else model
    tagged = next(filter(None, (model_of(str(part)) for part in location)), model)
    return list(tagged.model_fields)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Those that a field is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
