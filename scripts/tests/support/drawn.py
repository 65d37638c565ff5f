"""What a chart's definition says: its data by panel, as its Vega-Lite has them."""

from __future__ import annotations

from typing import Any

from restbench.show.charts import theme
from restbench.show.charts.theme import Chart


def data_of(chart: Chart | None, panel: int = 0) -> list[dict[str, Any]]:
    """The records of a panel. They stand at its last layer, or above where layers share them."""
    assert chart
    spec = theme.spec(chart)
    places = [spec["concat"][panel]["layer"][-1], spec["concat"][panel], spec]
    source = next(each["data"] for each in places if "data" in each)
    found: list[dict[str, Any]] = spec["datasets"][source["name"]]
    return found
