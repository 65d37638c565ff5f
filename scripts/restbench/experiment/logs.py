"""Lines of a log as a level of complexity: the workload `logs` in the place of the matrix."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

#: What a request of a load experiment is of: the first part of its path.
Workload: TypeAlias = Literal["matrix", "logs"]
RuleSet: TypeAlias = Literal["R16", "R64", "R256", "R1024"]


class Logs(BaseModel):
    """A request of so many lines, each looked at by so many rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    rules: RuleSet
    lines: Annotated[int, Field(ge=1)]

    @property
    def work(self) -> int:
        """How often a rule looks at a line."""
        return self.lines * int(self.rules.removeprefix("R"))

    def __str__(self) -> str:
        """Such as `10 x R64`."""
        return f"{self.lines} x {self.rules}"
