"""What an audit says: facts with their weight, and the exit code they make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Weight(Enum):
    """How much a finding matters; the heaviest of them makes the exit code."""

    VULNERABLE = (1, "VULNERABLE")
    YANKED = (1, "YANKED")
    UNASKED = (3, "NOT ASKED")
    BEHIND = (0, "behind")

    def __init__(self, exit_code: int, label: str) -> None:
        """The process's exit code, and the word at the line's start."""
        self.exit_code = exit_code
        self.label = label


@dataclass(frozen=True)
class Finding:
    """One line of the audit."""

    weight: Weight
    part: str
    text: str

    def __str__(self) -> str:
        """The line, for a person and for grep."""
        return f"{self.weight.label:<10}  {self.part}: {self.text}"


def exit_code(findings: Iterable[Finding]) -> int:
    """1 for something known to be bad, else 3 where advisories could not be asked, else 0."""
    codes = {finding.weight.exit_code for finding in findings}
    return next((code for code in (1, 3) if code in codes), 0)
