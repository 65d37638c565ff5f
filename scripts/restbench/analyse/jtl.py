"""What came of a load, from JMeter's sample log (JTL), which is read a piece at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from restbench.analyse.samples import counted_columns, ends_in
from restbench.experiment.records import Window
from restbench.failures import BadConfiguration


@dataclass(frozen=True)
class Completions:
    """Of the samples that ENDED in a window: how many had each outcome that occurred."""

    outcomes: Counter[str]
    wrong_in_load: int
    """Wrong answers of the whole file, warm-up included: one of them is enough (rule 5)."""

    def count(self, outcome: str) -> int:
        """How many completions in the window had this outcome."""
        return self.outcomes[outcome]


def read(path: Path, window: Window) -> Completions:
    """BadConfiguration where the file is missing, is no JTL or lacks a column."""
    inside: Counter[str] = Counter()
    wrong = 0
    for samples in counted_columns(path):
        inside.update(samples.filter(ends_in(window))["outcome"].cast(pl.String))
        wrong += _wrong(samples)
    return Completions(inside, wrong)


def wrong_answers(path: Path) -> int:
    """How many answers of a load were wrong, however it ended; 0 where nothing is readable."""
    try:
        return sum(map(_wrong, counted_columns(path)))
    except BadConfiguration:
        return 0


def _wrong(samples: pl.DataFrame) -> int:
    return int((samples["outcome"] == "wrong-answer").sum())
