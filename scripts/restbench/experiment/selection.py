"""The building blocks of experiment and claims files: strict tables, types of values, and
selections of cells."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo

from restbench.experiment.cell import (
    FACTORS,
    Build,
    Cell,
    Connection,
    Framework,
    Front,
    Handoff,
    Kernel,
    Link,
    Record,
    ServiceName,
    Technique,
)
from restbench.machine.placement import Placement, allowed_cores, place

#: Expressions such as `cores`, `cores+1` and `2*cores+1`.
_OF_CORES = re.compile(r"(?:(\d+)\*)?cores(?:\+(\d+))?")


def _as_list(value: Any) -> Any:
    if value == []:  # no cell would have this factor
        raise ValueError("needs one level or more")
    return value if isinstance(value, list) else [value]


def _counted(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str) and (found := _OF_CORES.fullmatch(value)):
        allowed = (info.context or {}).get("cores_allowed") or allowed_cores()
        cores = len(place("unbound", tuple(allowed)).service)
        return int(found[1] or 1) * cores + int(found[2] or 0)
    return value


Many = BeforeValidator(_as_list)
#: Turns an expression of `cores` into a number. `cores` is how many cores a service may use on this
#: machine or, in a file of a run, could use in that run (`toml_file.parse`).
OfCores = BeforeValidator(_counted)
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
#: A name that becomes a part of the names of files.
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
Above0 = Annotated[float, Field(gt=0, allow_inf_nan=False)]
#: Settings of the database, in the form of `Cell.postgres`.
Postgres = Annotated[str, Field(pattern=r"^([a-z_.]+=[\w.-]+(,[a-z_.]+=[\w.-]+)*)?$")]
#: Variables of a service's environment, in the form of `Cell.settings`.
Settings = Annotated[str, Field(pattern=r"^([A-Z\d_]+=[\w.:+-]+(,[A-Z\d_]+=[\w.:+-]+)*)?$")]
Counted = Annotated[int, OfCores, Field(ge=1)]


class Strict(Record):
    """A part of an experiment file: unknown keys are errors, and so are TOML's inf and nan."""

    model_config = ConfigDict(allow_inf_nan=False)


class OptionalLevels(Strict):
    """Levels of the factors that have a default; None for one that is not named."""

    placement: Annotated[list[Placement], Many] | None = None
    front: Annotated[list[Front], Many] | None = None
    kernel: Annotated[list[Kernel], Many] | None = None
    build: Annotated[list[Build], Many] | None = None
    framework: Annotated[list[Framework], Many] | None = None
    handoff: Annotated[list[Handoff], Many] | None = None
    workers: Annotated[list[Counted], Many] | None = None
    connection: Annotated[list[Connection], Many] | None = None
    instances: Annotated[list[Counted], Many] | None = None
    link: Annotated[list[Link], Many] | None = None
    technique: Annotated[list[Technique], Many] | None = None
    pool_threads: Annotated[list[NotNegative], Many] | None = None
    connections: Annotated[list[NotNegative], Many] | None = None
    postgres: Annotated[list[Postgres], Many] | None = None
    settings: Annotated[list[Settings], Many] | None = None
    delay_ms: Annotated[list[NotNegative], Many] | None = None


class Where(OptionalLevels):
    """A selection of cells: a cell matches when each named factor has one of the given levels. In a
    level of complexity `*` stands for anything."""

    service: Annotated[list[ServiceName], Many] | None = None
    strategy: Annotated[list[str], Many] | None = None
    complexity: Annotated[list[str], Many] | None = None
    users: Annotated[list[Counted], Many] | None = None

    def matches(self, cell: Cell) -> bool:
        """Whether the cell is in the selection."""
        return all(
            wanted is None or getattr(cell, factor) in wanted
            for factor in FACTORS
            for wanted in [getattr(self, factor)]
            if factor != "complexity"
        ) and (self.complexity is None or is_any(cell.complexity, self.complexity))


def is_any(level: str, patterns: list[str]) -> bool:
    """Whether a level of complexity is one of these, in which `*` stands for anything."""
    return any(fnmatchcase(level, each) for each in patterns)
