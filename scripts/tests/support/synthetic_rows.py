"""Rows as `measures` makes them, from throughputs that a test states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fixture_run import cell

from restbench.analyse.measures import Measurement, Row
from restbench.experiment.cell import Shape

SHAPE = Shape(rows=30, inner=20, columns=20)


def row(
    text: str, throughputs: Sequence[float | None] = (), flags: Sequence[str] = (), **others: Any
) -> Row:
    """A row of `cell(text)` with a block a throughput; `others` are metrics, a list each."""
    measurements = tuple(
        Measurement(
            block=block,
            flags=tuple(flags),
            seconds=1.0,
            throughput_per_s=value,
            **{metric: values[block - 1] for metric, values in others.items()},
        )
        for block, value in enumerate(throughputs, start=1)
    )
    return Row(cell(text), SHAPE, (), measurements)


def with_facts(of: Row, **facts: Any) -> Row:
    """The row with these facts of its blocks: one value for all, or a list."""
    blocks = [
        each.model_copy(update={k: v[n] if isinstance(v, list) else v for k, v in facts.items()})
        for n, each in enumerate(of.measurements)
    ]
    return replace(of, measurements=tuple(blocks))


def around(center: float, spread: float = 0.01, blocks: int = 5) -> list[float]:
    """Values whose relative distances from the centre are multiples of `spread`, out of step with
    any other centre's, so that ratios keep a spread."""
    steps = [-1.0, 0.5, 1.0, -0.5, 0.0, 0.25, -0.75][:blocks]
    turn = int(center) % len(steps)
    return [center * (1 + spread * step) for step in steps[turn:] + steps[:turn]]
