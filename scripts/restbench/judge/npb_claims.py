"""The claim on web-service execution, held against a run: ratios of two times of the same cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from restbench.analyse.comparison import paired
from restbench.analyse.npb_results import COLUMNS, NpbRow
from restbench.experiment import toml_file
from restbench.experiment.cell import Cell
from restbench.experiment.claim import Expectation, Margin
from restbench.experiment.npb_published import Published
from restbench.experiment.selection import Strict, Where
from restbench.judge.claim_parts import Asked, PartDecision, judge_together
from restbench.judge.claims import Decision, sum_up


class NpbClaim(Strict):
    """A claim: what is expected of the ratio of two columns, for every kernel and class."""

    id: str
    text: str
    reading: str
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


class Expected(Strict):
    """What a claim says of one cell's ratio."""

    metric: str = "kernel_s"
    expect: Expectation
    study_value: float | None


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
    parts, others = (_parts(claim, chosen, published, margin) for chosen in (deciding, beside))
    marks = {row.cell.id: ", ".join(row.flags) for row in deciding if row.rounds and row.flags}
    return sum_up(claim, parts, others, marks)


def _parts(
    claim: NpbClaim, rows: Sequence[NpbRow], published: Published, margin: float
) -> list[PartDecision]:
    return judge_together([_ask(claim, row, published, margin) for row in rows])


def _ask(claim: NpbClaim, row: NpbRow, published: Published, margin: float) -> Asked:
    known = published.row(row.work.level) if claim.published else None
    one, two = claim.numerator.removesuffix("_s"), claim.denominator.removesuffix("_s")
    name = f"{row.cell.key} {row.work.level}"
    return Asked(
        part=Expected(expect=claim.expect, study_value=known.ratio if known else None),
        label=f"{name} {one} / {two}".replace("_", " "),
        cells=(row.cell.id,),
        comparison=paired(row.series(claim.numerator), row.series(claim.denominator), margin),
        limited="",
    )
