"""What a microbenchmark says: the same on a terminal, in Markdown and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.experiment.records import BreakEven, Microbench
from restbench.show import wording
from restbench.show.document import Column, number

READING = (
    "The table shows from how many rows of 50 elements (times 50 x 20) on, and so from how many "
    "operations, a strategy is faster than doing everything in order. It holds for one request on "
    "an idle service. The sizes are computed from the time of an empty loop under each strategy "
    "and the time of an operation. Brackets show the range that the 95 % intervals leave open. "
    "Under load the cores are busy with other requests: the size is then larger, or there is none."
)


def beats_serial(found: BreakEven) -> str:
    """`from 45 rows [31, 80]`, or `never: to hand a row out costs more than it saves`."""
    if found.rows is None:
        verdict = "never" if found.verdict == "never" else "undecided"
        return f"{verdict}: {found.why}"
    high = "never" if found.rows_high is None else f"{found.rows_high:,.0f}"
    return f"from {found.rows:,.0f} rows [{found.rows_low or 1:,.0f}, {high}]"


def made_of(made: Microbench) -> str:
    """Where the numbers come from, in a sentence."""
    processes = max(len(each.runs_us) for each in made.scores)
    return (
        f"Profile {made.profile}, {processes} processes per part (JMH, pyperf), made {made.made} "
        f"with commit {made.git_commit[:12]} on {made.described}; {_surroundings(made)}."
    )


def _surroundings(made: Microbench) -> str:
    """The CPU use of other processes during the microbenchmark, in words."""
    if made.foreign_pct is None:
        return "the CPU use of other processes is not known"
    busy = made.foreign_pct > FOREIGN_LIMIT_PCT
    caveat = ", too much for reliable numbers" if busy else ""
    return f"other processes used up to {made.foreign_pct:.0f} % of the machine{caveat}"


BREAK_EVENS: Sequence[Column[BreakEven]] = (
    Column("Service", lambda each: each.service),
    Column("Strategy", lambda each: each.strategy),
    Column("Kernel", lambda each: each.kernel),
    Column("Beats serial", beats_serial),
    number("Operations", lambda each: "" if each.operations is None else f"{each.operations:,.0f}"),
    number(
        "Compute speed-up",
        lambda each: wording.with_ends(each.faster, each.faster_low, each.faster_high),
    ),
)
