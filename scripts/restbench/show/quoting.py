"""What `run.json` quotes of a run's other files (`store.quoted`), as entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from restbench.analyse import estimates, long_windows
from restbench.analyse.long_windows import Observed
from restbench.experiment.statistics import geometric_interval, geometric_mean
from restbench.judge.claims import Decision, PartDecision
from restbench.show import microbench_text
from restbench.store.quoted import (
    AgainEntry,
    CalibrationEntry,
    CheckEntry,
    ClaimEntry,
    MicrobenchEntry,
    PartEntry,
    WindowEntry,
)
from restbench.store.store import Run


def claim(decision: Decision) -> ClaimEntry:
    """A claim with every ratio behind it; those that only stand next to it come last."""
    parts = [_part(each, decides=True) for each in decision.parts]
    parts += [_part(each, decides=False) for each in decision.context]
    return ClaimEntry(
        id=decision.id,
        text=decision.text,
        verdict=decision.verdict,
        headline=decision.headline,
        why=decision.why,
        cells=decision.cells,
        reading=decision.reading,
        parts=tuple(parts),
        warned=decision.warned,
    )


def _part(part: PartDecision, *, decides: bool) -> PartEntry:
    found = part.comparison
    return PartEntry(
        label=part.label,
        metric=part.metric,
        expect=part.expect,
        ratio=found.estimate,
        low=found.ratio.low if found.ratio else None,
        high=found.ratio.high if found.ratio else None,
        margin=found.margin,
        study_value=part.study_value,
        verdict=part.verdict,
        headline=part.headline,
        decides=decides and part.decides,
    )


def calibration(run: Run) -> CalibrationEntry | None:
    """The calibration that holds for the run."""
    made = run.calibration()
    if made is None:
        return None
    names = set(CheckEntry.model_fields)
    checks = tuple(CheckEntry(**each.model_dump(include=names)) for each in made.checks)
    return CalibrationEntry(made=made.made, git_commit=made.git_commit, checks=checks)


def microbench(run: Run) -> MicrobenchEntry | None:
    """The break-even sizes on the run's machine."""
    made = run.microbench()
    if made is None:
        return None
    return MicrobenchEntry(made_of=microbench_text.made_of(made), break_evens=made.break_evens)


def again(rates: Mapping[tuple[int, str, str], float]) -> list[AgainEntry]:
    """Each group's first cell against itself; `rates` as `estimates.again_ratios` wants them."""
    return [_again(cell, of) for cell, of in estimates.again_ratios(rates).items()]


def _again(cell: str, ratios: Sequence[float]) -> AgainEntry:
    if len(ratios) == 1:
        return AgainEntry(cell=cell, ratio=geometric_mean(ratios))
    found = geometric_interval(ratios)
    return AgainEntry(cell=cell, ratio=found.estimate, low=found.low, high=found.high)


def windows(run: Run) -> list[WindowEntry]:
    """What was seen during each long window."""
    return [_window(each) for each in long_windows.of_run(run)]


def _window(seen: Observed) -> WindowEntry:
    fields: dict[str, object] = {"cell": seen.cell, "seconds": seen.seconds}
    if machine := seen.machine:
        fields |= vars(machine) | {"machine_cpu_pct": machine.cpu_pct}
        del fields["cpu_pct"]
    if service := seen.service:
        fields |= {
            "service_cpu_pct": service.cpu_pct,
            "service_peak_rss_mib": service.peak_rss_mib,
        }
    if metrics := seen.metrics:
        fields |= vars(metrics)
    return WindowEntry.model_validate(fields)
