from __future__ import annotations

import csv
import io
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_run import PROOFS, START, Made, build, cell, steady_load
from jtl_lines import error, wrong_answer
from rich.console import Console

from restbench.analyse import measures
from restbench.experiment import columns
from restbench.judge import study
from restbench.show import tables
from restbench.store.store import EXPERIMENTS, Run

LOAD = steady_load(users=10, elapsed_ms=50)  # 400 completions in 2 s: 200/s


@pytest.fixture
def run(tmp_path: Path) -> Run:
    pinned = steady_load(users=10, elapsed_ms=40)  # 250/s
    return build(
        tmp_path / "run",
        [
            Made(cell("java serial low 10"), LOAD),
            Made(cell("java pinned low 10"), [*pinned, error(START + 1)]),
            Made(cell("java serial low 30"), [*LOAD, wrong_answer(START + 1)]),
            Made(cell("java pinned low 30"), failed="the service | died"),
            Made(cell("python process-per-request low 10 core0"), LOAD),
        ],
    )


def rendered(run: Run) -> str:
    console = Console(width=100, file=io.StringIO(), record=True)
    rows = measures.rows(run)
    console.print(tables.terminal(rows, run.proofs(), study.decisions(run, rows)))
    return console.export_text()


def test_the_csv_has_a_line_a_cell_with_empty_fields_for_the_unknown(run: Run) -> None:
    tables.write(run)
    lines = run.test_matrix_csv.read_text().splitlines()
    assert lines[0] == ",".join((*columns.NAMES, *columns.ENDS))
    assert lines[1] == (
        "T-A01 T-D01,java,serial,unbound,none,low,10,loops,200.0,50.0,50.0,50.0,,,50.0,,400,0,"
        "0,4.75,95.0,5.0,51.5,100.0,0.5,1.0,2.0,0.25,46.25,10.0,0.05,400.0,,checkout,,,,,,"
    )
    records = list(csv.DictReader(lines))
    assert [record["throughput_per_s"] for record in records] == ["200.0", "", "250.0", "", "200.0"]
    void, failed = records[1], records[3]
    assert (void["wrong_answers"], void["samples"], void["mean_ms"]) == ("1", "400", "")
    assert (failed["samples"], failed["flags"]) == ("", "failed")


def test_the_rows_given_are_the_rows_written(run: Run) -> None:
    tables.write(run, measures.rows(run)[:1])
    assert len(run.test_matrix_csv.read_text().splitlines()) == 2


def test_a_cell_with_two_test_ids_stands_in_both_tables(run: Run) -> None:
    groups = {
        section.title: [(test_id, row.cell.id) for test_id, row in section.rows]
        for section in study.sections(measures.rows(run))
    }
    serial = "java-serial-unbound-low-10u"
    size = "low (30\u00d720 · 20\u00d720)"
    assert groups[f"T-A: {size}"][:2] == [
        ("T-A01", serial),
        ("T-A01", "java-pinned-unbound-low-10u"),
    ]
    assert groups[f"T-D: {size}"] == [("T-D01", serial)]
    assert groups["Cells outside the study's tables"] == [
        ("", "python-process-per-request-core0-low-10u")
    ]


def test_markdown_tells_numbers_proofs_flags_and_how_to_read_them(run: Run) -> None:
    tables.write(run)
    text = run.test_matrix_markdown.read_text()
    assert "| T-A01 | S serial | low | 10 | 200 | 50.0 | 50 | 50 |  |  | 4.75 | 95.0 |" in text
    assert "| PR process-per-request @core0 | low | 10 | 200 |" in text
    assert "| java | pinned | unbound | **DOES NOT** | one worker is bound to one core |" in text
    assert "- **Machine**: A processor, 2 cores" in text
    assert "no number has an interval over runs" in text
    assert "4 of 5 cells measured" in text
    for flag in ("errors", "wrong-answers", "failed"):
        assert f"- **{flag}**: " in text
    assert "- **steal**" not in text, "only flags that occur are explained"
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


def test_every_table_line_has_as_many_fields_as_its_head(run: Run) -> None:
    tables.write(run)
    block: list[int] = []
    for line in [*run.test_matrix_markdown.read_text().splitlines(), ""]:
        if line.startswith("|"):
            block.append(line.replace("\\|", "").count("|"))
        else:
            assert len(set(block)) <= 1
            block = []


def test_several_blocks_show_their_half_width(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    blocks = [Made(serial, LOAD), Made(serial, steady_load(10, 40), block=2)]
    run = build(tmp_path / "run", blocks)
    tables.write(run)
    # 200/s and 250/s: 225 with 12.7062 x 25 = 317.7.
    assert "| 225 ± 318 |" in run.test_matrix_markdown.read_text()
    assert "2; ± is the 95 % t interval over them" in run.test_matrix_markdown.read_text()


def test_a_half_width_is_never_rounded_to_nothing(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    slower = sorted([*LOAD[:-1], replace(LOAD[-1], elapsed_ms=99)], key=lambda each: each.end_ms)
    run = build(tmp_path / "run", [Made(serial, LOAD), Made(serial, slower, block=2)])
    (row,) = measures.rows(run)
    for metric in ("throughput_per_s", "mean_ms", "cpu_ms_per_request"):
        value, _, half_width = study.shown(row, metric).partition(" ± ")
        assert float(value) > 0
        interval = row.interval(metric)
        assert interval is not None
        assert float(half_width) > 0 or interval.half_width < 1e-3
    assert "±" not in study.shown(row, "samples"), "a count is a sum, not a mean"


def test_what_the_run_says_about_the_claims_is_the_last_thing_on_the_terminal(run: Run) -> None:
    assert "The study's claims" not in rendered(run), "this run was held against none"
    shutil.copy(EXPERIMENTS / "claims" / "thesis.toml", run.claims_file)
    text = rendered(run)
    assert max(map(len, text.splitlines())) <= 100
    claims = text.split("The study's claims, held against this run")[1]
    assert re.search(r"J3 +│.*│ not measured", claims)
    tables.write(run)
    markdown = run.test_matrix_markdown.read_text()
    assert "## The answer" in markdown
    assert "| J3 | At low, throughput S > AF > M | **not measured" in markdown


def test_the_terminal_shows_the_studys_tables_whole_in_100_columns(run: Run) -> None:
    text = rendered(run)
    assert max(map(len, text.splitlines())) <= 100
    assert "…" not in text
    assert re.search(r"T-A01 │ S serial  │ +10 │ +200 │ +50.0 │ +4.75 │ +95.0 │ +100 │", text), text
    assert "python" not in text.split("Do the strategies")[0], "not one of the study's tables"
    assert "1 more cells: tables/test-matrix.md" in text


def test_the_terminal_shows_the_proofs(run: Run) -> None:
    text = rendered(run)
    for proof, verdict in zip(PROOFS, ("DOES", "DOES NOT", "NOT PROVEN"), strict=True):
        (line,) = [each for each in text.splitlines() if proof.evidence in each]
        assert f"│ {verdict} " in line


def test_a_run_outside_the_study_shows_all_its_cells(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(cell("python process-per-request low 10"), LOAD)])
    text = rendered(run)
    assert "All cells" in text
    assert "PR process-per-request" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3, "3"),
        ("low", "low"),
        (0.01234, "0.012"),
        (1.2345, "1.23"),
        (12.345, "12.3"),
        (1234.5, "1234"),
    ],
)
def test_numbers_are_shown_with_three_digits_or_more(value: object, text: str) -> None:
    assert columns.readable(value) == text
