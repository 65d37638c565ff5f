"""The claim on web-service execution, held against a run: ratios of two times of the same cell, its
verdicts, and what its ratio is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Self

from pydantic import Field, model_validator

from restbench.analyse.comparison import Comparison, paired
from restbench.analyse.npb_results import COLUMNS, NpbRow
from restbench.experiment import toml_file
from restbench.experiment.cell import Cell
from restbench.experiment.claim import Expectation, Margin, Statement
from restbench.experiment.npb_published import Published
from restbench.experiment.selection import Strict, Where
from restbench.experiment.statistics import geometric_mean
from restbench.judge.claims import Asked, Decision, sum_up, weigh
from restbench.judge.verdicts import ratio_text

#: What is shown of each cell, as numerator and denominator.
RATIOS: dict[str, tuple[str, str]] = {
    "service/fresh": ("service_s", "fresh_s"),
    "service/warm": ("service_s", "warm_s"),
    "client/warm": ("client_s", "warm_total_s"),
    "warm/fresh": ("warm_s", "fresh_s"),
}


class NpbClaim(Statement):
    """A claim: what is expected of the ratio of two columns, for every kernel and class."""

    numerator: str
    denominator: str
    expect: Expectation
    decides: Where
    """The cells of the profile that decide; all others are shown beside them."""
    published: bool = False
    """Whether the study has published this very ratio."""

    @model_validator(mode="after")
    def _columns_exist(self) -> Self:
        for name in (self.numerator, self.denominator):
            if name not in COLUMNS:
                raise ValueError(f"'{name}' is no column; there are {', '.join(COLUMNS)}")
        return self


class NpbClaims(Strict):
    """The whole file."""

    title: str
    margin: Margin
    claims: Annotated[tuple[NpbClaim, ...], Field(min_length=1)]


def load(path: Path) -> NpbClaims:
    """Read the file; BadConfiguration names it, the key and what is wrong with it."""
    return toml_file.read(path, NpbClaims)


def decide(
    claims: NpbClaims, rows: Sequence[NpbRow], published: Published, expected: Sequence[Cell]
) -> list[Decision]:
    """A decision for each claim, from the rows that were measured in the service as well.

    `expected` are the cells of the experiment's profile. Those that were to decide and are in no
    row were left out of the run: without them nothing is decided.
    """
    known = {row.cell for row in rows}
    absent = [NpbRow(cell, ()) for cell in expected if cell not in known]
    served, left_out = ([row for row in each if row.work.cores is None] for each in (rows, absent))
    return [_decide(claim, served, left_out, published, claims.margin) for claim in claims.claims]


def _decide(
    claim: NpbClaim,
    rows: Sequence[NpbRow],
    absent: Sequence[NpbRow],
    published: Published,
    margin: float,
) -> Decision:
    deciding = [row for row in (*rows, *absent) if claim.decides.matches(row.cell)]
    beside = [row for row in rows if not claim.decides.matches(row.cell)]
    parts, others = (
        weigh([_ask(claim, row, published, margin) for row in chosen])
        for chosen in (deciding, beside)
    )
    warned = {row.cell.id: ", ".join(row.flags) for row in deciding if row.rounds and row.flags}
    return sum_up(claim, parts, others, warned)


def _ask(claim: NpbClaim, row: NpbRow, published: Published, margin: float) -> Asked:
    known = published.row(row.work.level) if claim.published else None
    sides = (claim.numerator, claim.denominator)
    names = " / ".join(each.removesuffix("_s").replace("_", " ") for each in sides)
    return Asked(
        f"{row.cell.service} {row.cell.key} {row.work.level} {names}",
        "kernel_s",
        claim.expect,
        (row.cell.id,),
        paired(row.series(claim.numerator), row.series(claim.denominator), margin),
        known.ratio if known else None,
    )


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
