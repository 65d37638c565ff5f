"""One block of one cell as numbers: those that `run.json` stores, and those derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import Field

from restbench.store.exported import BlockEntry, KindEntry, WarningEntry

T = TypeVar("T")


class KindMeasurement(KindEntry):
    """One kind of request of a mix, in the same window."""

    throughput_per_s: float = 0.0


class Measurement(BlockEntry):
    """The numbers of one cell in one block, named as the table's columns (`columns`). Values that a
    file does not store are computed by `estimates.completed`, after measuring and after reading.

    `None`: unknown, or more than the number of completions supports. The numbers are kept even if a
    wrong answer voids them; Row does not show them.
    """

    cell: str = ""
    """The cell's id, which is set in files only, as are `warnings`."""
    warnings: tuple[WarningEntry, ...] = ()
    kinds: Mapping[str, KindMeasurement] = Field(default_factory=dict)
    throughput_per_s: float | None = None
    service_cpu_pct: float | None = None
    littles_mean_ms: float | None = None
    network_ms: float | None = None
    batch_half_width_pct: float | None = None
    """Half-width of the throughput's interval over this block's trials, not over blocks."""

    @property
    def samples(self) -> int | None:
        """The completions, under the name of the table's column."""
        return self.completions

    @property
    def predicted_per_s(self) -> float | None:
        """The throughput if service and load generator had all cores to themselves: by their CPU
        times, X = cores / (c_service + c_generator) (method, rule 4)."""
        if None in (self.throughput_per_s, self.machine_cpu_pct, self.foreign_pct):
            return None
        own_pct = (self.machine_cpu_pct or 0.0) - (self.foreign_pct or 0.0)
        return 100 * (self.throughput_per_s or 0.0) / own_pct if own_pct > 0 else None


def number(of: Measurement | KindMeasurement | None, metric: str) -> float | None:
    """A metric by its name, from the fields or the driver's `extras`; None where it is missing."""
    known: float | None = getattr(of, metric, None)
    return of.extras.get(metric) if known is None and isinstance(of, Measurement) else known


def by_name(of: Iterable[Mapping[str, T]]) -> dict[str, list[T]]:
    """Each name with the values of those that have it."""
    found: dict[str, list[T]] = {}
    for each in of:
        for name, value in each.items():
            found.setdefault(name, []).append(value)
    return found
