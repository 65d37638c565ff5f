"""What a chart's definition says: its data by panel, as its Vega-Lite has them."""

from __future__ import annotations

from typing import Any

from restbench.show.charts import theme
from restbench.show.charts.theme import Chart


def data_of(chart: Chart | None, panel: int = 0) -> list[dict[str, Any]]:
    """The records of a panel; those of a single one may stand at the top."""
    assert chart
    spec = theme.spec(chart)
    source = spec["concat"][panel].get("data") or spec["data"]
    found: list[dict[str, Any]] = spec["datasets"][source["name"]]
    return found
