"""What a cell of an NPB experiment computes: a kernel, a class of input, perhaps on fewer cores."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The classes of each kernel, from small to large. W30, of MG only, is class W of NPB 3.0 (64
#: points an axis, 40 iterations), the one that the study has measured.
CLASSES: dict[str, tuple[str, ...]] = {
    "IS": ("S", "W", "A", "B", "C"),
    "CG": ("S", "W", "A", "B", "C"),
    "MG": ("S", "W", "W30", "A", "B", "C"),
    "FT": ("S", "W", "A", "B", "C"),
}
_LEVEL = re.compile(r"([A-Z]+)-([A-Z0-9]+?)(?:-on-(\d+))?")


@dataclass(frozen=True)
class Work:
    """A kernel with its class. `cores` is given where the number of cores is what is looked at:
    such a cell runs without the service."""

    kernel: str
    npb_class: str
    cores: int | None = None

    @property
    def level(self) -> str:
        """Its name as a level of a cell's complexity: `CG-A`, `CG-A-on-2`."""
        on = "" if self.cores is None else f"-on-{self.cores}"
        return f"{self.kernel}-{self.npb_class}{on}"

    @property
    def rank(self) -> tuple[int, int, int]:
        """Where it stands in a table: NPB's order of kernels, then classes by size."""
        classes = CLASSES[self.kernel]
        return list(CLASSES).index(self.kernel), classes.index(self.npb_class), self.cores or 0


def work_of(level: str) -> Work:
    """The work of a level; ValueError where it is none."""
    found = _LEVEL.fullmatch(level)
    if found is None or found[2] not in CLASSES.get(found[1], ()):
        raise ValueError(f"'{level}' is no kernel with its class, such as CG-A")
    return Work(found[1], found[2], int(found[3]) if found[3] else None)
