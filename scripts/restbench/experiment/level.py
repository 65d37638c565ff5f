"""A level of complexity of one size, as a table of an experiment's file: a matrix, or lines of a
log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Tag

from restbench.experiment.selection import Positive, Strict

#: What a request of a load experiment is of: the first part of its path.
Workload: TypeAlias = Literal["matrix", "logs"]
RuleSet: TypeAlias = Literal["R16", "R64", "R256", "R1024"]


class ShapeEntry(Strict):
    """rows x inner times inner x columns."""

    rows: Positive
    inner: Positive
    columns: Positive


class Logs(BaseModel):
    """A request of so many lines, each looked at by so many rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    rules: RuleSet
    lines: Positive

    @property
    def work(self) -> int:
        """How often a rule looks at a line."""
        return self.lines * int(self.rules.removeprefix("R"))

    def __str__(self) -> str:
        """Such as `10 x R64`."""
        return f"{self.lines} x {self.rules}"


#: In the place of a fault in a file, next to the keys.
TAGS = MATRIX, LOGS = "of a matrix", "of logs"


def _tag(table: object) -> str:
    """By a key that the other has not."""
    keys = {*table} if isinstance(table, Mapping) else set()
    return LOGS if isinstance(table, Logs) or keys & {*Logs.model_fields} else MATRIX


Size: TypeAlias = Annotated[
    Annotated[ShapeEntry, Tag(MATRIX)] | Annotated[Logs, Tag(LOGS)], Discriminator(_tag)
]
