"""The table of what choosing costs, as CSV."""

from __future__ import annotations

import csv
import io

from restbench.judge.regret import Choosing, Share

COLUMNS = (
    "service",
    "complexity",
    "kind",
    "users",
    "metric",
    "against",
    "best_fixed",
    "share",
    "share_low",
    "share_high",
    "regret",
    "verdict",
    "blocks",
    "warnings",
)
_DECIMALS = 4


def as_csv(found: Choosing) -> str:
    """A line a comparison: with the best fixed strategy (best_fixed is yes), and of each mix with
    every one. A share is above 1 where choosing is better, whatever the metric."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_record(each, "yes") for each in found.regrets)
    writer.writerows(_record(each, "") for each in found.duels)
    return text.getvalue()


def _record(share: Share, best: str) -> list[object]:
    ratio = share.comparison.ratio
    ends = (ratio.low, ratio.high) if ratio else (None, None)
    numbers = [share.comparison.estimate, *ends, share.regret]
    return [
        share.cell.service,
        share.cell.complexity,
        share.part,
        share.cell.users,
        share.metric,
        share.other.strategy if share.other else "",
        best,
        *("" if number is None else round(number, _DECIMALS) for number in numbers),
        share.verdict,
        share.comparison.blocks,
        "yes" if share.warned else "",
    ]
