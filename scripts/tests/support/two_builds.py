"""An experiment whose cells are measured with two builds, for runs that are laid down."""

from __future__ import annotations

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
