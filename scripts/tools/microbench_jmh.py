"""The Java service's parts, measured by JMH in the service's own classes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from restbench import ROOT
from restbench.experiment.records import Score
from restbench.failures import EnvironmentProblem
from restbench.machine import jvm
from tools import microbench_program
from tools.microbench_plan import Plan, Profile
from tools.service_choice import IN_ORDER

SERVICE = ROOT / "java-service"
#: What the benchmarks need next to the service's classes, as Maven wrote it.
LIBRARIES = SERVICE / "target" / "benchmark-libraries.txt"
PACKAGE = "org.restbench.microbench"
KERNELS = ("loops", "native")
#: Times the others' warm-up: CXF's code is compiled after thousands of calls of a millisecond.
SOAP_WARMUP = 20

Parameters = Mapping[str, Sequence[object]]


def measure(plan: Plan, bodies: Path, folder: Path, tell: Callable[[str], None]) -> list[Score]:
    """Every part that the plan wants. WrongAnswers, EnvironmentProblem."""
    strategies = plan.choice.of(offered(folder))
    scores: list[Score] = []
    for benchmark, parameters in _groups(plan.profile, strategies):
        levels = ", ".join(f"{name} {'/'.join(map(str, of))}" for name, of in parameters.items())
        tell(f"java    {benchmark}: {levels}")
        scores += _run(benchmark, parameters, plan.profile, bodies, folder)
    return scores


def offered(folder: Path) -> list[str]:
    """The strategies in the table of this Java."""
    command = [*_java(), f"{PACKAGE}.StrategyNames"]
    output = microbench_program.run("java strategies", command, folder / "strategies.log")
    lines = [line for line in output.splitlines() if line and " " not in line]
    if IN_ORDER not in lines:
        raise EnvironmentProblem(f"no strategies were named, but: {output.strip()[:200]}")
    return lines


def _groups(profile: Profile, strategies: Sequence[str]) -> list[tuple[str, Parameters]]:
    others = [each for each in strategies if each != IN_ORDER]
    both: Parameters = {"kernel": KERNELS, "shape": profile.shapes}
    under: Parameters = {"kernel": KERNELS, "shape": profile.strategy_shapes}
    empty: Parameters = {"kernel": KERNELS, "rows": profile.rows, "strategy": strategies}
    groups: list[tuple[str, Parameters]] = [
        ("StageBenchmark", {"shape": profile.shapes}),
        ("SoapBenchmark", {"shape": profile.shapes}),
        ("ComputeBenchmark", {**both, "strategy": [IN_ORDER]}),
        ("ComputeBenchmark", {**under, "strategy": others}),
        ("DispatchBenchmark", empty),
    ]
    return [each for each in groups if all(each[1].values())]


def _run(
    benchmark: str, parameters: Parameters, profile: Profile, bodies: Path, folder: Path
) -> list[Score]:
    result = folder / f"{benchmark}.json"
    result.unlink(missing_ok=True)
    levels = [f"{name}={','.join(map(str, each))}" for name, each in parameters.items()]
    command = [
        *_java(),
        "org.openjdk.jmh.Main",
        rf"{PACKAGE}\.{benchmark}\.".replace("org.restbench", r"org\.restbench"),
        *(part for level in levels for part in ("-p", level)),
        *_effort(profile, SOAP_WARMUP if benchmark == "SoapBenchmark" else 1),
        *("-jvmArgsAppend", " ".join([*jvm.FLAGS, f"-Drestbench.bodies={bodies}"])),
        *("-foe", "true", "-rf", "json", "-rff", str(result)),
    ]
    microbench_program.run(f"java {benchmark}", command, folder / f"{benchmark}.log")
    return read(json.loads(result.read_text(encoding="utf-8")))


def _effort(profile: Profile, warmup: int) -> list[str]:
    value_ms = max(1, round(1000 * profile.value_s))
    return [
        *("-f", str(profile.processes), "-wi", str(profile.warmups), "-i", str(profile.values)),
        *("-w", f"{warmup * value_ms}ms", "-r", f"{value_ms}ms"),
    ]


def _java() -> list[str]:
    if not LIBRARIES.exists():
        raise EnvironmentProblem(f"{LIBRARIES} is missing: run 'make microbench'")
    target = SERVICE / "target"
    classes = [str(target / "test-classes"), str(target / "classes")]
    path = ":".join([*classes, LIBRARIES.read_text(encoding="utf-8").strip()])
    return [jvm.java(), "-cp", path]


def read(results: Sequence[Mapping[str, Any]]) -> list[Score]:
    """The scores in JMH's own file: `rawData` has a list of values for each fork."""
    return [_score(each) for each in results]


def _score(result: Mapping[str, Any]) -> Score:
    metric, parameters = result["primaryMetric"], result.get("params", {})
    if metric["scoreUnit"] != "us/op":
        raise EnvironmentProblem(f"JMH reported {metric['scoreUnit']}, not us/op")
    return Score(
        service="java",
        part=result["benchmark"].rpartition(".")[2],
        shape=parameters.get("shape"),
        kernel=parameters.get("kernel"),
        strategy=parameters.get("strategy"),
        rows=int(parameters["rows"]) if "rows" in parameters else None,
        runs_us=tuple(fmean(values) for values in metric["rawData"]),
    )
