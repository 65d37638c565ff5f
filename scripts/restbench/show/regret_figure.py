"""The share of the best fixed strategy as figures: a panel a service, a place a complexity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench.experiment.cell import users_text
from restbench.judge.regret import TOLERANCE, Share
from restbench.observe.decisions import STRATEGY as CHOOSING
from restbench.show import drawing
from restbench.show.chart import Chart, Line, Panel, Point
from restbench.store.store import Run
from restbench.store.writing import write_text

METRIC = "share_of_best"
#: Above this ratio of the largest to the smallest share the axis is logarithmic.
_LOG_FROM = 4
#: The part of a complexity's place that its points take.
_ROOM = 0.7
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
    levels = tuple(dict.fromkeys(each.complexity for each in shares))
    users = sorted({each.cell.users for each in shares})
    services = dict.fromkeys(each.cell.service for each in shares)
    return Chart(
        title=f"What choosing costs: share of the best fixed strategy, {_TITLES[metric]}",
        caption=f"{_OVER[metric]}: 1 is as good as if the best were known beforehand, below "
        f"{1 - TOLERANCE} is beyond the tolerance. The best is chosen by hindsight among these "
        "runs. Hollow points have warnings.",
        x_label="Complexity",
        x_ticks=tuple(range(1, len(levels) + 1)),
        x_names=levels,
        log_y=_reaches_far(shares),
        panels=tuple(
            Panel(
                METRIC,
                service.capitalize(),
                tuple(
                    _line(levels, users, number, [s for s in shares if s.cell.service == service])
                    for number in range(len(users))
                ),
            )
            for service in services
        ),
    )


def _reaches_far(shares: Sequence[Share]) -> bool:
    """Whether the small ones would lie on the axis of zero beside the large ones."""
    estimates = [each.comparison.estimate for each in shares if each.comparison.estimate]
    return max(estimates) > _LOG_FROM * min(estimates)


def _line(
    levels: Sequence[str], users: Sequence[int], number: int, shares: Sequence[Share]
) -> Line:
    """The shares with so many users, beside those with others at the same complexity."""
    aside = _ROOM * ((number + 0.5) / len(users) - 0.5)
    own = {each.complexity: each for each in shares if each.cell.users == users[number]}
    points = (_point(at + aside, own[level]) for at, level in enumerate(levels, 1) if level in own)
    return Line(users_text(users[number]), number, tuple(points))


def _point(x: float, share: Share) -> Point:
    ratio = share.comparison.ratio
    ends = (ratio.low, ratio.high) if ratio else None
    return Point(x, share.comparison.estimate, ends, share.warned, share.cell.id)
