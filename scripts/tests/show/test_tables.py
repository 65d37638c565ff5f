from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fixture_run import Made, build, cell, steady_load
from shown_run import findings, page_of, part_of
from synthetic_rows import row

from restbench.analyse import measures
from restbench.experiment import columns
from restbench.judge import study
from restbench.show import files
from restbench.show.findings import View
from restbench.store.store import Run

LOAD = steady_load(users=10, elapsed_ms=50)  # 400 completions in 2 s: 200/s


@pytest.fixture
def run(tmp_path: Path) -> Run:
    pinned = steady_load(users=10, elapsed_ms=40)  # 250/s
    return build(
        tmp_path / "run",
        [
            Made(cell("java serial low 10"), LOAD),
            Made(cell("java pinned low 10"), pinned, errors=1),
            Made(cell("java serial low 30"), LOAD, wrong=1),
            Made(cell("java pinned low 30"), failed="the service | died"),
            Made(cell("python process-per-request low 10 core0"), LOAD),
        ],
    )


def test_the_csv_has_a_line_a_cell_with_empty_fields_for_the_unknown(run: Run) -> None:
    files.write_tables(findings(run))
    lines = run.test_matrix_csv.read_text().splitlines()
    assert lines[0] == ",".join((*columns.NAMES, *columns.ENDS))
    assert lines[1] == (
        "T-A01 T-D01,java,serial,unbound,none,low,10,loops,200.0,50.0,50.0,50.0,,,50.0,,400,0,"
        "0,4.75,95.0,5.0,51.5,100.0,0.5,1.0,2.0,0.25,46.25,10.0,0.05,400.0,,checkout,tomcat,thread,1,kept,1,tcp,none,0,0,,,0,,,,,,"
    )
    records = list(csv.DictReader(lines))
    assert [record["throughput_per_s"] for record in records] == ["200.0", "", "250.0", "", "200.0"]
    void, failed = records[1], records[3]
    assert (void["wrong_answers"], void["samples"], void["mean_ms"]) == ("1", "400", "")
    assert (failed["samples"], failed["flags"]) == ("", "failed")


def test_the_csv_has_small_numbers_as_exactly_as_run_json() -> None:
    small = row("java serial low 10", [0.0123456789], queue_ms=[0.0000562383])
    (record,) = csv.DictReader(io.StringIO(files.matrix_csv([small])))
    assert (record["throughput_per_s"], record["queue_ms"]) == ("0.0123457", "5.62383e-05")


def test_a_views_table_is_the_same_whichever_way_the_last_bits_of_a_sum_fell(run: Run) -> None:
    """They depend on the CPU: a kept npb.csv that was made again on another one differed."""
    texts = set()
    for ratio in (math.nextafter(1.7, 0), 1.7, math.nextafter(1.7, 2)):
        made = partial(lambda ratio, *_of: {run.npb_csv: [{"ratio": ratio, "runs": 3}]}, ratio)
        view = View[None](lambda _found: None, lambda *_of: None, records=made)
        files.write_tables(replace(findings(run), views=[(view, None)]))
        texts.add(run.npb_csv.read_text())
    assert texts == {"ratio,runs\n1.7,3\n"}


def test_a_cell_with_two_test_ids_stands_in_both_tables(run: Run) -> None:
    groups = {
        title: [(test_id, row.cell.id) for test_id, row in rows]
        for title, rows in study.tables(measures.rows(run)).items()
    }
    serial = "java-serial-unbound-low-10u"
    size = "low (30\u00d720 · 20\u00d720)"
    assert groups[f"T-A: {size}"][:2] == [
        ("T-A01", serial),
        ("T-A01", "java-pinned-unbound-low-10u"),
    ]
    assert groups[f"T-D: {size}"] == [("T-D01", serial)]
    assert not any("process-per-request" in id for rows in groups.values() for _, id in rows)


def test_several_blocks_show_their_half_width(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    # 200/s, 250/s and 200/s: 216.7 with 4.30265 x 28.868 / sqrt(3) = 71.7; none of two blocks.
    loads = (LOAD, steady_load(10, 40), LOAD)
    blocks = [Made(serial, load, block=number) for number, load in enumerate(loads, start=1)]
    told = []
    for some in (blocks, blocks[:2]):
        run = build(tmp_path / f"run-{len(some)}", some)
        told.append(page_of(run))
    tables = [part_of(each, "tables") for each in told]
    assert " 217 ± 72 " in tables[0] and " 225 " in tables[1]
    assert "3; ± is the 95 % t interval over these blocks" in told[0]
    assert "two: an interval needs three blocks" in told[1]


def test_a_half_width_is_never_rounded_to_nothing(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    slower = [*LOAD[:-1], 99]
    blocks = [Made(serial, LOAD), Made(serial, slower, block=2), Made(serial, LOAD, block=3)]
    (row,) = measures.rows(build(tmp_path / "run", blocks))
    for metric in ("throughput_per_s", "mean_ms", "cpu_ms_per_request"):
        value, _, half_width = study.shown(row, metric).partition(" ± ")
        assert float(value) > 0
        interval = row.interval(metric)
        assert interval is not None
        assert float(half_width) > 0 or interval.half_width < 1e-3
    assert "±" not in study.shown(row, "samples"), "a count is a sum, not a mean"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3, "3"),
        ("low", "low"),
        (0.0, "0.000"),
        (0.000456, "0.000456"),
        (0.01234, "0.012"),
        (1.2345, "1.23"),
        (12.345, "12.3"),
        (1234.5, "1234"),
    ],
)
def test_numbers_are_shown_with_three_digits_or_more(value: object, text: str) -> None:
    assert columns.readable(value) == text
