"""What a microbenchmark says, in words: the same on a terminal, in Markdown and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.experiment.columns import readable
from restbench.experiment.statistics import t_interval
from restbench.store.microbench_records import BreakEven, Microbench, Score, Verdict

BREAK_EVEN_HEAD = ("Service", "Strategy", "Kernel", "Beats serial", "Operations", "Computes faster")
SCORE_HEAD = ("Service", "Part", "Kernel", "Strategy", "Of", "µs")
VERDICTS: dict[Verdict, str] = {"never": "never", "unclear": "undecided", "from": "from"}
READING = (
    "From how many rows of 50 elements (times 50 x 20) on, and so from how many operations, a "
    "strategy is faster than doing everything in order, for one request on an idle service. Made "
    "of what an empty loop takes under each and what an operation takes; in brackets what the 95 % "
    "intervals leave open. Under load the cores are busy with other requests: the size is then "
    "larger, or there is none."
)


def break_even_lines(found: Sequence[BreakEven]) -> list[list[str]]:
    """A line each, under BREAK_EVEN_HEAD."""
    return [
        [
            each.service,
            each.strategy,
            each.kernel,
            beats_serial(each),
            "" if each.operations is None else f"{each.operations:,.0f}",
            _faster(each),
        ]
        for each in found
    ]


def _faster(found: BreakEven) -> str:
    """`1.93 [1.80, 2.00]`; nothing where there is no ratio."""
    if found.faster is None:
        return ""
    ends = f"[{readable(found.faster_low)}, {readable(found.faster_high)}]"
    return f"{readable(found.faster)} {ends}"


def beats_serial(found: BreakEven) -> str:
    """`from 45 rows [31, 80]`, or `never: to hand a row out costs more than it saves`."""
    if found.rows is None:
        return f"{VERDICTS[found.verdict]}: {found.why}"
    high = "never" if found.rows_high is None else f"{found.rows_high:,.0f}"
    return f"from {found.rows:,.0f} rows [{found.rows_low or 1:,.0f}, {high}]"


def score_lines(scores: Sequence[Score]) -> list[list[str]]:
    """A line each, under SCORE_HEAD."""
    return [
        [each.service, each.part, each.kernel or "", each.strategy or "", _of(each), _time(each)]
        for each in scores
    ]


def _of(score: Score) -> str:
    return score.shape or f"{score.rows} rows, empty"


def _time(score: Score) -> str:
    interval = t_interval(score.runs_us)
    return f"{readable(interval.mean)} ± {readable(interval.half_width)}"


def made_of(made: Microbench) -> str:
    """Where the numbers come from, in a sentence."""
    processes = max(len(each.runs_us) for each in made.scores)
    return (
        f"Profile {made.profile}, {processes} processes a part (JMH, pyperf), made {made.made} "
        f"by commit {made.git_commit[:12]} on {made.described}; {_surroundings(made)}."
    )


def _surroundings(made: Microbench) -> str:
    """What others did on the machine meanwhile."""
    if made.foreign_pct is None:
        return "what others used of the machine is not known"
    busy = made.foreign_pct > FOREIGN_LIMIT_PCT
    doubt = ", too much for these numbers to be believed" if busy else ""
    return f"others used up to {made.foreign_pct:.0f} % of the machine{doubt}"
