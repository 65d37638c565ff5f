"""Groups of cells in an experiment's file, as products of levels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic import ValidationError as PydanticError

from restbench.experiment.cell import (
    ASYNCHRONOUS,
    DEFAULT_FRAMEWORKS,
    FACTORS,
    STRATEGIES,
    TAKING_MESSAGES,
    Build,
    Cell,
    Connection,
    Framework,
    Front,
    Handoff,
    Kernel,
    Link,
    ServiceName,
    Technique,
    require_framework,
)
from restbench.experiment.design import Level
from restbench.experiment.selection import (
    Counted,
    Many,
    NotNegative,
    Postgres,
    Strict,
    is_any,
)
from restbench.machine.placement import Placement

#: A factor of a design whose levels are those of one setting of the database.
OF_POSTGRES = "postgres."


class CellGroup(Strict):
    """A full factorial: every combination of the listed levels is a cell."""

    name: str
    service: ServiceName
    strategy: Annotated[list[str], Many]
    complexity: Annotated[list[str], Many]
    """In which `*` stands for anything."""
    users: Annotated[list[Counted], Many]
    placement: Annotated[list[Placement], Many] = Field(default=["unbound"])
    front: Annotated[list[Front], Many] = Field(default=["none"])
    kernel: Annotated[list[Kernel], Many] = Field(default=["loops"])
    build: Annotated[list[Build], Many] = Field(default=["checkout"])
    framework: Annotated[list[Framework], Many] | None = None
    """The service's default, if none is given."""
    handoff: Annotated[list[Handoff], Many] = Field(default=["thread"])
    workers: Annotated[list[Counted], Many] = Field(default=[1])
    connection: Annotated[list[Connection], Many] = Field(default=["kept"])
    instances: Annotated[list[Counted], Many] = Field(default=[1])
    link: Annotated[list[Link], Many] = Field(default=["tcp"])
    technique: Annotated[list[Technique], Many] = Field(default=["none"])
    pool_threads: Annotated[list[NotNegative], Many] = Field(default=[0])
    connections: Annotated[list[NotNegative], Many] = Field(default=[0])
    postgres: Annotated[list[Postgres], Many] = Field(default=[""])
    delay_ms: Annotated[list[NotNegative], Many] = Field(default=[0])

    @model_validator(mode="after")
    def _front_can(self) -> Self:
        can = {*self.front} <= {"nginx", "haproxy"}
        if max(self.instances) > 1 and not (can or self._has_messages):
            raise ValueError("instances: more than 1 need front = 'nginx' or 'haproxy'")
        if "unix" in self.link and not (can and self.service == "python" and self.workers == [1]):
            raise ValueError(
                "link: 'unix' is for service = 'python' with workers = 1 behind front = 'nginx' or "
                "'haproxy': users speak TCP, and so does Java; else leave it out"
            )
        return self

    @model_validator(mode="after")
    def _frameworks_are_the_services(self) -> Self:
        for framework in self.framework or ():
            require_framework(self.service, framework)
        if "loop" in self.handoff and not {*(self.framework or ("flask",))} <= ASYNCHRONOUS:
            allowed = ", ".join(sorted(ASYNCHRONOUS))
            raise ValueError(f"handoff: 'loop' needs framework to be of {allowed}")
        if max(self.workers) > 1 and (self.service, self.strategy) != ("python", ["serial"]):
            raise ValueError("workers: more than 1 are for python with strategy serial alone")
        return self

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

    @property
    def _has_messages(self) -> bool:
        """Their users go to the instances by number where there is no front."""
        return "none" not in self.technique

    @model_validator(mode="after")
    def _messages_can_be_taken(self) -> Self:
        if not self._has_messages:
            if {*self.technique, *self.pool_threads, *self.connections, *self.postgres} != {
                "none",
                0,
                "",
            }:
                raise ValueError(
                    "technique: 'none' goes with no other, and with no pool_threads, connections "
                    "or postgres: these are for messages"
                )
            return self
        for strategy in self.strategy:
            if strategy not in TAKING_MESSAGES:
                raise ValueError(
                    f"strategy: '{strategy}' takes no messages; allowed are "
                    + ", ".join(sorted(TAKING_MESSAGES & {*STRATEGIES[self.service]}))
                )
            if (
                "memory" in self.technique
                and strategy.endswith("-per-request")
                and (strategy != "virtual-thread-per-request")
            ):
                raise ValueError(
                    f"technique: 'memory' is not for {strategy}: each process has its own"
                )
        if "memory" in self.technique and (max(self.instances) > 1 or {*self.postgres} != {""}):
            raise ValueError("technique: 'memory' is in one process: instances = 1, no postgres")
        if {*self.pool_threads} != {0} and self.strategy != ["worker-pool"]:
            raise ValueError("pool_threads: are those of strategy = 'worker-pool' alone")
        return self

    def cells(self, defined: Sequence[str] = ()) -> list[Cell]:
        """The group's cells in the order of the file; `*` in a level of complexity stands for those
        that are `defined`."""
        named = [level for each in self.complexity for level in defined if is_any(level, [each])]
        own: dict[str, list[str]] = {
            "service": [self.service],
            "complexity": named or self.complexity,
            "framework": list(self.framework or [DEFAULT_FRAMEWORKS[self.service]]),
        }
        levels = [own.get(factor, getattr(self, factor)) for factor in FACTORS]
        return [
            Cell(**dict(zip(FACTORS, combination, strict=True)))
            for combination in itertools.product(*levels)
        ]


def corner(levels: Mapping[str, Level]) -> Cell:
    """The cell of a design that has these levels; ValueError where a factor is no cell's."""
    settings = {name: level for name, level in levels.items() if name.startswith(OF_POSTGRES)}
    known = {name: level for name, level in levels.items() if name not in settings}
    if others := {*known} - {*FACTORS}:
        raise ValueError(
            f"factorial.factors: '{min(others)}' is none; allowed are {', '.join(FACTORS)}, and "
            f"{OF_POSTGRES}NAME"
        )
    if settings:
        given = (f"{name.removeprefix(OF_POSTGRES)}={level}" for name, level in settings.items())
        known["postgres"] = ",".join(given)
    try:
        (cell,) = CellGroup.model_validate(
            {name: level if name == "service" else [level] for name, level in known.items()}
            | {"name": "factorial"}
        ).cells()
    except PydanticError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"][:1])
        message = problem["msg"].removeprefix("Value error, ")
        raise ValueError(f"factorial: {key}: {message}".replace(": : ", ": ")) from error
    return cell
