"""Runs of two builds, laid down, and what is shown of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import trial_run
from fixture_run import begun, cell

from restbench.analyse import measures
from restbench.experiment.records import BuiltCommit
from restbench.show import export, findings
from restbench.show.kinds import builds
from restbench.store.store import Run

EXPERIMENT = """
name = "ab"
title = "Two builds"
seed = 1
views = ["study", "builds"]

[thresholds]
throughput_ratio_min = 0.95
cpu_ratio_max = 1.05

[complexities]
low = { rows = 30, inner = 20, columns = 20 }

[profiles.quick]
minutes = 1
blocks = 3
warm_max_s = { java = 1.0, python = 1.0 }

[[cells]]
name = "Java"
service = "java"
strategy = ["serial", "pinned", "pipeline", "fork-join"]
complexity = "low"
users = 10
build = ["A", "B"]
"""
COMMITS = {
    "A": BuiltCommit(asked="HEAD~", git_commit="a" * 40, git_dirty=False),
    "B": BuiltCommit(asked=".", git_commit="b" * 40, git_dirty=True),
}
BLOCKS = range(1, 6)
SAME = [300.0, 309.0, 303.0, 312.0, 306.0]


def laid_down(
    path: Path,
    per_s: Mapping[str, tuple[Sequence[float], Sequence[float] | None]],
    wrong: Sequence[str] = (),
    wrong_in: Container[int] = BLOCKS,
) -> Run:
    """Five blocks of these strategies in both builds, each with its throughputs; None where a cell
    has neither a trial nor a failure. Those that are `wrong` are so in the blocks `wrong_in`."""
    cells = {
        cell(f"java {name} low 10 build={build}"): values
        for name, both in per_s.items()
        for build, values in zip("AB", both, strict=True)
    }
    plan = [(each, block) for block in BLOCKS for each in cells]
    run = begun(path, EXPERIMENT, plan, builds=COMMITS, **trial_run.WHEN)
    known = {each: values for each, values in cells.items() if values is not None}
    for block in BLOCKS:
        trial_run.measure(run, block, known, wrong=wrong if block in wrong_in else ())
    return run


def shown(run: Run) -> builds.Comparison:
    return builds.of(findings.of(export.write(run, measures.rows(run), print), run))
