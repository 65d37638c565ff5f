"""A factorial design, 2^k·r or 2^(k-p)·r: its table in an experiment file, its cells and columns.

A letter is a factor (A, B, ... in the order of the file), a *word* a product of factors ("ABD"), ""
the mean. Letters stand for bits, so a product of words is XOR. Source: Jain, The Art of Computer
Systems Performance Analysis, chapters 17 to 19; Box, Hunter and Hunter, Statistics for
Experimenters, chapter 6.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from restbench.experiment.claim_file import Metric
from restbench.experiment.columns import METRICS
from restbench.experiment.selection import OfCores, Strict

Level: TypeAlias = bool | int | float | str

#: Without I, which is the identity of a defining relation.
LETTERS = "ABCDEFGHJKLMNOP"
#: More cells could not be measured within an hour: a cell takes a second or more in each block.
CELLS_AT_MOST = 256
#: How many effects of a sum are named; the others are only counted.
ALIASES_SHOWN = 4


@dataclass(frozen=True)
class Column:
    """A column of the sign table: the effects that are estimated by it, as one sum."""

    words: tuple[str, ...]
    """The shortest first; more than one only in a 2^(k-p) design."""
    signs: tuple[int, ...]
    """+1 or -1 for each cell in Yates order."""


def _single(value: Any) -> Any:
    """A level as the file has it. Without this, the error of a value of no kind of level would name
    the first kind alone."""
    is_level = isinstance(value, bool | int | float | str)
    if not is_level or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("a level is one finite number, a text, true or false")
    return value


GivenLevel = Annotated[Level, OfCores, BeforeValidator(_single)]


class Design(Strict):
    """The table `[factorial]` of an experiment file."""

    design: Literal["2^k r", "2^(k-p) r"]
    factors: dict[str, tuple[GivenLevel, ...]]
    """Two levels each, low first. `cell_group.corner` checks that cells have such a factor."""
    generators: tuple[str, ...] = ()
    fixed: dict[str, GivenLevel] = Field(default_factory=dict)
    """The level of every other factor, the same in all cells."""
    response: str = "throughput_per_s"
    """The response variable: a column of a trial."""
    model: Literal["auto", "additive", "multiplicative"] = "auto"
    blocks: bool = True
    """Whether the differences between blocks are taken out of the error (Jain does not)."""

    @field_validator("factors")
    @classmethod
    def _two_levels_each(
        cls, factors: dict[str, tuple[Level, ...]]
    ) -> dict[str, tuple[Level, ...]]:
        if not 2 <= len(factors) <= len(LETTERS):
            raise ValueError(f"2 to {len(LETTERS)} factors are allowed, there are {len(factors)}")
        for name, levels in factors.items():
            if len(set(levels)) != 2 or len(levels) != 2:
                raise ValueError(f"{name}: two different levels are needed, low first: [low, high]")
        return factors

    @field_validator("response")
    @classmethod
    def _is_a_column(cls, response: str) -> str:
        allowed = dict.fromkeys((*METRICS, *get_args(Metric)))
        if response not in allowed:
            raise ValueError(
                f"'{response}' is no column of a trial; allowed are {', '.join(allowed)}"
            )
        return response

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if twice := [name for name in self.fixed if name in self.factors]:
            raise ValueError(f"fixed.{twice[0]}: is one of the factors; allowed are all others")
        if (self.design == "2^k r") == bool(self.generators):
            raise ValueError(
                'generators: need design = "2^(k-p) r"'
                if self.generators
                else 'generators: design = "2^(k-p) r" needs one or more, such as ["D=ABC"]'
            )
        self._check_generators()
        if self.cell_count > CELLS_AT_MOST:
            raise ValueError(
                f"factors: they make {self.cell_count} cells, at most {CELLS_AT_MOST} are allowed; "
                'design = "2^(k-p) r" with generators needs fewer'
            )
        for one, other in itertools.combinations(self.letters, 2):
            if self._column_of(one) == self._column_of(other):
                raise ValueError(
                    f"generators: `{self.named(one)}` and `{self.named(other)}` share a column "
                    f"({one} = {other}): they could not be distinguished; choose other words"
                )
        return self

    def _check_generators(self) -> None:
        left = [each[:1] for each in self.generators]
        base = [letter for letter in self.letters if letter not in left]
        for generator, letter in zip(self.generators, left, strict=True):
            parts = re.fullmatch("([A-Z]) *= *([A-Z]+)", generator)
            right = parts[2] if parts else ""
            if letter not in self.letters or not right or len(set(right)) < len(right):
                allowed = f"a letter of {self.letters} = a product of others, such as D=ABC"
            elif not set(right) <= set(base):
                allowed = f"right of = only letters without a generator may stand: {''.join(base)}"
            elif left.count(letter) > 1:
                allowed = "one generator per letter"
            else:
                continue
            raise ValueError(f"generators: '{generator}': {allowed}")

    @property
    def letters(self) -> str:
        """One letter for each factor, in the order of the file."""
        return LETTERS[: len(self.factors)]

    @property
    def cell_count(self) -> int:
        """n = 2^(k-p)."""
        return 1 << (len(self.factors) - len(self.generators))

    @property
    def resolution(self) -> int | None:
        """The length of the shortest word of the defining relation; None for a full design."""
        return min(map(len, self.defining_relation), default=None)

    @property
    def defining_relation(self) -> tuple[str, ...]:
        """The words that equal I, the shortest first, I itself left out: 2^p - 1 of them."""
        return tuple(self._words_of_columns()[0][1:])

    def columns(self) -> tuple[Column, ...]:
        """The sign table without the mean: n - 1 columns (A, B, AB, C, ...) of n signs."""
        cells = range(self.cell_count)
        return tuple(
            Column(tuple(words), tuple(_sign(number, cell) for cell in cells))
            for number, words in enumerate(self._words_of_columns())
            if number
        )

    def cells(self) -> list[dict[str, Level]]:
        """Factor -> level of every cell, the fixed ones too, in Yates order: A changes fastest."""
        return [
            self.fixed
            | {
                name: levels[_sign(self._column_of(letter), cell) > 0]
                for letter, (name, levels) in zip(self.letters, self.factors.items(), strict=True)
            }
            for cell in range(self.cell_count)
        ]

    def named(self, word: str) -> str:
        """A word in the factors' names: "AB" is "instances × pool_threads"."""
        names = dict(zip(self.letters, self.factors, strict=True))
        return " × ".join(names[letter] for letter in word) or "I"

    def sum_named(self, column: Column) -> str:
        """What a column estimates, in the factors' names: all effects of the sum, the later ones as
        a number."""
        names = [self.named(word) for word in column.words]
        more = len(names) - ALIASES_SHOWN
        return " + ".join(names[:ALIASES_SHOWN]) + (f" + {more} more" if more > 0 else "")

    def cell_named(self, cell: int) -> str:
        """A cell by the levels of its factors: "instances 1, pool_threads 20"."""
        levels = self.cells()[cell]
        return ", ".join(f"{name} {levels[name]}" for name in self.factors)

    def plan(self) -> list[str]:
        """The lines printed before a run: factors, defining relation, aliases; then warnings."""
        lines = [f"{self.design}: {len(self.factors)} factors, {self.cell_count} cells a block"]
        by = {each[0]: f", by {each}" for each in self.generators}
        for letter, (name, (low, high)) in zip(self.letters, self.factors.items(), strict=True):
            lines.append(f"{letter} {name}: {low} → {high}{by.get(letter, '')}")
        if self.generators:
            relation = " = ".join(map(self.named, self.defining_relation))
            lines.append(f"I = {relation} (resolution {self.resolution})")
            lines += [f"estimated together: {self.sum_named(each)}" for each in self.columns()]
        return lines + self.warnings()

    def warnings(self) -> list[str]:
        """Below resolution IV, for each factor: its confounded two-factor interactions."""
        warned = []
        for words in self._words_of_columns()[1:]:
            pairs = [self.named(word) for word in words if len(word) == 2]
            if len(words[0]) == 1 and pairs:
                mixed = " or ".join(pairs)
                name = self.named(words[0])
                warned.append(f"warning: `{name}` cannot be distinguished from {mixed}")
        return warned

    def _words_of_columns(self) -> list[list[str]]:
        """For each column 0 (the mean) ... n - 1 its words: 2^p each, by length, then alphabet."""
        found: list[list[str]] = [[] for _ in range(self.cell_count)]
        columns = {letter: self._column_of(letter) for letter in self.letters}
        for length in range(len(self.letters) + 1):
            for letters in itertools.combinations(self.letters, length):
                column = 0
                for letter in letters:
                    column ^= columns[letter]
                found[column].append("".join(letters))
        return found

    def _column_of(self, letter: str) -> int:
        """A factor's column as bits of the base factors; one bit for a base factor itself."""
        words = {each[0]: each[1:].strip(" =") for each in self.generators}
        base = [each for each in self.letters if each not in words]
        return sum(1 << base.index(each) for each in words.get(letter, letter))


def _sign(column: int, cell: int) -> int:
    """The product of the signs of the column's base factors; a 1 bit in `cell` is a high level."""
    return -1 if (column & ~cell).bit_count() % 2 else 1
