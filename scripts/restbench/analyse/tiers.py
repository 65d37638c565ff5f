"""Which tier limits a closed load: the CPU time of service, load generator and database for an
operation as stations of a queueing network, and what that predicts for other numbers of users.
Pure functions on rows.

The CPU time of all tiers on the same cores is one station. The demands of a prediction are those
of the cell with the fewest users. What an operation takes beyond them with one user is a delay: it
is network and, of a database, the wait for its log, which many users share (group commit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.analyse.bottleneck import (
    Solution,
    Station,
    bottleneck,
    bound,
    knee,
    open_wait,
    solve,
)
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import Cell
from restbench.machine.placement import place

#: By so much may the CPU time of the tiers differ from what the machine says (0 to 1).
UTILISATION_TOLERANCE = 0.05
#: A throughput that the network misses by more is decided by something that is not in it.
MODEL_TOLERANCE = 0.15
#: From here on a station is the limit: what is left is less than the network is trusted to tell.
SATURATED = 1 - MODEL_TOLERANCE
DELAY = "one user's wait"


@dataclass(frozen=True)
class Demands:
    """CPU time for a correct answer, in milliseconds, by tier."""

    service: float
    client: float
    database: float | None = None
    """None where there is none."""

    @property
    def parts(self) -> Mapping[str, float]:
        """Those that are there."""
        known = {"service": self.service, "client": self.client, "database": self.database}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def cpu(self) -> float:
        """All of it."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Level:
    """A cell of a family, measured and predicted. Times are in milliseconds, rates a second."""

    row: Row
    demands: Demands
    predicted: Solution
    """In milliseconds."""
    cores: int
    stations: tuple[Station, ...]
    """With its own demands, in milliseconds."""

    @property
    def per_s(self) -> float:
        """Measured."""
        return self.row.value("throughput_per_s") or 0.0

    @property
    def response_ms(self) -> float:
        """Measured, or from Little's law where responses are too few to tell."""
        return self.row.value("mean_ms") or 1000 * self.row.cell.users / self.per_s

    @property
    def predicted_per_s(self) -> float:
        """By the network."""
        return 1000 * self.predicted.throughput

    @property
    def off(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted_per_s / self.per_s - 1

    @property
    def utilisation(self) -> float | None:
        """Of all cores, as the machine counts it (0 to 1)."""
        busy_pct = self.row.value("machine_cpu_pct")
        return None if busy_pct is None else busy_pct / 100

    @property
    def utilisation_by_law(self) -> float:
        """X D/m, from the CPU times of the tiers."""
        return self.per_s * self.demands.cpu / 1000 / self.cores

    @property
    def waits(self) -> float:
        """The part of an open load of this throughput that would wait at the limiting station."""
        return open_wait(bottleneck(self.stations), self.per_s / 1000)[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with it, in words."""
        found = []
        measured = self.utilisation
        if measured is not None and abs(measured - self.utilisation_by_law) > UTILISATION_TOLERANCE:
            gap = 100 * (measured - self.utilisation_by_law)
            found.append(f"{gap:+.0f} points of CPU are of no tier")
        if abs(self.off) > MODEL_TOLERANCE:
            found.append("contention or group commit: not this model")
        return tuple(found)


@dataclass(frozen=True)
class Family:
    """Cells that differ in their users alone, with the network that their fewest users give."""

    cell: Cell
    stations: tuple[Station, ...]
    """Demands in milliseconds."""
    levels: tuple[Level, ...]
    """By users."""

    @property
    def limiting(self) -> Station:
        """The station that is busy first."""
        return bottleneck(self.stations)

    @property
    def best(self) -> Level:
        """The level of the highest throughput."""
        return max(self.levels, key=lambda each: each.per_s)

    @property
    def busy(self) -> float:
        """The limiting station at the highest throughput, by the CPU times of the tiers there (0 to
        1)."""
        there = {each.name: each for each in self.best.stations}
        return there[self.limiting.name].utilisation(self.best.per_s / 1000)

    @property
    def has_idle_cores(self) -> bool:
        """Whether cores are idle there: busy neither with the tiers nor with anything else."""
        return max(self.busy, self.best.utilisation or 0.0) < SATURATED

    @property
    def knee(self) -> float:
        """From how many users on they wait for each other."""
        return knee(self.stations)

    @property
    def gain_of_a_server(self) -> float:
        """How much more throughput the bounds allow the best level with one server more at the
        station that limits (0.5: half as much again)."""
        limiting, users = self.limiting, self.best.row.cell.users
        wider = Station(limiting.name, limiting.demand, (limiting.servers or 1) + 1)
        stations = [wider if each is limiting else each for each in self.stations]
        return bound(stations, users) / bound(self.stations, users) - 1

    def course(self) -> list[Solution]:
        """The network with 1, 2, 4, … users, and those of every level."""
        most = self.levels[-1].row.cell.users
        wanted = {2**n for n in range(most.bit_length())}
        wanted |= {each.row.cell.users for each in self.levels}
        return [each for each in solve(self.stations, most) if each.users in wanted]


def demands(row: Row) -> Demands | None:
    """A cell's over its blocks; None where a tier was not observed."""
    service, per_s = row.value("cpu_ms_per_request"), row.value("throughput_per_s")
    load_pct = row.value("load_cpu_pct")
    if service is None or load_pct is None or not per_s:
        return None
    return Demands(service, 10 * load_pct / per_s, row.value("database_cpu_ms_per_request"))


def stations_of(
    cell: Cell, taken: Demands, allowed: Sequence[int], own_load_cores: int
) -> tuple[Station, ...]:
    """The cores as stations: all of them as one, or as many as tiers have cores of their own."""
    cores = place(cell.placement, tuple(allowed), own_load_cores)
    behind = taken.service + (taken.database or 0.0)
    if not cores.shared:
        return (
            Station("the CPU of service and database", behind, len(cores.service)),
            Station("the CPU of the load generator", taken.client, len(cores.load)),
        )
    left = len(cores.load) - len(cores.service)
    if left <= 0:
        return (Station("the CPU", taken.cpu, len(cores.load)),)
    return (
        Station("the service's core", taken.service, len(cores.service)),
        Station("the other cores", taken.cpu - taken.service, left),
    )


def families(rows: Sequence[Row], allowed: Sequence[int], own_load_cores: int) -> list[Family]:
    """Those whose tiers were observed, in the order of the rows; `allowed` are the cores of all
    that ran, of which the load generator had so many for itself (0: none)."""
    found = []
    for cell, of in alike(rows, users=1).items():
        known = [(row, taken) for row in of if (taken := demands(row))]
        known.sort(key=lambda each: each[0].cell.users)
        if known:
            found.append(_family(cell, known, allowed, own_load_cores))
    return found


def _family(
    cell: Cell,
    known: Sequence[tuple[Row, Demands]],
    allowed: Sequence[int],
    own_load_cores: int,
) -> Family:
    first, taken = known[0]
    stations = stations_of(cell, taken, allowed, own_load_cores)
    if first.cell.users == 1:
        waited = 1000 / (first.value("throughput_per_s") or 1.0) - taken.cpu
        stations = (*stations, Station(DELAY, max(0.0, waited), None))
    solved = solve(stations, known[-1][0].cell.users)
    levels = tuple(
        Level(
            row,
            its,
            solved[row.cell.users - 1],
            len(allowed),
            stations_of(row.cell, its, allowed, own_load_cores),
        )
        for row, its in known
    )
    return Family(cell, stations, levels)
