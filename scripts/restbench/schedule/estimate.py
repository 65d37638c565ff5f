"""How long a run takes: a plan's cost before it starts, corrected by what it has taken so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from restbench.experiment.cell import Cell
from restbench.experiment.plan import service_group
from restbench.experiment.profile import Profile
from restbench.experiment.records import PlannedCell

# Measured on a 2-core machine; a run corrects them by what its own cells take.
#: Seconds a cell takes beside its load: JMeter's start and stop, collectors, verification.
CELL_OVERHEAD_S = 1.1
#: Of cells that take turns at one load each has this part of its overhead and its warm-up.
TURN_OVERHEAD = 0.4
#: The same for each user: connections, and what is in flight when the load ends.
USER_OVERHEAD_S = 0.015
#: Seconds a service process takes to start and to be proven, without its warm-up.
SERVICE_START_S = {"java": 8.0, "python": 3.0}
#: Seconds to sar's next sample, which a window goes on to: half of its interval on average.
SAMPLE_S = 0.5
#: Seconds all dashboards, tables and figures take, a dashboard.
DASHBOARD_S = 1.0


def cell_seconds(cell: Cell, profile: Profile) -> float:
    """What a cell is expected to take. Java's cells are quick and end early; Python's end at a cap,
    and those with a message an element, or with the most work in one process, at the slow one."""
    if rule := profile.turns_of(cell):
        return rule.seconds + TURN_OVERHEAD * (CELL_OVERHEAD_S + profile.warmup_s)
    slow = (cell.strategy == "process-per-element" and cell.complexity != "low") or (
        cell.strategy == "serial" and cell.complexity == "high"
    )
    if cell.service == "java":
        window = (profile.window_min_s + profile.window_max_s) / 2
    else:
        window = profile.slow_window_max_s if slow else profile.window_max_s
    overhead = CELL_OVERHEAD_S + cell.users * USER_OVERHEAD_S
    return overhead + profile.warmup_s + window + SAMPLE_S


def group_seconds(first: PlannedCell, plan: Sequence[PlannedCell], profile: Profile) -> float:
    """What starting and warming the service process of a group is expected to take."""
    cells = [each.cell for each in plan if group_key(each) == group_key(first)]
    return SERVICE_START_S[first.cell.service] + profile.warm_seconds(cells)


def group_key(planned: PlannedCell) -> tuple[int, tuple[str, str, str]]:
    """The cells that share one service process: same block, service, placement and front."""
    return planned.block, service_group(planned.cell)


def expected_seconds(plan: Sequence[PlannedCell], profile: Profile) -> list[float]:
    """What each planned cell is expected to take; a group's first one pays for its service."""
    seconds = [cell_seconds(each.cell, profile) for each in plan]
    if plan:
        seconds[0] += group_seconds(plan[0], plan, profile)
    for index, (before, after) in enumerate(pairwise(plan), start=1):
        if group_key(before) != group_key(after):
            seconds[index] += group_seconds(after, plan, profile)
    return seconds


def total_seconds(plan: Sequence[PlannedCell], profile: Profile) -> float:
    """What a whole run is expected to take, dashboards included."""
    dashboards = len({each.cell for each in plan if each.test_ids})
    return sum(expected_seconds(plan, profile)) + dashboards * DASHBOARD_S


@dataclass
class Estimator:
    """Time to go: what the rest was expected to take, times what the past has taken per expected
    second. The clock's readings are in seconds."""

    expected_s: list[float]
    begun_s: float
    after_s: float = 0.0
    """What comes after the last cell."""
    finished: int = 0
    taken_s: float = 0.0

    def extend(self, expected_s: list[float]) -> None:
        """More cells follow: precision lacks."""
        self.expected_s = [*self.expected_s, *expected_s]

    def done(self, now_s: float) -> None:
        """The next cell is done: everything since the beginning was for it and those before."""
        self.finished += 1
        self.taken_s = now_s - self.begun_s

    def to_go_s(self) -> float:
        """Seconds that the rest will take."""
        expected = sum(self.expected_s[: self.finished])
        factor = self.taken_s / expected if expected else 1.0
        return factor * sum(self.expected_s[self.finished :]) + self.after_s
