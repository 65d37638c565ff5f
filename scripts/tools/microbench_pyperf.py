"""The Python service's parts, measured by pyperf in the service's own modules."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from restbench.deploy import programs
from restbench.experiment.records import Score
from restbench.failures import EnvironmentProblem
from tools import microbench_program
from tools.microbench_plan import Plan, Profile

MICROSECONDS = 1e6


def measure(plan: Plan, bodies: Path, folder: Path, tell: Callable[[str], None]) -> list[Score]:
    """Every part that the plan wants. WrongAnswers, EnvironmentProblem."""
    if importlib.util.find_spec("pyperf") is None:
        raise EnvironmentProblem("pyperf is missing: run 'make microbench'")
    result = folder / "pyperf.json"
    result.unlink(missing_ok=True)
    strategies = plan.choice.of(offered(folder))
    tell(f"python  parse, serialize, compute, dispatch: {', '.join(strategies)}")
    command = [
        *_program("microbench"),
        *("--bodies", str(bodies), "--shapes", *plan.profile.shapes),
        *("--strategy-shapes", *plan.profile.strategy_shapes, "--strategies", *strategies),
        *("--rows", *map(str, plan.profile.rows)),
        *_effort(plan.profile),
        *("-o", str(result)),
    ]
    microbench_program.run("python microbench", command, folder / "pyperf.log")
    return read(json.loads(result.read_text(encoding="utf-8")))


def offered(folder: Path) -> list[str]:
    """The strategies in the service's table."""
    command = _program("microbench.strategy_names")
    output = microbench_program.run("python strategies", command, folder / "names.log")
    return output.split()


def _effort(profile: Profile) -> list[str]:
    return [
        *("--value-seconds", str(profile.value_s), "--processes", str(profile.processes)),
        *("--warmups", str(profile.warmups), "--values", str(profile.values)),
    ]


def _program(module: str) -> list[str]:
    service = programs.PYTHON_SERVICE
    return programs.python_program("-m", module, folders=(service, service / "tests"))


def read(suite: Mapping[str, Any]) -> list[Score]:
    """The scores in pyperf's own file: a run is a process, its values are seconds."""
    # what all benchmarks have in common, the name of a single one too, stands above them
    common, scores = suite.get("metadata", {}), []
    for each in suite["benchmarks"]:
        name = each.get("metadata", {}).get("name") or common["name"]
        runs = [run["values"] for run in each["runs"] if run.get("values")]
        runs_us = tuple(MICROSECONDS * fmean(values) for values in runs)
        scores.append(Score(service="python", runs_us=runs_us, **_place(name)))
    return scores


def _place(name: str) -> dict[str, Any]:
    """`parse/low`, `compute/native/medium/serial`, `dispatch/100/serial`."""
    part, *rest = name.split("/")
    members = {
        "parse": ("shape",),
        "serialize": ("shape",),
        "compute": ("kernel", "shape", "strategy"),
        "dispatch": ("rows", "strategy"),
    }[part]
    return {"part": part, **dict(zip(members, rest, strict=True))}
