"""Steps over runs, for the browser: which runs are one course, and where it has steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from restbench.analyse import steps
from restbench.analyse.measures import FEWEST_BLOCKS

#: Runs that may be joined by a line: machine, experiment, cell and framework.
Key: TypeAlias = tuple[int, str, int, str]


def steps_of(runs: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Every step, of runs in order of time as the browser's document has them. The courses of one
    metric, machine and experiment are looked at together; runs without an interval are in none."""
    found = []
    for number, metric in enumerate(metrics):
        for courses in _families(runs, number).values():
            known = {key: course for key, course in courses.items() if len(course) > 1}
            shifts = steps.find([list(course.values()) for course in known.values()])
            for (key, course), its in zip(known.items(), shifts, strict=True):
                found += [_step(metric, key, list(course), each) for each in its]
    return found


def _families(
    runs: Sequence[Mapping[str, Any]], metric: int
) -> dict[tuple[int, str], dict[Key, dict[int, list[float]]]]:
    """By machine and experiment, then by course, the values of blocks by the run's number."""
    families: dict[tuple[int, str], dict[Key, dict[int, list[float]]]] = {}
    for number, run in enumerate(runs):
        family = families.setdefault((run["machine"], run["experiment"]), {})
        for cell in run["cells"]:
            values = cell["values"][metric][3] if cell["values"][metric] else []
            if len(values) >= FEWEST_BLOCKS and min(values) > 0:
                key = (run["machine"], run["experiment"], cell["cell"], cell["framework"])
                family.setdefault(key, {})[number] = values
    return families


def _step(metric: str, key: Key, runs: Sequence[int], found: steps.Step) -> dict[str, Any]:
    machine, experiment, cell, framework = key
    ratio = found.ratio
    return {
        "metric": metric,
        "machine": machine,
        "experiment": experiment,
        "cell": cell,
        "framework": framework,
        "before": runs[found.at - 1],
        "after": runs[found.at],
        "ratio": [float(f"{each:.5g}") for each in (ratio.estimate, ratio.low, ratio.high)],
    }
