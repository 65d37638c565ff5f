"""The charts of a run as SVG files."""

from __future__ import annotations

from pathlib import Path

from restbench.show.charts import theme
from restbench.show.findings import Findings
from restbench.store.writing import write_text


def write(found: Findings) -> list[Path]:
    """Write every chart that the run has a point for; returns the files."""
    written = []
    for name, chart in found.charts.items():
        write_text(found.folder.named_figure(name), theme.svg(chart))
        written.append(found.folder.named_figure(name))
    return written
