"""The tables of what choosing costs: Markdown for people, CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from restbench.judge import regret
from restbench.judge.regret import Choosing, Share
from restbench.show import markdown
from restbench.store.store import Run
from restbench.store.writing import write_text

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


def write(run: Run, found: Choosing) -> None:
    """Write regret.csv and regret.md."""
    write_text(run.regret_csv, as_csv(found))
    write_text(run.regret_markdown, document(run.manifest().title, found))


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


def document(title: str, found: Choosing) -> str:
    """The same as a page: in short, then each cell."""
    parts = [f"# {title}", "\n".join(f"- {each}" for each in found.summary())]
    parts += [
        "## Each cell against its best fixed strategy",
        _table(regret.HEAD, [each.line for each in found.regrets]),
    ]
    if found.duels:
        parts += ["## Each mix against every fixed strategy"]
        parts += [_table(regret.HEAD, [each.line for each in found.duels])]
    if found.slowdowns:
        parts += ["## Do small requests wait for huge ones?"]
        lines = found.slowdown_lines
        parts += [_table(regret.SLOWDOWN_HEAD, lines)]
    return "\n\n".join([*parts, HOW_TO_READ]) + "\n"


#: Beneath every such table.
HOW_TO_READ = (
    "A share is above 1 where choosing is better, whatever the metric: of throughput it is the "
    "choosing strategy's over the other's, of latency the other's over the choosing one's. Regret "
    "is 1 less the share. The best fixed strategy is the one that these runs show as the best, so "
    "among several alike the one that luck favoured: regret is rather shown too large. Intervals "
    "are of the ratio paired by block; with one block there are none."
)


def _table(head: Sequence[str], lines: list[list[str]]) -> str:
    return markdown.table(list(head), ["---"] * len(head), lines)
