"""Ratios of two times of a cell, and what a claim's ratio is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from restbench.analyse.comparison import Comparison, paired
from restbench.analyse.npb_results import NpbRow
from restbench.experiment.statistics import geometric_mean
from restbench.judge.claim_parts import ratio_text

#: What is shown of each cell, as numerator and denominator.
RATIOS: dict[str, tuple[str, str]] = {
    "service/fresh": ("service_s", "fresh_s"),
    "service/warm": ("service_s", "warm_s"),
    "client/warm": ("client_s", "warm_total_s"),
    "warm/fresh": ("warm_s", "fresh_s"),
}


def ratio(row: NpbRow, name: str) -> Comparison:
    """One of RATIOS, paired over the rounds."""
    numerator, denominator = RATIOS[name]
    return paired(row.series(numerator), row.series(denominator))


def shown(row: NpbRow, name: str) -> str:
    """The same for people, with its interval where there is one."""
    return ratio_text(ratio(row, name))


def explanation(rows: Sequence[NpbRow]) -> list[str]:
    """Why a service can look faster than normal execution, a sentence a technique: its ratio to a
    fresh process is that of warming up times that of the service itself."""
    groups: dict[str, list[NpbRow]] = {}
    for row in rows:
        measured = all(ratio(row, name).estimate for name in ("service/warm", "warm/fresh"))
        if row.work.cores is None and measured:
            groups.setdefault(f"{row.cell.service} {row.cell.strategy}", []).append(row)
    return [_sentence(name, group) for name, group in groups.items()]


def _sentence(name: str, rows: Sequence[NpbRow]) -> str:
    means = {each: _mean(rows, each) for each in RATIOS}
    return (
        f"**{name}**, geometric means over {len(rows)} kernels and classes: in the service / fresh "
        f"process {means['service/fresh']:.3f} = warm / fresh {means['warm/fresh']:.3f} (a process "
        f"that has run it before) × service / warm {means['service/warm']:.3f} (what the service "
        f"itself does to it); at the client / warm {means['client/warm']:.3f}, a call costs "
        f"{_call(rows)} beside the kernel and its input."
    )


def _mean(rows: Sequence[NpbRow], name: str) -> float:
    return geometric_mean([each for row in rows if (each := ratio(row, name).estimate)])


def _call(rows: Sequence[NpbRow]) -> str:
    """What a call costs, over the cells: the median and the largest."""
    costs = [each for row in rows if (each := row.median("overhead_ms")) is not None]
    return f"{median(costs):.2f} ms (median; at most {max(costs):.2f} ms)"


def ends(comparison: Comparison) -> Mapping[str, float | None]:
    """The estimate with the ends of its interval, for programs."""
    found = comparison.ratio
    return {
        "": comparison.estimate,
        "_low": found.low if found else None,
        "_high": found.high if found else None,
    }
