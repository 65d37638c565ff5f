"""Steps over runs, for the browser: which runs are one course, and where it has steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from restbench.analyse import steps
from restbench.analyse.measures import FEWEST_BLOCKS

#: Of one machine and experiment, by cell and framework: runs that may be joined by a line, by their
#: numbers, with the values of their blocks.
Family: TypeAlias = dict[tuple[int, str], dict[int, list[float]]]


def steps_of(runs: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Every step, of runs in order of time as the browser's document has them. The courses of one
    metric, machine and experiment are looked at together; runs without an interval are in none."""
    found = []
    for number, metric in enumerate(metrics):
        for family in _families(runs, number):
            known = {key: course for key, course in family.items() if len(course) > 1}
            shifts = steps.find([list(course.values()) for course in known.values()])
            for ((cell, framework), course), its in zip(known.items(), shifts, strict=True):
                place = {"metric": metric, "cell": cell, "framework": framework}
                found += [place | _step(list(course), each) for each in its]
    return found


def _families(runs: Sequence[Mapping[str, Any]], metric: int) -> Iterable[Family]:
    families: dict[tuple[int, str], Family] = {}
    for number, run in enumerate(runs):
        family = families.setdefault((run["machine"], run["experiment"]), {})
        for cell in run["cells"]:
            values = cell["values"][metric][3] if cell["values"][metric] else []
            if len(values) >= FEWEST_BLOCKS and min(values) > 0:
                family.setdefault((cell["cell"], cell["framework"]), {})[number] = values
    return families.values()


def _step(runs: Sequence[int], found: steps.Step) -> dict[str, Any]:
    ratio = [found.ratio.estimate, found.ratio.low, found.ratio.high]
    numbers = [float(f"{each:.5g}") for each in ratio]
    return {"before": runs[found.at - 1], "after": runs[found.at], "ratio": numbers}
