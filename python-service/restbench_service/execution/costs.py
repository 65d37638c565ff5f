"""What requests cost here, and what follows from it: where a request is best handled.

All times are nanoseconds, measured by `calibration` on the machine the service runs on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal

LONG_NS = 10_000_000.0
"""From here on a request is long: others must not wait for it. About what ten of the study's small
requests take, so a small one never waits longer than it would in a queue of ten."""
WORTH_A_TRIP = 2.0
"""Work is worth a trip to another process when it takes so many times as long. The trip is work
for both sides, so with less a busy client beside them turns the gain into a loss."""
WORTH_A_TRIP_OF_FEW = 0.5
"""The same while no more requests are there than processes: only one thread of the web process
computes at a time, so a core would be idle."""
WORTH_HELPERS_NS = 20_000_000.0
"""From here on loops run in blocks: what half of the work saves is then several times what it takes
to ask for helpers and to copy operands to where they can see them."""
LEAST_NS = 1e-9
"""For a kind whose operations take no time that can be measured."""

Place = Literal["caller", "process", "low-priority-process"]
"""Where a request, or the rest of it, is handled. Names, because enums are slow to look up."""
CALLER: Place = "caller"
PROCESS: Place = "process"
LOW_PRIORITY: Place = "low-priority-process"


@dataclass(frozen=True)
class KindCosts:
    """Of the requests of one kind: of workloads whose operations take the same time."""

    fixed_ns: float
    """Of parse and serialize, whatever the size."""
    ns_per_byte: float
    """Of the body, by parse and serialize."""
    ns_per_operation: float
    """By compute, with loops in order."""

    def bytes_of(self, time_ns: float, trips: float = 0.0, trip_ns_per_byte: float = 0.0) -> float:
        """From what length on parse and serialize take this time and so many trips' bytes."""
        ns_per_byte = self.ns_per_byte - trips * trip_ns_per_byte
        beyond_ns = time_ns - self.fixed_ns
        if beyond_ns <= 0:
            return 0.0
        return beyond_ns / ns_per_byte if ns_per_byte > 0 else inf

    def operations_of(self, time_ns: float) -> float:
        """How many are computed in such a time."""
        return time_ns / max(self.ns_per_operation, LEAST_NS)


@dataclass(frozen=True)
class Limits:
    """From what size on a request of one kind is handled where."""

    process_from_bytes: float
    low_priority_from_bytes: float
    process_from_operations: float
    process_operations_a_byte: float
    """So many more for each byte of the body, which has to make the trip."""
    low_priority_from_operations: float
    blocks_from_operations: float

    def place(self, body_bytes: int, has_company: bool) -> Place:
        """For a request of which only the length is known; company is others that are not long."""
        if body_bytes >= self.low_priority_from_bytes:
            return LOW_PRIORITY
        return PROCESS if has_company and body_bytes >= self.process_from_bytes else CALLER

    def place_parsed(self, operations: float, body_bytes: int, has_company: bool) -> Place:
        """For what is left of a request that has been parsed."""
        if operations >= self.low_priority_from_operations:
            return LOW_PRIORITY
        trip = self.process_from_operations + self.process_operations_a_byte * body_bytes
        return PROCESS if has_company and operations >= trip else CALLER

    def facts(self) -> dict[str, int | None]:
        """Whole numbers under camel-case names; None where a limit is never reached."""
        words = {name: name.split("_") for name in asdict(self)}
        return {
            words[name][0] + "".join(word.title() for word in words[name][1:]): _whole(value)
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Costs:
    """Of every kind, and of a trip to another process and back."""

    kinds: Mapping[str, KindCosts]
    trip_ns: float
    trip_ns_per_byte: float

    def limits(self, worth: float = WORTH_A_TRIP) -> dict[str, Limits]:
        """What follows for each kind, where work is worth a trip that takes `worth` trips' time."""
        return {kind: self._limits(costs, worth) for kind, costs in self.kinds.items()}

    def facts(self) -> dict[str, Any]:
        """The costs themselves."""
        trip = {"fixedNs": round(self.trip_ns), "nsPerByte": self.trip_ns_per_byte}
        return {"trip": trip, "kinds": {kind: _facts(costs) for kind, costs in self.kinds.items()}}

    def _limits(self, costs: KindCosts, worth: float) -> Limits:
        trips_ns = worth * self.trip_ns
        return Limits(
            costs.bytes_of(trips_ns, worth, self.trip_ns_per_byte),
            costs.bytes_of(LONG_NS),
            costs.operations_of(trips_ns),
            costs.operations_of(worth * self.trip_ns_per_byte),
            costs.operations_of(LONG_NS),
            costs.operations_of(WORTH_HELPERS_NS),
        )


def _facts(costs: KindCosts) -> dict[str, float]:
    return {
        "fixedNs": round(costs.fixed_ns),
        "nsPerByte": costs.ns_per_byte,
        "nsPerOperation": costs.ns_per_operation,
    }


def _whole(number: float) -> int | None:
    return round(number) if number < inf else None
