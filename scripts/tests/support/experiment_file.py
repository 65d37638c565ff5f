"""A small experiment file, and how a test reads one."""

from __future__ import annotations

from pathlib import Path

from restbench.experiment import experiment

MINIMAL = """
name = "mini"
title = "A small one"
seed = 3
[complexities]
low = { rows = 2, inner = 3, columns = 4 }
[profiles.quick]
minutes = 1
blocks = 1
warm_max_s = { java = 0, python = 0 }
[[cells]]
name = "all"
service = "java"
strategy = ["serial", "pinned"]
complexity = "low"
users = [1, 2]
"""
MIXED = MINIMAL.replace('complexity = "low"', 'complexity = ["low", "both"]').replace(
    "[profiles.quick]",
    "huge = { rows = 9, inner = 9, columns = 9 }\n[mixes]\n"
    "both = { low = 0.95, huge = 0.05 }\n[profiles.quick]",
)


def loaded(tmp_path: Path, text: str) -> experiment.Experiment:
    path = tmp_path / "mini.toml"
    path.write_text(text)
    return experiment.load(path)
