"""An experiment file (TOML) and its expansion into cells: the only place with experiment values."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic import ValidationError as PydanticError

from restbench.cell import FACTORS, STRATEGIES, Cell, Front, Kernel, Placement, ServiceName, Shape
from restbench.failures import BadConfiguration


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Many = BeforeValidator(_as_list)
Positive = Annotated[int, Field(ge=1)]


class Strict(BaseModel):
    """A part of an experiment file: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class ShapeEntry(Strict):
    """One level of the complexity factor: rows x inner times inner x columns."""

    rows: Positive
    inner: Positive
    columns: Positive


class Where(Strict):
    """A selection of cells: a cell matches when each named factor has one of the given levels."""

    service: Annotated[list[ServiceName], Many] | None = None
    strategy: Annotated[list[str], Many] | None = None
    placement: Annotated[list[Placement], Many] | None = None
    front: Annotated[list[Front], Many] | None = None
    complexity: Annotated[list[str], Many] | None = None
    users: Annotated[list[Positive], Many] | None = None
    kernel: Annotated[list[Kernel], Many] | None = None

    def matches(self, cell: Cell) -> bool:
        """Whether the cell is in the selection."""
        return all(
            wanted is None or getattr(cell, factor) in wanted
            for factor in FACTORS
            for wanted in [getattr(self, factor)]
        )


class Profile(Strict):
    """How long and how often each cell is measured (method, rules 3, 4 and 6)."""

    blocks: Positive
    """How many blocks are measured at least."""
    blocks_max: Positive | None = None
    """Where a precision is asked for: how many at most."""
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Relative half-width of every cell's interval at which no further block is measured."""
    service_warmup_s: dict[ServiceName, Annotated[float, Field(ge=0)]]
    """Load on each strategy of a fresh service process, before its first cell (a JVM compiles)."""
    warmup_s: Annotated[float, Field(gt=0)]
    """Load on the cell itself, before its window opens."""
    warmup_max_s: Annotated[float, Field(gt=0)] | None = None
    """Where a user has had no answer by then, warm-up goes on until all had one, so long at most;
    if it is not given, no longer than `warmup_s`."""
    window_min_s: Annotated[float, Field(gt=0)]
    window_max_s: Annotated[float, Field(gt=0)]
    """A window with enough for a mean, but not `enough_completions`, is capped here."""
    slow_window_max_s: Annotated[float, Field(gt=0)]
    """A window with too few completions even for a mean is capped here."""
    enough_completions: Positive
    only: list[Where] = []
    """Where it is not empty: the profile measures the cells that any of these selects."""
    description: str = ""

    @model_validator(mode="after")
    def _windows_grow(self) -> Self:
        if not self.window_min_s <= self.window_max_s <= self.slow_window_max_s:
            raise ValueError("need window_min_s <= window_max_s <= slow_window_max_s")
        if self.longest_warmup_s < self.warmup_s:
            raise ValueError("need warmup_s <= warmup_max_s")
        return self

    @model_validator(mode="after")
    def _blocks_can_grow(self) -> Self:
        if (self.precision is None) != (self.blocks_max is None):
            raise ValueError("precision and blocks_max go together: the goal and its bound")
        if self.blocks_max is not None and self.blocks_max < self.blocks:
            raise ValueError("need blocks <= blocks_max")
        return self

    def measures(self, cell: Cell) -> bool:
        """Whether the cell belongs to this profile."""
        return not self.only or any(where.matches(cell) for where in self.only)

    @property
    def longest_warmup_s(self) -> float:
        """How long a cell's warm-up can be."""
        return self.warmup_s if self.warmup_max_s is None else self.warmup_max_s

    @property
    def most_blocks(self) -> int:
        """The largest number of blocks that a run can have."""
        return self.blocks_max or self.blocks


class CellGroup(Strict):
    """A full factorial: every combination of the listed levels is a cell."""

    name: str
    service: ServiceName
    strategy: Annotated[list[str], Many]
    complexity: Annotated[list[str], Many]
    users: Annotated[list[Positive], Many]
    placement: Annotated[list[Placement], Many] = ["unbound"]
    front: Annotated[list[Front], Many] = ["none"]
    kernel: Annotated[list[Kernel], Many] = ["loops"]

    @model_validator(mode="after")
    def _strategies_exist(self) -> Self:
        allowed = STRATEGIES[self.service]
        for strategy in self.strategy:
            if strategy not in allowed:
                raise ValueError(
                    f"strategy: '{strategy}' is not one of the {self.service} service's: "
                    + ", ".join(allowed)
                )
        return self

    def cells(self) -> list[Cell]:
        """The group's cells in the order of the file."""
        levels = [
            [self.service] if factor == "service" else getattr(self, factor) for factor in FACTORS
        ]
        return [
            Cell(**dict(zip(FACTORS, combination, strict=True)))
            for combination in itertools.product(*levels)
        ]


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


class Experiment(Strict):
    """A whole experiment file."""

    name: str
    title: str
    seed: int
    element_min: int = 0
    element_max: int = 50
    complexities: dict[str, ShapeEntry]
    profiles: dict[str, Profile]
    cells: Annotated[list[CellGroup], Field(min_length=1)]
    tests: list[TestId] = []
    figures: list[Figure] = []
    claims: str | None = None
    """Path, from this file, of the claims that a run is held against."""

    @model_validator(mode="after")
    def _complexities_are_defined(self) -> Self:
        for group in self.cells:
            for level in group.complexity:
                if level not in self.complexities:
                    raise ValueError(
                        f"cells '{group.name}': complexity: '{level}' is not defined; "
                        f"defined are {', '.join(self.complexities)}"
                    )
        return self

    def shape(self, complexity: str) -> Shape:
        """The operand sizes of a complexity level."""
        return Shape(**self.complexities[complexity].model_dump())

    def all_cells(self) -> list[Cell]:
        """Every cell once, in the order of the file."""
        return list(dict.fromkeys(cell for group in self.cells for cell in group.cells()))

    def test_ids(self, cell: Cell) -> tuple[str, ...]:
        """The ids of the study's tests that this cell answers."""
        return tuple(test.id for test in self.tests if test.where.matches(cell))

    def profile(self, name: str) -> Profile:
        """The profile of that name, or BadConfiguration with the names there are."""
        if name not in self.profiles:
            raise BadConfiguration(
                f"experiment '{self.name}' has no profile '{name}'; it has "
                + ", ".join(self.profiles)
            )
        return self.profiles[name]


def load(path: Path) -> Experiment:
    """Read an experiment file. BadConfiguration names the file, the key and the allowed values."""
    try:
        return Experiment.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path}: not TOML: {error}") from error
    except PydanticError as error:
        raise BadConfiguration(f"{path}: {_first_problem(error)}") from error


def _first_problem(error: PydanticError) -> str:
    # An unknown key is named before what is then missing: it is most likely the same one, misspelt.
    problems = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    problem = problems[0]
    key = ".".join(str(part) for part in problem["loc"]) or "file"
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown key; allowed here are {', '.join(_allowed_keys(problem['loc']))}"
    message = problem["msg"].removeprefix("Value error, ")
    given = problem.get("input")
    shown = f" (got {given!r})" if isinstance(given, str | int | float) else ""
    return f"{key}: {message}{shown}"


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    parts: dict[str, type[BaseModel]] = {
        "profiles": Profile,
        "cells": CellGroup,
        "complexities": ShapeEntry,
        "tests": TestId,
        "figures": Figure,
    }
    nested = (
        Where if {"where", "only"} & set(location[:-1]) else parts.get(str(location[0]), Experiment)
    )
    return list((Experiment if len(location) == 1 else nested).model_fields)
