"""The charts of a run as SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench.show.charts import theme
from restbench.show.findings import Findings
from restbench.store.writing import write_text


def write(found: Findings, left_out: Sequence[str] = ()) -> list[Path]:
    """Write every chart that the run has a point for, but those that are named; returns the
    files."""
    written = []
    for name, chart in found.charts.items():
        if name in left_out:
            continue
        write_text(found.folder.named_figure(name), theme.svg(chart))
        written.append(found.folder.named_figure(name))
    return written
