"""The share of the best fixed strategy as figures: a panel a service, a line a complexity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench import drawing
from restbench.chart import Chart, Line, Panel, Point
from restbench.decisions import STRATEGY as CHOOSING
from restbench.regret import TOLERANCE, Share
from restbench.regret_text import complexity
from restbench.store import Run
from restbench.writing import write_text

METRIC = "share_of_best"
_TITLES = {"throughput_per_s": "throughput", "p95_ms": "p95"}
_OVER = {
    "throughput_per_s": f"{CHOOSING}'s throughput over that of the best fixed strategy of the cell",
    "p95_ms": f"the best fixed strategy's p95 over that of {CHOOSING}",
}


def charts(regrets: Sequence[Share]) -> dict[str, Chart]:
    """By name the chart of each metric that has a point."""
    found = {}
    for metric, title in _TITLES.items():
        shares = [each for each in regrets if each.metric == metric]
        if any(each.regret is not None for each in shares):
            found[f"regret-{title}"] = _chart(metric, shares)
    return found


def write(run: Run, regrets: Sequence[Share]) -> list[Path]:
    """Draw them; returns the files written."""
    written = []
    for name, chart in charts(regrets).items():
        path = run.named_figure(name)
        write_text(path, drawing.svg(chart))
        written.append(path)
    return written


def _chart(metric: str, shares: Sequence[Share]) -> Chart:
    levels = dict.fromkeys(map(complexity, shares))
    services = dict.fromkeys(each.cell.service for each in shares)
    return Chart(
        title=f"What choosing costs: share of the best fixed strategy, {_TITLES[metric]}",
        caption=f"{_OVER[metric]}: 1 is as good as if the best were known beforehand, below "
        f"{1 - TOLERANCE} is beyond the tolerance. The best is chosen by hindsight among these "
        "runs. Hollow points are to be doubted.",
        x_label="Concurrent users",
        x_ticks=tuple(sorted({each.cell.users for each in shares})),
        log_y=False,
        panels=tuple(
            Panel(
                METRIC,
                service.capitalize(),
                tuple(
                    _line(level, colour, [s for s in shares if s.cell.service == service])
                    for colour, level in enumerate(levels)
                ),
            )
            for service in services
        ),
    )


def _line(level: str, colour: int, shares: Sequence[Share]) -> Line:
    own = sorted((s for s in shares if complexity(s) == level), key=lambda s: s.cell.users)
    return Line(level, colour, tuple(map(_point, own)))


def _point(share: Share) -> Point:
    ratio = share.comparison.ratio
    ends = (ratio.low, ratio.high) if ratio else None
    estimate = share.comparison.estimate
    return Point(share.cell.users, estimate, ends, share.doubtful, share.cell.id)
