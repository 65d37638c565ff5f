"""What requests cost here, and what follows from it: where a request is best handled.

All times are nanoseconds, measured by `calibration` on the machine the service runs on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any

LONG_NS = 10_000_000.0
"""From here on a request is long: others must not wait for it. About what ten of the study's small
requests take, so a small one never waits longer than it would in a queue of ten."""
WORTH_A_TRIP = 3.0
"""Work is worth a trip to another process when it takes so many times as long. The trip is work
for both cores, so with less a busy client on one of them turns the gain into a loss."""
WORTH_HELPERS_NS = 20_000_000.0
"""From here on loops run in blocks. Memory that processes share comes new from the kernel for each
request, a third of the time that half of a product of 500 x 500 matrices saves."""


class Place(Enum):
    """Where a request, or the rest of it, is handled."""

    CALLER = "caller"
    PROCESS = "process"
    LOW_PRIORITY = "low-priority-process"


LEAST_NS = 1e-9
"""For a kind whose operations take no time that can be measured."""


@dataclass(frozen=True)
class KindCosts:
    """Of the requests of one kind: of workloads whose operations take the same time."""

    fixed_ns: float
    """Of parse and serialize, whatever the size."""
    ns_per_byte: float
    """Of the body, by parse and serialize."""
    ns_per_operation: float
    """By compute, with loops in order."""

    def text_ns(self, body_bytes: int) -> float:
        """What parse and serialize take."""
        return self.fixed_ns + self.ns_per_byte * body_bytes


@dataclass(frozen=True)
class Costs:
    """Of every kind, and of a trip to another process and back."""

    kinds: Mapping[str, KindCosts]
    trip_ns: float
    trip_ns_per_byte: float

    def place(self, kind: str, body_bytes: int, others: int) -> Place:
        """For a request of which only the length is known. `others` are in flight and not long."""
        costs = self.kinds.get(kind)
        if costs is None:
            return Place.PROCESS
        return self._place(costs.text_ns(body_bytes), body_bytes, others)

    def place_parsed(self, kind: str, operations: float, body_bytes: int, others: int) -> Place:
        """For what is left of a request that has been parsed."""
        return self._place(self.kinds[kind].ns_per_operation * operations, body_bytes, others)

    def operations_of(self, kind: str, time_ns: float) -> float:
        """How many are computed in such a time; infinitely many where nothing is known."""
        costs = self.kinds.get(kind)
        return inf if costs is None else time_ns / max(costs.ns_per_operation, LEAST_NS)

    def facts(self) -> dict[str, Any]:
        """For people: the costs, and from what size on they decide."""
        trip = {"fixedNs": round(self.trip_ns), "nsPerByte": self.trip_ns_per_byte}
        return {"trip": trip, "kinds": {kind: self._facts(kind) for kind in self.kinds}}

    def _facts(self, kind: str) -> dict[str, Any]:
        costs = self.kinds[kind]
        return {
            "fixedNs": round(costs.fixed_ns),
            "nsPerByte": costs.ns_per_byte,
            "nsPerOperation": costs.ns_per_operation,
            "processFromOperations": self._rounded(kind, WORTH_A_TRIP * self.trip_ns),
            "lowPriorityFromOperations": self._rounded(kind, LONG_NS),
            "blocksFromOperations": self._rounded(kind, WORTH_HELPERS_NS),
        }

    def _rounded(self, kind: str, time_ns: float) -> int:
        return round(self.operations_of(kind, time_ns))

    def _place(self, work_ns: float, body_bytes: int, others: int) -> Place:
        if work_ns >= LONG_NS:
            return Place.LOW_PRIORITY
        trip_ns = self.trip_ns + self.trip_ns_per_byte * body_bytes
        return Place.PROCESS if others and work_ns >= WORTH_A_TRIP * trip_ns else Place.CALLER
