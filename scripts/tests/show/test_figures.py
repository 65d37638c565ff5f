from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from drawn import data_of
from fixture_run import Made, build, cell, steady_load

from restbench.analyse import measures
from restbench.experiment import experiment
from restbench.show.charts import theme
from restbench.show.charts.theme import Chart
from restbench.show.kinds import study
from restbench.store.store import Run


def figures_of(run: Run) -> dict[int, Chart]:
    """The run's figures by their numbers."""
    definition = experiment.load(run.experiment_file)
    rows = measures.rows(run)
    drawn = {each.number: study.chart(each, definition, rows) for each in definition.figures}
    return {number: chart for number, chart in drawn.items() if chart}


def throughputs(chart: Chart) -> dict[str, list[tuple[int, float | None]]]:
    lines: dict[str, list[tuple[int, float | None]]] = {}
    for each in data_of(chart):
        lines.setdefault(each["series"], []).append((each["x"], each["y"]))
    return lines


def y_of(chart: Chart) -> dict[str, Any]:
    """The vertical axis of the first panel."""
    found: dict[str, Any] = theme.spec(chart)["concat"][0]["layer"][0]["encoding"]["y"]
    return found


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Chart]:
    """Of a run with throughputs by hand: users / response time."""
    made = [
        Made(cell("java serial low 10"), steady_load(10, 50)),  # 200/s
        Made(cell("java serial low 30"), steady_load(30, 100), errors=20),  # 300/s
        Made(cell("python process-per-request low 10"), steady_load(10, 25)),  # 400/s
        Made(cell("python process-per-request medium 10"), steady_load(10, 500)),  # 20/s
        Made(cell("python process-per-element low 10"), steady_load(10, 100)),  # 100/s
        Made(cell("python process-per-element rows-200 10"), steady_load(10, 200)),  # 50/s
        Made(cell("python process-per-element medium 10"), steady_load(10, 1_000)),  # 10/s
        Made(cell("python process-per-request low 10 core0"), steady_load(10, 40)),  # 250/s
    ]
    path = tmp_path_factory.mktemp("figures") / "run"
    return figures_of(build(path, made, unmeasured=(cell("java pinned medium 10"),)))


def test_a_figure_shows_the_runs_numbers(figures: dict[int, Chart]) -> None:
    chart = figures[15]
    assert chart.title == "Figure 15. S (serial): throughput and mean latency against users"
    points = data_of(chart)
    assert [(each["series"], each["x"], each["y"], each["fill"]) for each in points] == [
        ("S serial", 10, 200, theme.PALETTE[0]),
        ("S serial", 30, 300, theme.PAPER),  # 20 errors next to 600 answers: hollow
    ]
    assert [each["y"] for each in data_of(chart, 1)] == [50, 100]
    titles = [each["layer"][0]["encoding"]["y"]["title"] for each in theme.spec(chart)["concat"]]
    assert titles == ["Correct responses per second", "Mean latency (closed loop), ms"]
    assert "Hollow points have warnings: errors." in chart.caption
    assert "No interval: it needs three blocks." in chart.caption


def test_a_figure_without_any_measured_cell_is_skipped(figures: dict[int, Chart]) -> None:
    assert [*figures] == [15, 24, 27]


def test_missing_cells_are_named_and_interrupt_the_line(figures: dict[int, Chart]) -> None:
    chart = figures[24]
    assert throughputs(chart) == {
        "PE process-per-element": [(30, 100), (200, 50), (1000, 10)],
        "PR process-per-request": [(30, 400), (200, None), (1000, 20)],
    }
    assert "Missing: PR process-per-request rows-200 10 users (not-measured)." in chart.caption


def test_a_change_of_another_size_is_said(figures: dict[int, Chart]) -> None:
    assert "Columns of matrixOne: 20 at 30 rows; 50 at 200, 1000 rows." in figures[24].caption


def test_the_best_technique_is_chosen_over_the_cells_all_have(figures: dict[int, Chart]) -> None:
    chart = figures[27]
    # Common: low and medium, unbound. PR sqrt(400 x 20) = 89.4, PE sqrt(100 x 10) = 31.6.
    assert (
        "Shown is the best, process-per-request. Geometric means over 2 common cells"
        in chart.caption
    )
    assert "process-per-element 31.6/s, process-per-request 89.4/s" in chart.caption
    assert throughputs(chart) == {
        "unbound": [(30, 400), (200, None), (1000, 20)],
        "bound to core 0": [(30, 250), (200, None), (1000, None)],
    }


def test_rows_sweeps_are_logarithmic_from_a_ratio_of_20_on(figures: dict[int, Chart]) -> None:
    wide, users = figures[24], figures[15]  # 400/10 = 40
    assert (wide.is_log, users.is_log) == (True, False)
    assert "The vertical axis is logarithmic." in wide.caption
    assert y_of(wide)["scale"]["type"] == "log"
    assert y_of(wide)["axis"]["values"] == [10, 20, 50, 100, 200, 500]


def test_linear_axes_start_at_zero(figures: dict[int, Chart]) -> None:
    assert y_of(figures[15])["scale"] == {"type": "linear", "domain": [0, 330], "nice": False}


def test_a_reader_can_change_the_scale_of_either_figure(figures: dict[int, Chart]) -> None:
    for number in (15, 24):
        for panel in theme.spec(figures[number])["usermeta"]["scales"]:
            assert [panel[kind]["scale"]["type"] for kind in panel] == ["linear", "log"]
            assert panel["log"]["scale"]["domain"][0] > 0


def test_several_blocks_have_bars(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    # 200, 250 and 25 a second: s = 118.2; t of two degrees of freedom is 4.302653.
    loads = (steady_load(10, 50), steady_load(10, 40), steady_load(10, 400))
    blocks = [Made(serial, load, block=number) for number, load in enumerate(loads, start=1)]
    chart = figures_of(build(tmp_path / "run", blocks))[15]
    point, missing = data_of(chart)
    assert point["y"] == pytest.approx(475 / 3, rel=1e-5)
    half_width = 4.30265273 * 118.1454 / 3**0.5
    assert point["high"] == pytest.approx(475 / 3 + half_width, rel=1e-5)
    low = pytest.approx(475e-6 / 3, rel=1e-5)
    assert point["low"] == low, "below 0: out of sight on a logarithmic axis"
    assert point["ends"] == "-135 to 452"
    assert (missing["y"], missing["cell"]) == (None, "java-serial-unbound-low-30u")
    assert "Bars: 95 % t interval over 3 blocks." in chart.caption
    more = [Made(cell("java serial low 30"), steady_load(30, 90), block=n) for n in range(1, 6)]
    both = figures_of(build(tmp_path / "more", [*blocks, *more]))[15]
    assert "Bars: 95 % t interval over 3 to 5 blocks." in both.caption
    two = figures_of(build(tmp_path / "two", blocks[:2]))[15]
    assert "low" not in data_of(two)[0] and "No interval" in two.caption


def test_a_technique_keeps_its_colour_when_others_are_missing(tmp_path: Path) -> None:
    alone = [Made(cell("python process-per-request low 10"), steady_load(10, 50))]
    chart = figures_of(build(tmp_path / "run", alone))[24]
    colours = {name: colour for name, colour, _ in theme.spec(chart)["usermeta"]["series"]}
    assert colours == {
        "PE process-per-element": theme.PALETTE[1],
        "PR process-per-request": theme.PALETTE[2],
    }


def test_one_block_draws_no_interval(figures: dict[int, Chart]) -> None:
    for each in data_of(figures[24]):
        assert "low" not in each
        assert each["ends"] == "none: too few blocks"


def test_an_svg_has_every_series_and_its_numbers(figures: dict[int, Chart]) -> None:
    text = theme.svg(figures[24])
    words = "".join(ElementTree.fromstring(text).itertext())  # noqa: S314 - our own document
    for each in ("Figure 24.", "PE process-per-element", "PR process-per-request", "10 users"):
        assert each in words
    assert "400" in theme.svg(figures[27])


def test_the_text_alternative_has_the_values(figures: dict[int, Chart]) -> None:
    assert "S serial: 200 at 10, 300 at 30." in figures[15].description
