"""Builds a run's folder as the machinery leaves it: trials whose numbers a test knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from fixture_run import begun, cell

from restbench.experiment.cell import Cell
from restbench.store.store import Run
from restbench.store.trials import AGAIN, Event, Trial
from restbench.store.writing import write_text

START_MS = 1_795_225_867_500
WHEN = {"started": "2026-11-21T01:00:00+00:00", "finished": "2026-11-21T01:05:00+00:00"}
SPEED = {"integer_loops_per_s": 2000.0, "copied_gib_per_s": 30.0}
EXPERIMENT = """
name = "small"
title = "A small study"
seed = 7
claims = "claims.toml"

[complexities]
low = { rows = 30, inner = 20, columns = 20 }
huge = { rows = 1000, inner = 50, columns = 20 }

[mixes]
mix = { low = 0.9, huge = 0.1 }

[profiles.quick]
minutes = 1
blocks = 3
warm_max_s = { java = 1.0, python = 1.0 }

[[cells]]
name = "Java"
service = "java"
strategy = ["serial", "pinned"]
complexity = ["low", "mix"]
users = [10, 30]

[[tests]]
id = "T-A01"
where = { service = "java", strategy = "serial", complexity = "low", users = 10 }

[[figures]]
number = 15
title = "S against users"
caption = "Low complexity."
x = "users"
metrics = "throughput_per_s"
series = "strategy"
where = { complexity = "low" }
"""
CLAIMS = """
title = "What the small study claims"
margin = 0.05

[[claims]]
id = "J1"
text = "serial is faster than pinned"
reading = "At low, throughput of serial is greater."

[[claims.parts]]
metric = "throughput_per_s"
expect = "greater"
cells = { service = "java", complexity = "low", users = 10 }
numerator = { strategy = "serial" }
denominator = { strategy = "pinned" }
"""
SERIAL, PINNED = "java serial low 10", "java pinned low 10"
TRIALS = 3


def _trial(which: Cell, block: int, number: int, per_s: float, wrong: int) -> Trial:
    """About two seconds of a cell, all responses equally long but for a spread of a tenth; every
    tenth is one of the huge ones of a mix."""
    seconds = 2.0 + 0.013 * number + 0.000001
    completions = round(per_s * seconds)
    middle_us = 1e6 * which.users / per_s
    elapsed_us = np.linspace(0.9 * middle_us, 1.1 * middle_us, completions).astype(np.int64)
    kinds = {"low": elapsed_us[completions // 10 :], "huge": elapsed_us[: completions // 10]}
    return Trial(
        block=block,
        round=number,
        cell=which.id,
        users=which.users,
        began_ms=START_MS + 10_000 * number,
        seconds=seconds,
        elapsed_us=elapsed_us,
        wrong=wrong,
        stages_ms={"queue": 0.1, "parse": 0.2, "compute": 1.0 / 3, "serialize": 0.1},
        service_cpu_ms=1500.0,
        generator_cpu_ms=300.0,
        busy_ms=2300.0,
        steal_ms=20.0,
        compilers_ms=10.0,
        collector_ms=15.0,
        memory_mib=512.0 + block,
        kinds_us=kinds if which.complexity == "mix" else {},
    )


def build(
    path: Path,
    per_s: Mapping[str, Sequence[float]],
    claims: str | None = None,
    experiment: str = EXPERIMENT,
    *,
    wrong: Sequence[str] = (),
) -> Run:
    """A complete run: by cell (`java serial low 10`) the throughput of each of its blocks; those
    that are `wrong` give a wrong answer in each."""
    blocks = max(map(len, per_s.values()))
    cells = {cell(text): values for text, values in per_s.items()}
    plan = [(each, block) for block in range(1, blocks + 1) for each in cells]
    run = begun(path, experiment, plan, **WHEN)
    if claims is not None:
        write_text(run.claims_file, claims)
    for block in range(1, blocks + 1):
        measure(run, block, cells, wrong)
    return run


def measure(
    run: Run, block: int, cells: Mapping[Cell, Sequence[float]], wrong: Sequence[str] = ()
) -> None:
    """Lay down one block, which took a minute; a cell with fewer values failed in it."""
    run.trials.begin(block, f"2026-11-21T01:{block:02}:00+00:00", {"speed": SPEED})
    for which, values in cells.items():
        if block > len(values):
            failed = Event("2026-11-21T01:00:00+00:00", "failed", "it\nfailed", block, which.id)
            run.trials.note(failed)
            continue
        is_wrong = which in map(cell, wrong)
        first, *more = (
            _trial(which, block, number, values[block - 1], int(is_wrong))
            for number in range(1, TRIALS + 1)
        )
        again = replace(first, arm=AGAIN, elapsed_us=first.elapsed_us[:-5])
        run.trials.add([first, *more, again])
    run.trials.finish(block, f"2026-11-21T01:{block + 1:02}:00+00:00")
