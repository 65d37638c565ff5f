"""The study's published table, as data, to stand beside what is measured here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from restbench.experiment import toml_file
from restbench.experiment.npb_work import work_of
from restbench.experiment.selection import Strict

Above0 = Annotated[float, Field(gt=0)]


@dataclass(frozen=True)
class PublishedRow:
    """A kernel's class as it was published."""

    normal_s: float
    normal_mops: float
    service_s: float
    service_mops: float

    @property
    def ratio(self) -> float:
        """In the web service over normal execution."""
        return self.service_s / self.normal_s


class Published(Strict):
    """The whole file."""

    source: str
    machine: str
    rows: dict[str, tuple[Above0, Above0, Above0, Above0]]

    @field_validator("rows")
    @classmethod
    def _are_kernels(cls, rows: dict[str, object]) -> dict[str, object]:
        for level in rows:
            work_of(level)
        return rows

    def row(self, level: str) -> PublishedRow | None:
        """What was published of a kernel's class; None where nothing was."""
        return PublishedRow(*self.rows[level]) if level in self.rows else None


def load(path: Path) -> Published:
    """Read the file; BadConfiguration names it and what is wrong with it."""
    return toml_file.read(path, Published)
