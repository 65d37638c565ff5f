"""Small experiment files, and how a test reads one."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.experiment import experiment
from restbench.failures import BadConfiguration

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
FIGURE = (
    '[[figures]]\nnumber = 1\ntitle = "t"\ncaption = "c"\nx = "rows"\n'
    'metrics = "mean_ms"\nseries = "users"\nwhere = { service = "java" }\n'
)
OPEN_LOAD = """
driver = "open-load"
views = ["limits"]
name = "stubbed"
title = "An open load against stubs"
seed = 3

[open]
arrivals = "constant"

[open.objective]
percentile = 50
limit_ms = 60

[open.pilot]
users = 4
seconds = 0.5
start_share = 3.0

[open.steps]
warmup_s = 0.5
window_min_s = 1.0
window_max_s = 8.0
tail_s = 0.5

[open.rates]
factor = 1.6
resolution = 0.4
lowest_per_s = 5
highest_per_s = 400

[complexities]
tiny = { rows = 2, inner = 2, columns = 2 }

[profiles.p]
minutes = 2
blocks = 2
warm_max_s = { java = 0.0, python = 0.0 }

[[cells]]
name = "Java"
service = "java"
strategy = ["serial", "pinned"]
complexity = "tiny"
users = 16
"""


def loaded(tmp_path: Path, text: str) -> experiment.Experiment:
    path = tmp_path / "mini.toml"
    path.write_text(text)
    return experiment.load(path)


def refused(text: str, right: str, wrong: str) -> str:
    """What is said, in one line with the file's name, of a file with this change."""
    assert right in text
    with pytest.raises(BadConfiguration) as caught:
        experiment.parse(text.replace(right, wrong), Path("mine.toml"))
    told = str(caught.value)
    assert told.startswith("mine.toml: ")
    assert "\n" not in told
    return told
