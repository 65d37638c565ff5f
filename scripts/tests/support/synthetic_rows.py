"""Rows as `measures` makes them, from throughputs that a test states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fixture_run import cell

from restbench.analyse.measurement import KindMeasurement, Measurement
from restbench.analyse.measures import Row
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


def with_kinds(of: Row, **p95_ms: Sequence[float]) -> Row:
    """The row as one of a mix, with the p95 of each kind of request in each block."""
    usual = {"completions": 1_000, "throughput_per_s": 1.0, "mean_ms": 1.0, "p50_ms": 1.0}
    kinds = [
        {
            name: KindMeasurement.model_validate(usual | {"p95_ms": values[n]})
            for name, values in p95_ms.items()
        }
        for n in range(len(of.measurements))
    ]
    return replace(with_facts(of, kinds=kinds), shape=None)


def around(center: float, spread: float = 0.01, blocks: int = 5) -> list[float]:
    """Values whose relative distances from the centre are multiples of `spread`, out of step with
    any other centre's, so that ratios keep a spread."""
    steps = [-1.0, 0.5, 1.0, -0.5, 0.0, 0.25, -0.75][:blocks]
    turn = int(center) % len(steps)
    return [center * (1 + spread * step) for step in steps[turn:] + steps[:turn]]
