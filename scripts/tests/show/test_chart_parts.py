"""Charts that are neither the overview nor a figure of the study: facts of their definitions."""

from __future__ import annotations

import re

import pytest
from drawn import data_of
from fixture_run import cell
from synthetic_rows import row

from restbench.show.charts import course, lines, theme
from restbench.show.parts import claims
from restbench.store.exported import SeriesEntry
from restbench.store.quoted import ClaimEntry, PartEntry

STAGES = {
    "queue_ms": [1.0],
    "parse_ms": [2.0],
    "compute_ms": [6.0],
    "serialize_ms": [0.5],
    "network_ms": [-0.1],
    "mean_ms": [9.4],
}
#: Of letters of 11 px, from their baseline.
ASCENT_PX, DESCENT_PX = 10, 3


def part(ratio: float | None, verdict: str = "reproduced", **others: object) -> PartEntry:
    told = {
        "label": "S low 10u / AF low 10u",
        "metric": "throughput_per_s",
        "expect": "greater",
        "ratio": ratio,
        "margin": 0.05,
        "verdict": verdict,
        "headline": verdict,
    }
    return PartEntry.model_validate(told | others)


def claim(name: str, verdict: str, *parts: PartEntry) -> ClaimEntry:
    return ClaimEntry(
        id=name, text="S is faster", verdict=verdict, headline="", why="", parts=parts
    )


def test_a_claims_line_has_a_mark_for_each_ratio_that_decides_it() -> None:
    entries = [
        claim(
            "J1",
            "contradicted",
            part(1.5, low=1.4, high=1.6),
            part(0.5, "contradicted", low=0.4, high=0.6),
            part(1.0, low=0.9, high=1.1, decides=False),
            part(None, "not-measured"),
        ),
        claim("J2", "too-imprecise", part(1.0, "too-imprecise")),
    ]
    chart = claims.chart(entries)
    assert chart
    first, second = data_of(chart)
    assert first["label"] == second["label"] == "J1: S is faster"
    assert (first["value"], first["low"], first["high"]) == (1.5, 1.4, 1.6)
    assert (first["least"], first["most"]) == (0.952381, 1.05), "six digits"
    assert (second["series"], second["fill"]) == ("contradicted", theme.PALETTE[1])
    names = [name for name, _, _ in theme.spec(chart)["usermeta"]["series"]]
    assert names == ["reproduced", "contradicted"]
    assert "0.500 [0.400, 0.600], contradicted" in chart.description


def test_without_a_decided_claim_there_is_no_chart_and_a_hollow_mark_has_no_interval() -> None:
    assert claims.chart([claim("J2", "too-imprecise", part(1.0, "too-imprecise"))]) is None
    (alone,) = data_of(claims.chart([claim("J3", "no-effect", part(1.01, "no-effect"))]))
    assert alone["fill"] == theme.PAPER
    assert "low" not in alone
    assert alone["shown"] == "1.01, no interval"


def test_the_line_where_nothing_differs_does_not_run_through_words() -> None:
    won, lost = part(1.5, low=1.4, high=1.6), part(0.5, "contradicted", low=0.4, high=0.6)
    chart = claims.chart([claim("J1", "reproduced", won), claim("J2", "contradicted", lost)])
    text = theme.svg(chart or pytest.fail())
    lines, words = (
        "".join(re.findall(rf'<g class="mark-{kind} role-mark.*?</g>', text, re.DOTALL))
        for kind in ("rule", "text")
    )
    upright = re.findall(r'translate\([\d.]+,([\d.]+)\)" x2="0" y2="([\d.]+)"', lines)
    baselines = [float(y) for y in re.findall(r"translate\([\d.]+,([\d.]+)\)", words)]
    assert len(upright) == len(baselines) == 2, "one a claim"
    for top, length in ((float(top), float(length)) for top, length in upright):
        for baseline in baselines:
            assert top >= baseline + DESCENT_PX or top + length <= baseline - ASCENT_PX


def test_stages_are_in_the_order_of_a_request_and_never_below_0() -> None:
    made = row("java serial low 10", [100.0], **STAGES)
    chart = course.stages([made, row("java pinned low 10")])
    assert chart
    (bar,) = data_of(chart)
    assert [bar[stage] for stage in course.STAGES] == [1, 2, 6, 0.5, 0]
    assert bar["bar"] == "serial · 10: 9.40 ms"
    assert "Java, low: largest compute in 1." in chart.description
    assert list(course.STAGES) == ["queue", "parse", "compute", "serialize", "network"]
    for stage in course.STAGES:
        assert stage in theme.svg(chart)


def test_a_bar_is_named_whole_by_the_settings_that_its_others_have_not() -> None:
    of = "RESTBENCH_PROCESSES=2,RESTBENCH_MAX_IN_FLIGHT="
    rows = [row(f"java serial low 10 settings={of}{n}", [100.0], **STAGES) for n in (64, 512)]
    chart = course.stages(rows)
    assert chart
    names = [each["bar"] for each in data_of(chart)]
    assert names == [f"+RESTBENCH_MAX_IN_FLIGHT={n} · 10: 9.40 ms" for n in (64, 512)]
    drawn = theme.svg(chart)
    for name in names:
        assert name in drawn


def test_without_stages_there_is_no_chart() -> None:
    assert course.stages([row("java serial low 10", [100.0])]) is None


def test_a_long_window_is_drawn_in_steps_that_keep_its_mean_and_its_gaps() -> None:
    known = cell("java serial low 10")
    values = (None, None, *(float(n % 2) for n in range(598)))
    entry = SeriesEntry(cell=known.id, column="throughput_per_s", step_s=0.1, values=values)
    chart = course.windows([entry], [known])
    points = data_of(chart)
    assert len(points) == 150
    assert points[0]["value"] == 0.5
    assert points[1] == {"s": 0.4, "value": 0.5, "series": "S serial"}
    gone = SeriesEntry(cell=known.id, column="mean_ms", step_s=0.1, values=(1.0, None, 3.0))
    assert [each["value"] for each in data_of(course.windows([gone], [known]))] == [1, None, 3]
    assert course.windows([entry], []) is None


def test_windows_of_one_strategy_in_one_panel_do_not_look_alike() -> None:
    cells = [cell("java serial low 10"), cell("java serial low 10 delay_ms=20")]
    entries = [
        SeriesEntry(cell=each.id, column="mean_ms", step_s=0.1, values=(1.0,)) for each in cells
    ]
    chart = course.windows(entries, cells)
    assert chart and len(chart.panels) == 1
    assert chart.series and len({*chart.series.values()}) == 2


def test_a_point_over_blocks_has_an_interval_from_three_on() -> None:
    assert lines.mean_point(1, [2.0, 8.0]) == lines.Point(1, 4.0)
    low, high = lines.mean_point(1, [2.0, 4.0, 8.0]).ends
    assert low < 4 < high


def test_a_tick_names_its_value_whatever_the_length_of_its_axis() -> None:
    """With a format of the axis, Vega rounded 16, 32 and 64 threads to 20, 30 and 60."""
    points = tuple(lines.Point(x, 1.0) for x in (1, 2, 4, 5, 8, 16, 32, 64, 1500))
    panels = [
        lines.Panel("panel", "Speed-up", (lines.Line("async", 0, its),), has_ticks=True)
        for its in (points[:-1], points[4:])
    ]
    chart = lines.chart("name", "title", "", panels, "Client threads", is_log=False)
    assert chart is not None
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", theme.svg(chart)))
    assert {"1", "4", "8", "16", "32", "64", "1,500"} <= texts, "each that has room"
    assert not {"20", "30", "60"} & texts


def test_a_logarithmic_axis_leaves_out_none_of_its_ticks() -> None:
    """Of more than five Vega took every second one, and then again: 2, 10, 50."""
    points = (lines.Point(1, 3.0), lines.Point(2, 900.0))
    panel = lines.Panel("panel", "Requests", (lines.Line("serial", 0, points),))
    chart = lines.chart("name", "title", "", [panel], "Users", is_log=True)
    entries = [claim("J1", "reproduced", part(ratio, low=ratio, high=ratio)) for ratio in (0.05, 2)]
    ticks = {"5", "10", "20", "50", "100", "200", "500", "1,000"}
    for made, wanted in ((chart, ticks), (claims.chart(entries), {"0.05", "0.1", "0.2", "0.5"})):
        assert made is not None
        assert wanted <= set(re.findall(r"<text[^>]*>([^<]*)</text>", theme.svg(made)))


def test_a_linear_axis_has_as_many_ticks_as_without_the_logarithmic_one() -> None:
    panel = lines.Panel("", "Requests", (lines.Line("serial", 0, (lines.Point(1, 3.0),)),))
    chart = lines.chart("name", "title", "", [panel], "Users", is_log=True)
    assert chart is not None
    usual = theme.spec(chart)["usermeta"]["scales"][0]["linear"]["axis"]["tickCount"]
    assert usual == 5


def test_no_two_verdicts_look_alike() -> None:
    drawn = [number for verdict, number in claims.STYLES.items() if verdict != "not measured"]
    assert len({*drawn}) == len(drawn)


def test_long_windows_are_in_the_order_of_the_experiment() -> None:
    low, high = cell("java serial low 10"), cell("java serial high 10")
    entries = [
        SeriesEntry(cell=each.id, column=column, step_s=0.1, values=(1.0,))
        for each in (high, low)
        for column in ("throughput_per_s", "mean_ms")
    ]
    chart = course.windows(entries, [low, high])
    assert chart is not None
    assert [each["title"] for each in theme.spec(chart)["concat"]] == [
        f"Java, {size}, 10 users: {heading}"
        for size in ("low", "high")
        for heading in ("Throughput /s", "Mean ms")
    ]
