"""Was a claim's ratio caused by the load generator? (method, rules 4 and 7)

A generator that costs as much CPU time as the service halves every difference in throughput, and
more so where requests are small. So a verdict on throughput is `not-measurable` where the generator
has a share g > 20 % in one of its cells, and with X / (1 - g) in place of X the ratio differs by
more than the margin AND the verdict is another one. A verdict that both give stands: S/AF = 1.25 at
low is 1.42 without the generator, greater either way. Where the generator has cores of its own,
X / (1 - g) overstates the service; as the verdict must hold for both, this can withhold verdicts,
but not produce any.

A verdict across numbers of users is `not-measurable` where the users in flight (throughput times
response time) differ by less than half of what was asked for, on a logarithmic scale: 10 and 60
users of whom 6.5 and 8.8 wait for the service are no sixfold load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from restbench.analyse.comparison import Comparison
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.claim_file import Expectation
from restbench.judge import verdicts
from restbench.judge.verdicts import ratio_text, verdict_text

#: A generator with a smaller share of the CPU time moves a ratio of 1.25 to 1.20 at most.
SHARE = 0.2
#: The least part of ln(ratio of the numbers of users) that the users in flight must show.
DELIVERED = 0.5
#: Metrics without a guard. Few calls in flight are right for the times of batches: a pipeline of
#: four threads has one, and a team of threads decodes one document.
UNGUARDED = ("cpu_ms_per_request", "elapsed_s", "cores_elapsed_s", "decode_s")

Ask = Callable[[Mapping[Cell, Row]], Comparison]


def unmeasurable(
    metric: str, expect: Expectation, cells: Sequence[Cell], rows: Mapping[Cell, Row], ask: Ask
) -> str:
    """Why something other than these cells caused their ratio; empty where nothing did, or where
    the ratio decides nothing. `ask` computes the ratio from rows."""
    is_decided = verdicts.verdict(ask(rows), expect) in verdicts.DECIDED
    if metric in UNGUARDED or not is_decided:
        return ""
    missing = _undelivered([rows[cell] for cell in cells if cell in rows])
    return missing or by_generator(metric, expect, cells, rows, ask)


def by_generator(
    metric: str, expect: Expectation, cells: Sequence[Cell], rows: Mapping[Cell, Row], ask: Ask
) -> str:
    """Why the load generator caused the ratio; the rest as for `unmeasurable`."""
    known = [rows[cell] for cell in cells if cell in rows]
    share = largest_share(known)
    if metric != "throughput_per_s" or share <= SHARE:
        return ""
    found = ask(rows)
    verdict = verdicts.verdict(found, expect)
    if verdict not in verdicts.DECIDED:
        return ""
    freed = {
        row.cell: replace(row, measurements=tuple(map(_without_generator, row.measurements)))
        for row in known
    }
    alone = ask({**rows, **freed})
    other = verdicts.verdict(alone, expect)
    moved = abs(math.log((alone.estimate or 1.0) / (found.estimate or 1.0)))
    if moved <= math.log1p(found.margin) or other == verdict:
        return ""
    return (
        f"the load generator took up to {100 * share:.0f} % of the CPU time; without it the "
        f"ratio is {ratio_text(alone)}: {verdict_text(other)} (CPU time per request "
        "excludes the load generator)"
    )


def largest_share(rows: Iterable[Row]) -> float:
    """The largest share of the CPU time that the load generator took of one of the cells, 0 to 1,
    as a mean over blocks; 0 where none is known."""
    return max((_mean(row, "generator_share") or 0.0 for row in rows), default=0.0)


def _undelivered(rows: Sequence[Row]) -> str:
    """Why the users in flight differ less than was asked for; empty where they differ enough, or
    where that is not known."""
    few, many = (of([row.cell.users for row in rows], default=1) for of in (min, max))
    flying = {
        users: [_mean(row, "users_in_flight") for row in rows if row.cell.users == users]
        for users in (few, many)
    }
    known = {users: [each for each in found if each] for users, found in flying.items()}
    if few == many or not (known[few] and known[many]):
        return ""
    low, high = fmean(known[few]), fmean(known[many])
    if math.log(high / low) >= DELIVERED * math.log(many / few):
        return ""
    return f"on average {low:.1f} of {few} users and {high:.1f} of {many} users were in flight"


def _mean(row: Row, name: str) -> float | None:
    values = [getattr(each, name) for each in row.measured]
    known = [each for each in values if each is not None]
    return fmean(known) if known else None


def _without_generator(each: Measurement) -> Measurement:
    """The measurement with the throughput that the service would reach without the generator."""
    share = each.generator_share or 0.0
    if each.throughput_per_s is None or not 0 < share < 1:
        return each
    alone_per_s = {"throughput_per_s": each.throughput_per_s / (1 - share)}
    kinds = {
        name: of.model_copy(update={"throughput_per_s": of.throughput_per_s / (1 - share)})
        for name, of in each.kinds.items()
    }
    return each.model_copy(update=alone_per_s | {"kinds": kinds})
