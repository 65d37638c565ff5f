"""A folder of runs for the browser: two machines, several commits, a step in one cell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trial_run import CLAIMS, EXPERIMENT, build

from restbench.analyse import measures
from restbench.show import export
from restbench.store.store import Run
from restbench.store.writing import write_json

SERIAL, PINNED, MIX = "java serial low 10", "java pinned low 10", "java serial mix 10"
LAPTOP = {"processor": "A laptop's processor", "cores_online": 8}
#: Of each block, in parts of its run's level.
BLOCKS = (0.99, 1.0, 1.01, 1.02)


def lay_down(
    results: Path,
    day: int,
    per_s: Mapping[str, Sequence[float]],
    *,
    commit: str,
    machine: Mapping[str, Any] | None = None,
    experiment: str = EXPERIMENT,
) -> Run:
    """A run of this day of November with its `run.json`; its name is that of the day."""
    run = build(results / f"2026-11-{day:02}", per_s, claims=CLAIMS, experiment=experiment)
    _change(run.manifest_file, {
        "run": run.name, "git_commit": commit * 10, "started": f"2026-11-{day:02}T01:00:00+00:00",
    })  # fmt: skip
    _change(run.machine_file, machine or {})
    export.write(run, measures.rows(run), print)
    run.report.write_text("<!doctype html><title>its page</title>")
    return run


def _change(path: Path, members: Mapping[str, Any]) -> None:
    write_json(path, json.loads(path.read_text(encoding="utf-8")) | members)


def three_runs(results: Path) -> list[Run]:
    """Two of one machine, the second slower with `pinned` and with two blocks of the mix; the third
    of another machine."""
    return [
        lay_down(results, 1, of_level({SERIAL: 300, PINNED: 200, MIX: 150}), commit="aaaa"),
        lay_down(
            results, 2, of_level({SERIAL: 301, PINNED: 120}) | {MIX: [150.0, 148.0]}, commit="bbbb",
        ),
        lay_down(results, 3, of_level({SERIAL: 900, PINNED: 700}), commit="bbbb", machine=LAPTOP),
    ]  # fmt: skip


def of_level(levels: Mapping[str, float]) -> dict[str, list[float]]:
    """Four blocks a cell about its level."""
    return {name: [level * each for each in BLOCKS] for name, level in levels.items()}


def runs_with_a_step(results: Path) -> list[Run]:
    """Ten runs of ten commits: `serial` loses a third with the seventh, `pinned` nothing."""
    hours = (1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.01, 0.99, 1.02, 1.0)
    return [
        lay_down(
            results,
            n + 10,
            of_level({SERIAL: hour * (300 if n < 6 else 200), PINNED: hour * 200}),
            commit=f"c{n}{n}{n}",
        )
        for n, hour in enumerate(hours)
    ]
