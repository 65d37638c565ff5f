"""Which tier limits a closed load: the CPU time per operation of service, load generator and
database as demands on the stations of a queueing network, and the network's predictions for other
numbers of users; `docs/bottlenecks.md` has the terms. Pure functions on rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.analyse.bottleneck import (
    Solution,
    Station,
    bottleneck,
    bound,
    open_wait,
    solve,
)
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import Cell
from restbench.machine.placement import place

#: How far the utilisation by the tiers' CPU times may differ from the machine's own (0 to 1).
UTILISATION_TOLERANCE = 0.05
#: Where the prediction is off by more, the throughput depends on something not in the network.
MODEL_TOLERANCE = 0.15
#: From this utilisation on a station is the limit: the rest is within the network's tolerance.
SATURATED = 1 - MODEL_TOLERANCE
DELAY = "one user's wait"


@dataclass(frozen=True)
class Demands:
    """CPU time for a correct answer, in milliseconds, by tier."""

    service: float
    client: float
    database: float | None = None
    """None where there is no database."""

    @property
    def parts(self) -> Mapping[str, float]:
        """By tier: the CPU time of each tier that exists."""
        known = {"service": self.service, "client": self.client, "database": self.database}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def cpu(self) -> float:
        """The CPU time of all tiers together."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Level:
    """A cell of a family, measured and predicted. Times are in milliseconds, rates a second."""

    row: Row
    demands: Demands
    predicted: Solution
    """The network's solution for the cell's users, in milliseconds."""
    cores: int
    stations: tuple[Station, ...]
    """The network with the demands of this cell, in milliseconds."""

    @property
    def per_s(self) -> float:
        """The measured throughput."""
        return self.row.value("throughput_per_s") or 0.0

    @property
    def response_ms(self) -> float:
        """The measured mean response time, or by Little's law where responses are too few."""
        return self.row.value("mean_ms") or 1000 * self.row.cell.users / self.per_s

    @property
    def predicted_per_s(self) -> float:
        """The throughput that the network predicts."""
        return 1000 * self.predicted.throughput

    @property
    def off(self) -> float:
        """Predicted over measured throughput, less 1."""
        return self.predicted_per_s / self.per_s - 1

    @property
    def utilisation(self) -> float | None:
        """The utilisation of all cores, as the machine counts it (0 to 1)."""
        busy_pct = self.row.value("machine_cpu_pct")
        return None if busy_pct is None else busy_pct / 100

    @property
    def utilisation_by_law(self) -> float:
        """The utilisation of all cores by the tiers' CPU times: X D/m."""
        return self.per_s * self.demands.cpu / 1000 / self.cores

    @property
    def waits(self) -> float:
        """The share of an open load of this throughput that waits at the limiting station."""
        return open_wait(bottleneck(self.stations), self.per_s / 1000)

    @property
    def notes(self) -> tuple[str, ...]:
        """Where measurement and model disagree, in words."""
        found = []
        measured = self.utilisation
        if measured is not None and abs(measured - self.utilisation_by_law) > UTILISATION_TOLERANCE:
            gap = 100 * (measured - self.utilisation_by_law)
            found.append(f"{gap:+.0f} points of CPU belong to no tier")
        if abs(self.off) > MODEL_TOLERANCE:
            found.append("contention or group commit, which is not in this model")
        return tuple(found)


@dataclass(frozen=True)
class Family:
    """Cells that differ in their users alone, with the network of the fewest users' cell."""

    cell: Cell
    stations: tuple[Station, ...]
    """Demands in milliseconds."""
    levels: tuple[Level, ...]
    """Sorted by users."""

    @property
    def limiting(self) -> Station:
        """The station that saturates first."""
        return bottleneck(self.stations)

    @property
    def best(self) -> Level:
        """The level of the highest throughput."""
        return max(self.levels, key=lambda each: each.per_s)

    @property
    def busy(self) -> float:
        """The utilisation of the limiting station at the highest throughput, by the CPU times of
        the tiers there (0 to 1)."""
        there = {each.name: each for each in self.best.stations}
        return there[self.limiting.name].utilisation(self.best.per_s / 1000)

    @property
    def has_idle_cores(self) -> bool:
        """Whether cores are idle at the highest throughput: neither tiers nor others use them."""
        return max(self.busy, self.best.utilisation or 0.0) < SATURATED

    @property
    def gain_of_a_server(self) -> float:
        """How much more throughput the bounds allow at the best level with one more server at the
        limiting station (0.5: half as much again)."""
        limiting, users = self.limiting, self.best.row.cell.users
        wider = Station(limiting.name, limiting.demand, (limiting.servers or 1) + 1)
        stations = [wider if each is limiting else each for each in self.stations]
        return bound(stations, users) / bound(self.stations, users) - 1

    def bound_per_s(self, users: int) -> float:
        """The throughput that so many users cannot exceed; `users` divided by it is the response
        time that they cannot undercut (Little's law, as nobody pauses between requests)."""
        return 1000 * bound(self.stations, users)

    def course(self) -> list[Solution]:
        """The network's solutions for 1, 2, 4, … users, and for the users of every level."""
        most = self.levels[-1].row.cell.users
        wanted = {2**n for n in range(most.bit_length())}
        wanted |= {each.row.cell.users for each in self.levels}
        return [each for each in solve(self.stations, most) if each.users in wanted]


def demands(row: Row) -> Demands | None:
    """A cell's demands over its blocks; None where a tier was not observed."""
    service, per_s = row.value("cpu_ms_per_request"), row.value("throughput_per_s")
    load_pct = row.value("load_cpu_pct")
    if service is None or load_pct is None or not per_s:
        return None
    return Demands(service, 10 * load_pct / per_s, row.value("database_cpu_ms_per_request"))


def stations_of(
    cell: Cell, taken: Demands, allowed: Sequence[int], own_load_cores: int
) -> tuple[Station, ...]:
    """The cores as stations: one for all cores, or two where a tier has cores of its own."""
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
    """The families whose tiers were observed, in the order of the rows. `allowed` are the cores of
    all processes, of which the load generator had `own_load_cores` for itself (0: none)."""
    found = []
    for cell, of in alike(rows, users=1).items():
        known = [(row, taken) for row in of if (taken := demands(row))]
        if not known:
            continue
        known.sort(key=lambda each: each[0].cell.users)
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
        found.append(Family(cell, stations, levels))
    return found
