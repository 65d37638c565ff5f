from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from fixture_run import START, Made, build, cell, steady_load
from jtl_lines import error

from restbench.analyse import measures
from restbench.experiment import experiment
from restbench.show import drawing, figures
from restbench.show.chart import Chart, Line, Panel, Point
from restbench.store.store import Run


def charts(run: Run) -> dict[int, Chart | None]:
    definition = experiment.load(run.experiment_file)
    rows = measures.rows(run)
    return {figure.number: figures.chart(figure, definition, rows) for figure in definition.figures}


def chart_of(run: Run, number: int) -> Chart:
    found = charts(run)[number]
    assert found is not None
    return found


def throughputs(chart: Chart) -> dict[str, list[tuple[int, float | None]]]:
    return {
        line.label: [(point.x, point.y) for point in line.points] for line in chart.panels[0].lines
    }


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Throughputs by hand: users / response time."""
    made = [
        Made(cell("java serial low 10"), steady_load(10, 50)),  # 200/s
        Made(
            cell("java serial low 30"), [*steady_load(30, 100), *[error(START + 9)] * 20]
        ),  # 300/s
        Made(cell("python process-per-request low 10"), steady_load(10, 25)),  # 400/s
        Made(cell("python process-per-request medium 10"), steady_load(10, 500)),  # 20/s
        Made(cell("python process-per-element low 10"), steady_load(10, 100)),  # 100/s
        Made(cell("python process-per-element rows-200 10"), steady_load(10, 200)),  # 50/s
        Made(cell("python process-per-element medium 10"), steady_load(10, 1_000)),  # 10/s
        Made(cell("python process-per-request low 10 core0"), steady_load(10, 40)),  # 250/s
    ]
    return build(tmp_path / "run", made, unmeasured=(cell("java pinned medium 10"),))


def test_a_figure_shows_the_runs_numbers(run: Run) -> None:
    chart = chart_of(run, 15)
    assert chart.title == "Figure 15. S (serial): throughput and mean latency against users"
    throughput, latency = chart.panels
    (line,) = throughput.lines
    assert line.label == "S serial"
    assert [(point.x, point.y, point.doubtful) for point in line.points] == [
        (10, 200, False),
        (30, 300, True),  # 20 errors beside 600 answers: hollow
    ]
    assert latency.metric == "mean_ms"
    assert [point.y for point in latency.lines[0].points] == [50, 100]
    assert "Hollow points have warnings: errors." in chart.caption
    assert "One block: no interval." in chart.caption


def test_a_figure_without_any_measured_cell_is_skipped(run: Run) -> None:
    assert charts(run)[18] is None
    assert figures.write(run) == [run.figure(number) for number in (15, 24, 27)]
    assert not run.figure(18).exists()


def test_missing_cells_are_named_and_interrupt_the_line(run: Run) -> None:
    chart = chart_of(run, 24)
    assert throughputs(chart) == {
        "PE process-per-element": [(30, 100), (200, 50), (1000, 10)],
        "PR process-per-request": [(30, 400), (200, None), (1000, 20)],
    }
    assert "Missing: PR process-per-request rows-200 10 users (not-measured)." in chart.caption
    axis = drawing.draw(chart).axes[0]
    drawn = [line for line in axis.get_lines() if len(line.get_xdata()) == 3]
    assert [list(line.get_ydata()) == [100, 50, 10] for line in drawn] == [True, False]


def test_a_change_of_another_size_is_said(run: Run) -> None:
    assert "Columns of matrixOne: 20 at 30 rows; 50 at 200, 1000 rows." in chart_of(run, 24).caption


def test_the_best_technique_is_chosen_over_the_cells_all_have(run: Run) -> None:
    chart = chart_of(run, 27)
    # Common: low and medium, unbound. PR sqrt(400 x 20) = 89.4, PE sqrt(100 x 10) = 31.6.
    assert "Shown is process-per-request: geometric mean over 2 common cells" in chart.caption
    assert "process-per-element 31.6/s, process-per-request 89.4/s" in chart.caption
    assert throughputs(chart) == {
        "unbound": [(30, 400), (200, None), (1000, 20)],
        "core0": [(30, 250), (200, None), (1000, None)],
    }


def test_rows_sweeps_are_logarithmic_from_a_ratio_of_20_on(run: Run) -> None:
    wide, users = chart_of(run, 24), chart_of(run, 15)  # 400/10 = 40
    assert (wide.log_y, users.log_y) == (True, False)
    assert "The vertical axis is logarithmic." in wide.caption
    axis = drawing.draw(wide).axes[0]
    assert axis.get_yscale() == "log"
    assert axis.get_ylabel() == "Correct responses per second (log)"


def test_linear_axes_start_at_zero(run: Run) -> None:
    for axis in drawing.draw(chart_of(run, 15)).axes:
        assert axis.get_yscale() == "linear"
        assert axis.get_ylim()[0] == 0
        assert axis.get_xlim()[0] == 0


def test_several_blocks_have_bars(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    blocks = [Made(serial, steady_load(10, 50)), Made(serial, steady_load(10, 40), block=2)]
    chart = chart_of(build(tmp_path / "run", blocks), 15)
    (point, missing) = chart.panels[0].lines[0].points
    assert point.y == 225
    assert point.interval is not None
    low, high = point.interval
    assert (high - low) / 2 == pytest.approx(12.70620474 * 25, rel=1e-6)
    assert missing == Point(30, None, None, False, "java-serial-unbound-low-30u")
    assert "Bars: 95 % t interval over 2 blocks." in chart.caption


def test_a_technique_keeps_its_colour_when_others_are_missing(tmp_path: Path) -> None:
    alone = [Made(cell("python process-per-request low 10"), steady_load(10, 50))]
    chart = chart_of(build(tmp_path / "run", alone), 24)
    colours = {line.label: line.colour for line in chart.panels[0].lines}
    assert colours == {"PE process-per-element": 1, "PR process-per-request": 2}


def test_hollow_points_have_the_papers_colour(run: Run) -> None:
    axis = drawing.draw(chart_of(run, 15)).axes[0]
    markers = [line for line in axis.get_lines() if line.get_marker() == "o"]
    sound, doubtful = (line.get_markerfacecolor() for line in markers)
    assert sound == drawing.COLOURS[0]
    assert doubtful not in drawing.COLOURS


def test_a_figure_is_the_same_bytes_every_time(run: Run) -> None:
    (first, *_) = figures.write(run)
    once = first.read_bytes()
    assert figures.write(run)[0].read_bytes() == once
    assert b"dc:date" not in once


def test_a_figure_is_an_svg_of_700_pixels_with_its_text_as_description() -> None:
    line = Line(
        "a & <b>", 0, (Point(10, 5.0, (4.5, 5.5), False, "a"), Point(30, 7.0, None, True, "b"))
    )
    panel = Panel("throughput_per_s", "10 users", (line,))
    chart = Chart("A title", "A caption < 3", "Concurrent users", (10, 30), False, (panel,))
    root = ElementTree.fromstring(drawing.svg(chart))  # noqa: S314 - our own document
    assert root.attrib["width"] == "504pt", "7 inches, which a browser shows as 672 pixels"
    text = "".join(root.itertext())
    assert "A title" in text
    assert "A caption < 3" in text
    assert "prefers-color-scheme: dark" in text
