"""Two runs side by side: for each cell measured in both, the ratio of a metric with its interval,
and whether the second run is significantly worse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from restbench.analyse import exported
from restbench.analyse.comparison import Comparison, series, unpaired
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.failures import BadConfiguration
from restbench.judge import guard, verdicts
from restbench.judge.study import STUDY_COLUMNS
from restbench.judge.verdicts import Verdict
from restbench.machine import machine
from restbench.store.exported import read
from restbench.store.store import Run

#: What can be compared. A share of the CPU is neither better nor worse.
METRICS = (
    *(metric for metric in STUDY_COLUMNS if not metric.endswith("_cpu_pct")),
    "queue_ms",
    "parse_ms",
    "compute_ms",
    "serialize_ms",
)
#: The default metric: the first of these that the runs have.
DEFAULTS = ("limit_per_s", "service_s", "throughput_per_s")
#: The name endings of metrics of which more is better (RATES), or less (COSTS). A change of another
#: metric, such as a number of threads, is neither better nor worse.
RATES = ("_per_s", "mops")
COSTS = ("_s", "_ms", "_mib", "_per_request")
#: Fields of a machine's description that may differ between two of its runs; differences are noted.
VERSIONS = (
    "kernel",
    "system",
    "governor",
    "scheduler_autogroup",
    "java",
    "java_flags",
    "python",
    "blas_kernel",
    "jmeter",
    "sysstat",
    "packages",
    "settings",
)

Change: TypeAlias = Literal["better", "worse", "changed", "none", "unknown"]


@dataclass(frozen=True)
class Line:
    """A cell that both runs planned: `comparison` is of second/first."""

    cell: Cell
    first: float | None
    second: float | None
    comparison: Comparison
    verdict: Verdict
    """The verdict on "the second run is like the first"."""
    change: Change

    @property
    def words(self) -> str:
        """The verdict for people: an answer that has become wrong is `worse`, however fast."""
        if lack := self.comparison.lack:
            return f"worse: {lack}" if self.change == "worse" else lack
        if self.change in ("better", "worse", "changed"):
            return self.change
        if self.verdict == "reproduced":
            return "the same"
        return verdicts.detailed_text(self.verdict, self.comparison, "same")


@dataclass(frozen=True)
class RunComparison:
    """The cells that both runs have, the cells of one run only, and what else differs."""

    metric: str
    lines: tuple[Line, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def regressions(self) -> tuple[Line, ...]:
        """The cells that are worse in the second run."""
        return tuple(line for line in self.lines if line.change == "worse")


def compare(
    first: Run, second: Run, metric: str, margin: float, any_machine: bool = False
) -> RunComparison:
    """Compare two runs of one machine (with `any_machine`, of any two) by a metric, by default the
    first of DEFAULTS that they have. Raises BadConfiguration where the machines differ, the metric
    is unknown, or no cell has it in both runs.

    The intervals are log-Welch over the blocks of each run: they contain the variation between
    blocks, but not that between days. Holm's correction counts all cells of the table.
    """
    rows = [{row.cell: row for row in exported.rows(run)} for run in (first, second)]
    known = _metrics(rows[0].values())
    metric = metric or next(name for name in DEFAULTS if name in known)
    if metric not in known:
        raise BadConfiguration(f"--metric {metric}: choose one of {', '.join(known)}")
    (one, its), (two, others) = map(_origin, (first, second))
    notes = _differences(one, two, any_machine)
    common = [cell for cell in rows[0] if cell in rows[1]]
    pairs = [(rows[0][cell], rows[1][cell]) for cell in common]
    lines = _lines(pairs, metric, margin)
    if all(line.comparison.estimate is None and line.change != "worse" for line in lines):
        raise BadConfiguration(f"{first.name} and {second.name}: no cell has {metric} in both")
    share = guard.largest_share(row for pair in pairs for row in pair)
    if metric == "throughput_per_s" and share > guard.SHARE:
        notes.append(
            f"the load generator took up to {100 * share:.0f} % of the CPU time, which hides a "
            "part of a difference in throughput: see --metric cpu_ms_per_request"
        )
    return RunComparison(
        metric,
        tuple(lines),
        tuple(cell.id for cell in rows[0] if cell not in rows[1]),
        tuple(cell.id for cell in rows[1] if cell not in rows[0]),
        (
            *notes,
            *(
                f"the commit of {run.name} is unknown"
                for run, made in ((first, its), (second, others))
                if made["commit"] == machine.UNKNOWN
            ),
            *_different(its, its, others),
        ),
    )


def more_is_better(metric: str) -> bool | None:
    """Whether more of a metric is better than less; None where neither is."""
    is_rate = metric.endswith(RATES)
    return is_rate if is_rate or metric.endswith(COSTS) else None


def _metrics(rows: Iterable[Row]) -> list[str]:
    """METRICS, and the metrics that only the driver of these rows measures."""
    extras = [name for row in rows for each in row.measured for name in each.extras]
    return list(dict.fromkeys((*METRICS, *extras)))


def _lines(pairs: Sequence[tuple[Row, Row]], metric: str, margin: float) -> list[Line]:
    """Each pair of rows, judged by "the second is like the first": contradicted means changed."""
    ratios = [_ratio(one, two, metric, margin) for one, two in pairs]
    found = verdicts.judge_table([(each, "same") for each in ratios])
    return [
        Line(
            one.cell,
            one.value(metric),
            two.value(metric),
            ratio,
            verdict,
            _change(one, two, metric, ratio, verdict),
        )
        for (one, two), ratio, verdict in zip(pairs, ratios, found, strict=True)
    ]


def _ratio(one: Row, two: Row, metric: str, margin: float) -> Comparison:
    if (one.shape, one.mix, one.logs) != (two.shape, two.mix, two.logs):
        return Comparison(margin, lack=f"'{one.cell.complexity}' has another size")
    return unpaired(series(two, metric), series(one, metric), margin)


def _change(one: Row, two: Row, metric: str, found: Comparison, verdict: Verdict) -> Change:
    """A cell that fails now, answers wrongly or nothing but errors is worse, whatever its speed."""
    answered = (one.value("throughput_per_s") or 0) > 0
    if (
        (answered and any(each.throughput_per_s == 0 for each in two.measured))
        or (one.value(metric) is not None and not two.measured and "failed" in two.flags)
        or ("wrong-answers" in two.flags and "wrong-answers" not in one.flags)
    ):
        return "worse"
    if verdict != "contradicted" or found.estimate is None:
        return "none" if verdict == "reproduced" else "unknown"
    more = more_is_better(metric)
    if more is None:
        return "changed"
    return "better" if (found.estimate > 1) == more else "worse"


def _origin(run: Run) -> tuple[dict[str, Any], dict[str, str]]:
    """The run's machine; its commit, experiment and profile."""
    if run.machine_file.exists():
        described, manifest = run.machine(), run.manifest()
        commit, made = manifest.git_commit, (manifest.experiment, manifest.profile)
    elif run.exported_file.exists():
        alone = read(run.exported_file)
        described = alone.described | {"speed": next(iter(alone.speeds), {})}
        commit, made = alone.manifest.git_commit, (alone.experiment.name, alone.experiment.profile)
    else:
        raise BadConfiguration(f"{run.machine_file}: is missing, so the run's machine is not known")
    return described, {"commit": commit[:12], "experiment": made[0], "profile": made[1]}


def _differences(
    first: Mapping[str, Any], second: Mapping[str, Any], any_machine: bool
) -> list[str]:
    one, two = (machine.identity(dict(each)) for each in (first, second))
    other = [
        f"{name} {readable(one[name])} and {readable(two[name])}"
        for name in machine.identity_differences(one, two)
    ]
    if other and not any_machine:
        raise BadConfiguration(
            f"the runs are of different machines ({'; '.join(other)}): their ratio does not show "
            "an effect of the code; --any-machine compares them anyway"
        )
    return [*(f"different machine: {each}" for each in other), *_different(VERSIONS, first, second)]


def _different(
    names: Iterable[str], first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[str]:
    return [
        f"different {name}: {_differing(first.get(name), second.get(name))}"
        for name in names
        if first.get(name) != second.get(name)
    ]


def _differing(one: Any, two: Any) -> str:
    """Both values as text; of two tables only the entries that differ."""
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        names = sorted(name for name in {**one, **two} if one.get(name) != two.get(name))
        return "; ".join(f"{name} {one.get(name)} and {two.get(name)}" for name in names)
    return f"{one} and {two}"
