from __future__ import annotations

import json
import random

import pytest

from restbench.analyse.timeline import BINS_A_DECADE, PERCENTS, Timeline
from restbench.show import charts

MB = 1_000_000
#: What a page holds beside the timelines: the library, and the tables of 50 cells.
REST_MB = 1.2 + 0.5


def timeline(seconds: int, block: int = 1, warmup_s: int = 30) -> Timeline:
    """A measurement as a busy service makes it: no two seconds alike, errors now and then."""
    chance = random.Random(seconds + block)
    times = [n + 0.5 for n in range(-warmup_s, seconds)]
    edges = [10 ** (n / BINS_A_DECADE) for n in range(4 * BINS_A_DECADE + 1)]
    return Timeline(
        block=block,
        window_s=float(seconds),
        steady=True,
        cut_s=-12.0,
        bin_s=1.0,
        second_s=times,
        throughput_per_s=[chance.uniform(100, 9_999) for _ in times],
        mean_ms=[chance.uniform(1, 99) for _ in times],
        errors_per_s=[float(chance.random() < 0.1) for _ in times],
        core_second_s=[time + 0.217 for time in times],
        core_pct=[[chance.uniform(0, 100) for _ in times] for _ in range(2)],
        memory_second_s=[time + 0.313 for time in times],
        memory_mib=[chance.uniform(100, 2_000) for _ in times],
        service_cpu_pct=[chance.uniform(0, 200) for _ in times],
        percents=list(PERCENTS),
        percentile_ms=[chance.uniform(1, 99) for _ in PERCENTS],
        histogram_ms=edges,
        histogram_counts=[chance.randrange(100_000) for _ in edges[1:]],
    )


@pytest.mark.parametrize("seconds", [60, 300, 1_800])
def test_fifty_cells_of_five_blocks_make_a_page_under_four_megabytes(seconds: int) -> None:
    known = {
        f"java-thread-pool-unbound-rows-{cell}-10u": [
            timeline(seconds, block) for block in range(1, 6)
        ]
        for cell in range(50)
    }
    text = charts.as_json({"timelines": charts.timelines(known)})
    assert len(text) / MB + REST_MB < 4


def test_a_long_series_is_told_as_means_of_neighbours() -> None:
    long = timeline(seconds=charts.MOST_POINTS * 2, warmup_s=0)
    (told,) = charts.timelines({"a": [long]})["a"]
    assert len(told["load"]["s"]) == charts.MOST_POINTS
    assert told["load"]["s"][0] == pytest.approx((0.5 + 1.5) / 2)
    pair = long.throughput_per_s[:2]
    assert told["load"]["per_s"][0] == pytest.approx(sum(pair) / 2, rel=5e-3)
    assert [len(core) for core in told["cores"]["pct"]] == [charts.MOST_POINTS] * 2


def test_a_short_series_is_told_as_it_is() -> None:
    short = timeline(seconds=5, warmup_s=2)
    (told,) = charts.timelines({"a": [short]})["a"]
    assert told["load"]["s"] == short.second_s
    assert told["histogram"][1] == short.histogram_counts


def test_a_series_without_errors_is_not_told() -> None:
    calm = timeline(seconds=5)
    quiet = Timeline(**{**vars(calm), "errors_per_s": [0.0] * len(calm.second_s)})
    (told,) = charts.timelines({"a": [quiet]})["a"]
    assert told["load"]["errors"] == []


def test_data_are_the_same_text_in_any_order_and_cannot_end_their_element() -> None:
    one = charts.as_json({"b": "</script><!-- <script>", "a": 1})
    assert one == charts.as_json({"a": 1, "b": "</script><!-- <script>"})
    assert "</" not in one
    assert "<!--" not in one
    assert json.loads(one)["b"] == "</script><!-- <script>"
