"""Groups of cells in an experiment's file, as products of levels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import ValidationError, model_validator

from restbench.experiment import toml_file
from restbench.experiment.cell import (
    ASYNCHRONOUS,
    DEFAULT_FRAMEWORKS,
    FACTORS,
    IN_OTHER_PROCESSES,
    STRATEGIES,
    TAKING_MESSAGES,
    WITH_WORKERS,
    Cell,
    ServiceName,
    require,
    variables,
)
from restbench.experiment.design import Level
from restbench.experiment.selection import Counted, Many, OptionalLevels, is_any

#: Factors whose levels can have several settings; in a design `postgres.NAME` is one setting.
_OF_SETTINGS = ("postgres", "settings")
#: Environment variables that are set by factors of their own.
_OF_FACTORS = {
    "RESTBENCH_WORKERS": "workers",
    "RESTBENCH_HANDOFF": "handoff",
    "RESTBENCH_POOL_THREADS": "pool_threads",
    "RESTBENCH_DATABASE_CONNECTIONS": "connections",
}


class CellGroup(OptionalLevels):
    """A full factorial: every combination of the listed levels is a cell. A factor that is not
    named has its default."""

    name: str
    service: ServiceName
    strategy: Annotated[list[str], Many]
    complexity: Annotated[list[str], Many]
    """The levels of complexity, in which `*` stands for anything."""
    users: Annotated[list[Counted], Many]

    def levels(self, factor: str) -> list[Any]:
        """The levels of a factor, in the order of the file; its default where it is not named."""
        given = getattr(self, factor)
        if given is None:
            usual = {"framework": DEFAULT_FRAMEWORKS[self.service]}
            return [usual.get(factor, Cell.model_fields[factor].default)]
        return given if isinstance(given, list) else [given]

    @model_validator(mode="after")
    def _front_can(self) -> Self:
        can = {*self.levels("front")} <= {"nginx", "haproxy"}
        if max(self.levels("instances")) > 1 and not (can or self._has_messages):
            raise ValueError("instances: more than 1 need front = 'nginx' or 'haproxy'")
        alone = self.service == "python" and self.levels("workers") == [1]
        if "unix" in self.levels("link") and not (can and alone):
            raise ValueError(
                "link: 'unix' is for service = 'python' with workers = 1 behind front = 'nginx' or "
                "'haproxy'; otherwise leave it out, as users and Java use TCP"
            )
        return self

    @model_validator(mode="after")
    def _are_the_services(self) -> Self:
        require("strategy", self.strategy, self.service)
        require("framework", self.framework or (), self.service)
        if "loop" in self.levels("handoff") and not {*self.levels("framework")} <= ASYNCHRONOUS:
            allowed = ", ".join(sorted(ASYNCHRONOUS))
            raise ValueError(f"handoff: 'loop' needs a framework of {allowed}")
        can_have_workers = (self.service, self.strategy) == ("python", ["serial"])
        have_workers = can_have_workers and {*self.levels("framework")} <= WITH_WORKERS
        if max(self.levels("workers")) > 1 and not have_workers:
            raise ValueError(
                "workers: more than 1 are only for python with strategy serial and a framework of "
                + ", ".join(sorted(WITH_WORKERS))
            )
        given = [name for each in self.levels("settings") for name in variables(each)]
        for name in given:
            if name in _OF_FACTORS:
                raise ValueError(f"settings: {name} is the factor '{_OF_FACTORS[name]}'")
        require("settings", given, self.service)
        if given and self.levels("build") != ["checkout"]:
            raise ValueError("settings: both builds have those of the table [settings] alone")
        return self

    @property
    def _has_messages(self) -> bool:
        """Whether cells are of messages: these need no front for several instances, as users are
        assigned to instances by their numbers."""
        return "none" not in self.levels("technique")

    @model_validator(mode="after")
    def _messages_can_be_taken(self) -> Self:
        if not self._has_messages:
            of_messages = ("technique", "pool_threads", "connections", "postgres")
            if any(self.levels(each) != [Cell.model_fields[each].default] for each in of_messages):
                raise ValueError(
                    "technique: 'none' excludes other techniques, pool_threads, connections and "
                    "postgres, which are for messages"
                )
            return self
        for strategy in self.strategy:
            if strategy not in TAKING_MESSAGES:
                raise ValueError(
                    f"strategy: '{strategy}' does not support messages; allowed are "
                    + ", ".join(sorted(TAKING_MESSAGES & {*STRATEGIES[self.service]}))
                )
            if strategy in IN_OTHER_PROCESSES and "memory" in self.levels("technique"):
                raise ValueError(
                    f"technique: 'memory' is not for {strategy}: each process has its own"
                )
        several = max(self.levels("instances")) > 1 or {*self.levels("postgres")} != {""}
        if "memory" in self.levels("technique") and several:
            raise ValueError(
                "technique: 'memory' needs a single process: instances = 1, no postgres"
            )
        if {*self.levels("pool_threads")} != {0} and self.strategy != ["worker-pool"]:
            raise ValueError("pool_threads: only for strategy = 'worker-pool'")
        return self

    def cells(self, defined: Sequence[str] = ()) -> list[Cell]:
        """The group's cells in the order of the file; `*` in a level of complexity stands for those
        that are `defined`."""
        named = [level for each in self.complexity for level in defined if is_any(level, [each])]
        levels = {factor: self.levels(factor) for factor in FACTORS}
        levels["complexity"] = named or self.complexity
        return [
            Cell(**dict(zip(FACTORS, combination, strict=True)))
            for combination in itertools.product(*levels.values())
        ]


def corner(levels: Mapping[str, Level]) -> Cell:
    """The cell of a design that has these levels. Raises ValueError where a factor is not one of
    cells, or where cells cannot have these levels."""
    known: dict[str, Level] = {}
    for name, level in levels.items():
        factor, _, setting = name.partition(".")
        if setting and factor in _OF_SETTINGS:
            before = f"{known[factor]}," if factor in known else ""
            known[factor] = f"{before}{setting}={level}"
        else:
            known[name] = level
    if others := {*known} - {*FACTORS}:
        allowed = ", ".join([*FACTORS, *(f"{each}.NAME" for each in _OF_SETTINGS)])
        raise ValueError(f"factorial.factors: '{min(others)}' is none; allowed are {allowed}")
    table = {"name": "factorial", **known}
    try:
        (cell,) = CellGroup.model_validate(table).cells()
    except ValidationError as error:
        raise ValueError(toml_file.first_problem(error, CellGroup, table, "factorial")) from error
    return cell
