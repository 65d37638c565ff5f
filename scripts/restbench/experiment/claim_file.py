"""Claims as data, fixed before a run (TOML): the ratios that decide each claim, and what is
expected of these ratios."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from restbench.experiment import toml_file
from restbench.experiment.cell import FACTORS, Cell, ServiceName, require
from restbench.experiment.selection import Above0, Strict, Where
from restbench.failures import BadConfiguration

Expectation = Literal["greater", "less", "same", "not greater", "not less", "equal"]
Metric = Literal[
    "throughput_per_s",
    "mean_ms",
    "p95_ms",
    "cpu_ms_per_request",
    "wrk_per_s",
    # Of NAS kernels (schedule.npb):
    "fresh_s",
    "warm_s",
    "warm_total_s",
    "service_s",
    "service_total_s",
    "client_s",
    "java_rest_s",
    "java_soap_s",
    "python_rest_s",
    "python_soap_s",
    "clients_same",
    "clients_asked",
    # Of batches of calls (schedule.calls):
    "elapsed_s",
    "cores_elapsed_s",
    "decode_s",
    # Of messages (drive.messages):
    "littles_mean_ms",
    "ten_mean_ms",
    "database_ms",
    "send_half_ms",
    "pop_half_ms",
    "send_database_ms",
    "pop_database_ms",
    "send_database_points",
    "pop_database_points",
    "send_network_points",
    "pop_network_points",
]
Margin = Annotated[float, Field(gt=0, le=1)]


def _one_each(where: Where) -> Where:
    if any(len(levels) > 1 for levels in where.model_dump(exclude_none=True).values()):
        raise ValueError(
            "must name one level of each factor; several levels are allowed only in "
            "`each` and in a `best` key"
        )
    return where


#: One level for each factor that is named; the levels of the other factors are given elsewhere.
Levels = Annotated[Where, AfterValidator(_one_each)]


@dataclass(frozen=True)
class Term:
    """One side of a ratio: the metric of a cell, less that of another cell (`minus`) or divided by
    it (`per`). Of several candidates the best one is taken; with `left_out`, in each block the one
    that is best in all other blocks."""

    candidates: tuple[Cell, ...]
    minus: Cell | None = None
    per: Cell | None = None
    left_out: bool = False

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell that the term needs."""
        return tuple(each for each in (*self.candidates, self.minus, self.per) if each)


@dataclass(frozen=True)
class Question:
    """One ratio that a part asks for."""

    numerator: Term
    denominator: Term


class Part(Strict):
    """One sentence of a claim: what is expected of the ratio numerator/denominator.

    It asks one question for each combination of `each`, and for each of `steps` against the step
    before. A cell's factors are those of `cells`, then of the combination, then of the side.
    """

    metric: Metric
    over: Metric | None = None
    """The metric of the denominator, where it is another one."""
    kind: str = ""
    """The kind of request whose metric is meant, on both sides; empty: all requests. In a mix only
    these requests count; a level with this name has no others."""
    expect: Expectation
    """`same`, `not greater` and `not less` hold only where the whole interval agrees, up to the
    margin; `equal` holds where both sides are the same number in every block, without a margin."""
    cells: Levels = Where()
    """What both sides have in common."""
    numerator: Levels = Where()
    denominator: Levels = Where()
    each: Where = Where()
    steps: Where = Where()
    """One factor with its levels in order: the numerator is a level, the denominator the one
    before it."""
    numerator_best: Where = Where()
    """The levels of the numerator's candidates, of which the best one is taken."""
    denominator_best: Where = Where()
    left_out: bool = False
    """Whether the best candidate of each block is picked by the values of all other blocks."""
    minus: Levels | None = None
    """The levels in which the cell whose metric is subtracted differs from a side's own cell."""
    per: Levels | None = None
    """The levels in which the cell whose metric is the divisor differs from a side's own cell."""
    numerator_per: Levels | None = None
    denominator_per: Levels | None = None
    """`per` of one side alone."""
    margin: Margin | None = None
    """A margin of its own, where the claim says more than that there is a difference."""
    study_value: Above0 | None = None
    """The ratio in the study, where it is published as a number."""
    study_values: dict[str, Above0] = Field(default_factory=dict)
    """The study's ratio by level of complexity, for a part that has several levels."""
    pooled: bool = False
    """Whether the part is about any cell like these: what is tested is the geometric mean over all
    pooled questions of the claim, with the interval for another cell. A single question cannot
    confirm the claim, only contradict it."""
    decides: bool = True
    """False: the part is shown next to the claim, but does not decide it."""

    @model_validator(mode="after")
    def _names_cells(self) -> Self:
        if self.minus and self.per:
            raise ValueError("minus and per exclude each other")
        if self.pooled and self.expect == "equal":
            raise ValueError("pooled: is not possible with expect = 'equal'")
        self.questions()
        return self

    def questions(self) -> list[Question]:
        """The ratios that the part asks for, with every level of their cells."""
        above = (self.numerator, self.numerator_best, self.numerator_per or self.per)
        below = (self.denominator, self.denominator_best, self.denominator_per or self.per)
        return [
            Question(
                self._term(combination | later, *above), self._term(combination | earlier, *below)
            )
            for combination in _combinations(self.each)
            for earlier, later in _steps(self.steps)
        ]

    def _term(self, levels: dict[str, Any], side: Where, best: Where, per: Where | None) -> Term:
        known = _one(self.cells) | levels | _one(side)
        candidates = tuple(_cell(known | each) for each in _combinations(best))
        if len(candidates) > 1 and (self.minus or per):
            raise ValueError("the best of several cannot go with minus or per")
        return Term(
            candidates,
            minus=_cell(known | _one(self.minus)) if self.minus else None,
            per=_cell(known | _one(per)) if per else None,
            left_out=self.left_out,
        )


class Claim(Strict):
    """A row of the claims table. Its parts, the proofs, or another experiment decide it."""

    id: str
    text: str
    reading: str
    """How the claim is tested, in plain words, and what the study's words leave open."""
    parts: tuple[Part, ...] = ()
    proofs: dict[ServiceName, list[str]] = Field(default_factory=dict)
    """By service: the strategies whose proofs decide the claim, instead of parts."""
    experiment: str | None = None
    """The experiment whose claims decide this one."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell that a part names, each once."""
        sides = [
            side
            for part in self.parts
            for question in part.questions()
            for side in (question.numerator, question.denominator)
        ]
        return tuple(dict.fromkeys(cell for side in sides for cell in side.cells))

    @model_validator(mode="after")
    def _is_decided_one_way(self) -> Self:
        if sum(map(bool, (self.parts, self.proofs, self.experiment))) != 1:
            raise ValueError("needs exactly one of parts, proofs, experiment")
        if self.parts and not any(part.decides for part in self.parts):
            raise ValueError("needs a part that decides")
        for service, strategies in self.proofs.items():
            require("strategy", strategies, service)
        return self


def _one(levels: Where) -> dict[str, Any]:
    return _combinations(levels)[0]


def _combinations(where: Where) -> list[dict[str, Any]]:
    """Every combination of the levels. Equal levels count once: on some machines two expressions
    of cores are the same number."""
    given = where.model_dump(exclude_none=True)
    levels = {name: dict.fromkeys(given[name]) for name in FACTORS if name in given}
    return [
        dict(zip(levels, chosen, strict=True)) for chosen in itertools.product(*levels.values())
    ]


def _steps(where: Where) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    if not where.model_dump(exclude_none=True):
        return [({}, {})]
    levels = _combinations(where)
    if len(where.model_fields_set) != 1 or len(levels) < 2:
        raise ValueError("steps: needs one factor with two or more levels")
    return list(itertools.pairwise(levels))


def _cell(levels: dict[str, Any]) -> Cell:
    for factor in FACTORS:
        field = Cell.model_fields[factor]
        if field.is_required() and factor not in levels:
            raise ValueError(f"a side names no {factor}, but must be one cell")
    for factor in ("strategy", "framework"):
        require(factor, [levels[factor]] if factor in levels else (), levels["service"])
    return Cell(**levels)


class Claims(Strict):
    """The whole file."""

    title: str
    margin: Margin
    claims: Annotated[tuple[Claim, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [claim.id for claim in self.claims]
        for each in ids:
            if ids.count(each) > 1:
                raise ValueError(f"id '{each}' appears twice")
        return self


def load(path: Path, cores_allowed: Sequence[int] | None = None) -> Claims:
    """Read a claims file; `cores_allowed` as in `toml_file.parse`. Raises BadConfiguration, which
    names the file, the claim and the key."""
    return toml_file.parse(toml_file.content(path), Claims, path, cores_allowed)


def check_complexities(claims: Claims, defined: Collection[str], source: str) -> None:
    """Raises BadConfiguration where a claim names a complexity that the experiment does not define.
    Without this check it would just be "not measured" in every run."""
    for claim in claims.claims:
        for cell in claim.cells:
            if cell.complexity not in defined:
                raise BadConfiguration(
                    f"{source}: claims.{claim.id}: complexity: '{cell.complexity}' is not one of "
                    f"the experiment's: {', '.join(defined)}"
                )
