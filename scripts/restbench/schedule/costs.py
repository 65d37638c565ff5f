"""What a measurement costs on this machine, from the times of a run that was made on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from restbench.drive.window import ENOUGH_FOR_A_MEAN
from restbench.experiment.cell import Cell
from restbench.experiment.profile import Profile
from restbench.experiment.records import CellRun, PlannedCell, Window
from restbench.schedule.estimate import (
    CELL_OVERHEAD_S,
    DASHBOARD_S,
    SAMPLE_S,
    SERVICE_START_S,
    cell_seconds,
    group_key,
)


@dataclass(frozen=True)
class Costs:
    """What a run has taught about time."""

    throughput_per_s: Mapping[Cell, float]
    beside_s: float
    """A measurement's time beside its warm-up and its window."""
    start_s: Mapping[str, float]
    """By service: starting a process and proving its strategies, without their warm-up."""


def costs(
    records: Sequence[CellRun], throughput_per_s: Mapping[Cell, float], profile: Profile
) -> Costs:
    """The costs of a run with this profile; `records` in the order of measuring."""
    beside, starts = [], []
    cells = _cells(records)
    for before, after in pairwise(records):
        gap_s = _gap_s(before, after)
        if gap_s is None:
            continue
        if _group(before) == _group(after):
            beside.append(gap_s)
        else:
            service = after.cell.service
            starts.append((service, gap_s - profile.warm_seconds(cells[_group(after)])))
    usual_s = median(beside) if beside else CELL_OVERHEAD_S
    return Costs(throughput_per_s, usual_s, _start_s(starts, usual_s))


def _gap_s(before: CellRun, after: CellRun) -> float | None:
    """From the end of a window to the begin of the next cell's load."""
    if before.window is None or after.window is None or after.order != before.order + 1:
        return None
    if after.window.turns:  # at the same load
        return None
    return _seconds(before.window, after.window) - after.warmup_s


def _seconds(before: Window, after: Window) -> float:
    return (after.start_ms - before.end_ms) / 1000


def _start_s(starts: Sequence[tuple[str, float]], usual_s: float) -> dict[str, float]:
    seconds = dict(SERVICE_START_S)
    for service in seconds:
        seen = [gap_s - usual_s for name, gap_s in starts if name == service]
        if seen:
            seconds[service] = max(0.0, median(seen))
    return seconds


def _group(record: CellRun) -> tuple[int, tuple[str, str, str]]:
    cell = record.cell
    return record.block, (cell.service, cell.placement, cell.front)


def _cells(records: Sequence[CellRun]) -> dict[tuple[int, tuple[str, str, str]], list[Cell]]:
    """What each group's service process was warmed up for."""
    found: dict[tuple[int, tuple[str, str, str]], list[Cell]] = {}
    for each in records:
        found.setdefault(_group(each), []).append(each.cell)
    return found


def window_seconds(per_s: float, profile: Profile) -> float:
    """How long it takes until a window of this throughput is over under a profile
    (`window.window_over`); then it goes on to sar's next sample."""
    if per_s * profile.window_max_s >= profile.enough_completions:
        return max(profile.window_min_s, profile.enough_completions / per_s)
    if per_s * profile.window_max_s >= ENOUGH_FOR_A_MEAN:
        return profile.window_max_s
    enough_s = ENOUGH_FOR_A_MEAN / per_s if per_s > 0 else profile.slow_window_max_s
    return min(profile.slow_window_max_s, enough_s)


def block_seconds(block: Sequence[PlannedCell], profile: Profile, known: Costs) -> float:
    """What one block of these cells takes; cells that the run did not measure are estimated."""
    cells_s = sum(_cell_seconds(each.cell, profile, known) for each in block)
    starts_s = 0.0
    for _, planned in groupby(block, key=group_key):
        group = [each.cell for each in planned]
        starts_s += known.start_s[group[0].service] + profile.warm_seconds(group)
    return cells_s + starts_s


def _cell_seconds(cell: Cell, profile: Profile, known: Costs) -> float:
    per_s = known.throughput_per_s.get(cell)
    if per_s is None:
        return cell_seconds(cell, profile)
    window_s = window_seconds(per_s, profile) + SAMPLE_S
    return known.beside_s + profile.warmup_s + window_s


def run_seconds(block: Sequence[PlannedCell], blocks: int, profile: Profile, known: Costs) -> float:
    """What a run of so many blocks takes, dashboards included."""
    dashboards = sum(bool(each.test_ids) for each in block)
    return blocks * block_seconds(block, profile, known) + dashboards * DASHBOARD_S
