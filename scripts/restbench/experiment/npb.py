"""NAS kernels as levels of complexity, and the table [npb] of an experiment that measures them.

`CG-A` is CG with its input of class A, `CG-A-on-2` the same on two cores, without the service.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from restbench.experiment.drivers import Demand, DriverTable
from restbench.experiment.selection import Above0, Counted, Positive, Strict, Where

#: The classes of each kernel, from small to large. W30, of MG only, is class W of NPB 3.0 (64
#: points an axis, 40 iterations), the one that the study has measured.
CLASSES: dict[str, tuple[str, ...]] = {
    "IS": ("S", "W", "A", "B", "C"),
    "CG": ("S", "W", "A", "B", "C"),
    "MG": ("S", "W", "W30", "A", "B", "C"),
    "FT": ("S", "W", "A", "B", "C"),
}
#: Every number of cores up to this is measured; beyond it powers of two, and all cores.
EVERY_CORE_UP_TO = 8
#: How far published numbers may be off by rounding: seconds, which have three decimals, and, as a
#: share, the rate of operations.
_ROUNDED_S, _ROUNDED_PART = 0.0005, 1e-4
ClientName = Literal["java-rest", "java-soap", "python-rest", "python-soap"]
_LEVEL = re.compile(r"([A-Z]+)-([A-Z0-9]+?)(?:-on-(\d+))?")


@dataclass(frozen=True)
class Work:
    """A kernel with its class. `cores` is given where the number of cores is varied: such a cell
    runs without the service."""

    kernel: str
    npb_class: str
    cores: int | None = None

    @property
    def level(self) -> str:
        """The name of the work as a level of a cell's complexity."""
        on = "" if self.cores is None else f"-on-{self.cores}"
        return f"{self.kernel}-{self.npb_class}{on}"

    @property
    def rank(self) -> tuple[int, int, int]:
        """The key that sorts tables: NPB's order of kernels, then classes by size, then cores."""
        classes = CLASSES[self.kernel]
        return list(CLASSES).index(self.kernel), classes.index(self.npb_class), self.cores or 0


def work_of(level: str) -> Work:
    """The work of a level. Raises ValueError where the level is not a kernel with its class."""
    found = _LEVEL.fullmatch(level)
    if found is None or found[2] not in CLASSES.get(found[1], ()):
        raise ValueError(f"'{level}' is not a kernel with its class, such as CG-A")
    return Work(found[1], found[2], int(found[3]) if found[3] else None)


def request(level: str) -> dict[str, Any]:
    """The request for a level. The service builds the input for it, which is also the default."""
    return {"requestId": 1, "class": work_of(level).npb_class, "generate": True}


def body(level: str) -> bytes:
    """The body of the request for a level."""
    return json.dumps(request(level), separators=(",", ":")).encode()


def core_counts(cores: int) -> tuple[int, ...]:
    """The numbers of cores to measure on a machine that has so many."""
    few = range(1, min(cores, EVERY_CORE_UP_TO) + 1)
    more = [EVERY_CORE_UP_TO << n for n in range(1, cores.bit_length())]
    return tuple(sorted({*few, *(each for each in more if each < cores), cores}))


class Runs(Strict):
    """How often a kernel is run, in a process without HTTP and in the service."""

    runs: Annotated[int, Field(ge=2)]
    kept: Positive
    """How many of the last runs are kept: those that count as warm."""

    @model_validator(mode="after")
    def _first_is_not_warm(self) -> Self:
        if self.kept >= self.runs:
            raise ValueError("need kept < runs: the first run is the fresh one")
        return self


class PublishedRow(NamedTuple):
    """The published times and rates of a kernel's class."""

    normal_s: Above0
    normal_mops: Above0
    service_s: Above0
    service_mops: Above0

    @property
    def ratio(self) -> float:
        """The time in the web service over the time of normal execution."""
        return self.service_s / self.normal_s


class PublishedTable(Strict):
    """The study's own table, which is shown next to what is measured here."""

    source: str
    machine: str
    rows: dict[str, PublishedRow]
    mega_operations: dict[str, Above0] = Field(default_factory=dict)
    """Millions of operations in a kernel's timed region, as the study's NPB counts them."""
    screens_s: dict[str, Above0] = Field(default_factory=dict)
    """The kernel's own time in the service, in the study's screenshots."""

    @field_validator("rows", "mega_operations", "screens_s")
    @classmethod
    def _are_kernels(cls, rows: dict[str, object]) -> dict[str, object]:
        for level in rows:
            work_of(level)
        return rows

    def is_result(self, level: str, seconds: float, mops: float) -> bool:
        """Whether time and rate can belong to one run: their product is the kernel's count of
        operations, except for rounding. True where the count is not known."""
        counted = self.mega_operations.get(level, seconds * mops)
        least, most = counted / (seconds + _ROUNDED_S), counted / (seconds - _ROUNDED_S)
        return least * (1 - _ROUNDED_PART) <= mops <= most * (1 + _ROUNDED_PART)


class Clients(Strict):
    """Programs that call a cell's service one after the other, after the harness' own calls."""

    names: Annotated[tuple[ClientName, ...], Field(min_length=1)]
    where: Where


class Npb(DriverTable):
    """The table [npb]."""

    run_max_s: Above0
    """One run of a kernel that takes longer has failed."""
    runs: dict[str, dict[str, Runs]]
    """By profile and class."""
    published: PublishedTable
    clients: Clients | None = None
    cores: Counted = Field(default="cores", validate_default=True)
    """The largest number of cores to measure: those of the run's machine; not to be set."""

    def levels(self) -> tuple[str, ...]:
        """Every level: each kernel and class, in the service and on each number of cores."""
        here = core_counts(self.cores)
        works = [Work(kernel, each) for kernel, classes in CLASSES.items() for each in classes]
        scaled = [Work(each.kernel, each.npb_class, cores) for each in works for cores in here]
        return tuple(each.level for each in (*works, *scaled))

    def files(self, level: str) -> dict[str, str]:
        """The request for a kernel."""
        return {"body.json": body(level).decode()}

    def require(self, asked: Demand) -> None:
        """Raises ValueError where a profile has no runs of a cell's class, or a cell has several
        users or a front."""
        for profile, cell in asked.measured:
            if work_of(cell.complexity).npb_class not in self.runs.get(profile, {}):
                raise ValueError(f"npb.runs.{profile}: lacks the class of '{cell.complexity}'")
            if (cell.users, cell.front) != (1, "none"):
                raise ValueError("cells: driver 'npb' calls one at a time: users = 1, and no front")
