"""The terminal: what is seen of a block while it runs, at any width; then the page's sentence, a
compact table, and no letter that needs a legend."""

from __future__ import annotations

import io
import re
import shutil
import time
from pathlib import Path

import pytest
from fixture_run import PROOFS, Made, build, cell, steady_load
from rich.console import Console
from shown_run import findings, printed
from trial_run import EXPERIMENT
from trial_run import build as build_trials

from restbench.commands import results
from restbench.judge import study
from restbench.show import document as doc
from restbench.show.progress import BlockProgress, ProgressView, duration
from restbench.show.terminal import MOST_LISTED, drawn
from restbench.store.store import EXPERIMENTS, Run
from restbench.store.writing import write_json

LONG = cell("python process-per-request rows-200 60 core0").id
LOAD = steady_load(users=10, elapsed_ms=50)  # 400 completions in 2 s: 200/s


@pytest.fixture
def run(tmp_path: Path) -> Run:
    pinned = steady_load(users=10, elapsed_ms=40)  # 250/s
    return build(
        tmp_path / "run",
        [
            Made(cell("java serial low 10"), LOAD),
            Made(cell("java pinned low 10"), pinned, errors=1),
            Made(cell("java pinned low 30"), failed="the service | died"),
        ],
    )


def test_it_begins_with_the_sentence_of_the_page(run: Run) -> None:
    answer = findings(run).run.answer
    assert answer is not None
    assert printed(run).startswith(answer.sentence)
    assert " ".join(answer.reasons) in " ".join(printed(run).split())


def test_the_table_has_every_cell_of_a_small_run_in_100_columns(run: Run) -> None:
    text = printed(run)
    assert max(map(len, text.splitlines())) <= 100
    assert "…" not in text
    assert re.search(r"Java +serial +30 rows +10 +200 +50.0 +4.75 +0.80", text), text
    assert re.search(r"Java +pinned +30 rows +10 +250 .* best", text)
    assert re.search(r"Java +pinned +30 rows +30 +no number", text)


@pytest.mark.parametrize(
    ("waiting", "told"), [(1, "1 cell needs more time: "), (2, "2 cells need more time: ")]
)
def test_cells_that_need_time_are_counted(
    run: Run, monkeypatch: pytest.MonkeyPatch, waiting: int, told: str
) -> None:
    monkeypatch.setattr(study, "not_measured", lambda _rows: ["a cell"] * waiting)
    assert f"\n{told}" in printed(run)


def test_a_technique_without_another_is_held_against_none(tmp_path: Path) -> None:
    alone, failed = (
        Made(cell("java serial low 10"), LOAD),
        Made(cell("java pinned low 10"), failed="it died"),
    )
    text = printed(build(tmp_path / "alone", [alone]))
    assert re.search(r"Java +serial +30 rows +10 +200 +50.0 +4.75", text)
    assert "not shown to be best" not in text
    said = " ".join(printed(build(tmp_path / "failed", [alone, failed])).split())
    assert "first, not shown to be best" in said, "the other one might be"


def test_settings_of_a_cell_are_told_whole_and_leave_room_for_its_numbers(tmp_path: Path) -> None:
    few, many = (f"RESTBENCH_PROCESSES=1,RESTBENCH_MAX_IN_FLIGHT={most}" for most in (64, 512))
    made = [Made(cell(f"java serial low 10 settings={each}"), LOAD) for each in (few, many)]
    text = printed(build(tmp_path / "run", made))
    assert max(map(len, text.splitlines())) <= 100
    assert "…" not in text
    said = " ".join(text.split())
    for each in (few, many):
        assert said.count(each.replace(",", ", ")) == 1
    assert len(re.findall(r"Java +serial, .*30 rows +10 +200 +50.0 +4.75", text)) == 2, text


def test_a_word_that_is_longer_than_its_column_is_folded_and_not_cut() -> None:
    levels = [f"RESTBENCH_MAX_IN_FLIGHT={most}" for most in (64, 512)]
    columns = [doc.Column("Messages", str), doc.Column("What else there is", lambda _each: "many")]
    screen = io.StringIO()
    Console(file=screen, width=30).print(drawn(doc.table("", columns, levels)))
    lines = screen.getvalue().split("Messages")[1].splitlines()[1:]
    assert "".join(line.split("  ")[0] for line in lines) == "".join(levels)


def test_a_large_run_has_a_line_for_each_size_and_users_with_its_intervals(tmp_path: Path) -> None:
    users = range(1, MOST_LISTED)
    cells = EXPERIMENT.replace("users = [10, 30]", f"users = {[*users]}")
    per_s = {
        f"java {strategy} low {number}": [base, base * 1.01, base * 0.99]
        for strategy, base in (("serial", 200.0), ("pinned", 100.0))
        for number in users
    }
    run = build_trials(tmp_path / "run", per_s, experiment=cells, claims=None)
    lines = [line for line in printed(run).splitlines() if line.startswith("Java  ")]
    assert len(lines) == len(users)
    assert re.search(r"Java +30 rows +1 +serial +200 \[1\d\d, 20\d\] +2.00 \[.*\] +yes", lines[0])


def test_only_decided_claims_are_listed_and_the_others_counted(run: Run) -> None:
    assert "Claims" not in printed(run), "this run was held against none"
    shutil.copy(EXPERIMENTS / "claims" / "thesis.toml", run.claims_file)
    text = printed(run)
    assert max(map(len, text.splitlines())) <= 100
    assert "J3 " not in text
    assert re.search(r"\d+ claims are not decided: the page says what it would take", text)


def test_proofs_that_hold_take_no_line_of_their_own(run: Run) -> None:
    text = " ".join(printed(run).split())
    holding, refuted, unseen = PROOFS
    assert holding.evidence not in text
    assert f"DOES NOT java pinned, {refuted.claim}: {refuted.evidence}" in text
    assert f"NOT PROVEN python process-per-request, {unseen.claim}" in text
    another = holding.model_dump() | {"strategy": "pinned"}
    write_json(run.proofs_file, [holding.model_dump(), another])
    assert "All 2 techniques do what their names say, as observed in the kernel." in " ".join(
        printed(run).split()
    )


def test_the_last_line_says_where_the_page_is(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    results.build_report(str(run.path))
    assert capsys.readouterr().out.splitlines()[-1].split() == ["page", str(run.report)]


def test_what_failed_is_said_in_words(run: Run) -> None:
    assert "FAILED  java-pinned-unbound-low-30u, block 1: the service | died" in printed(run)


@pytest.mark.parametrize("width", [40, 60, 120])
def test_the_view_fits_terminals_of_any_width(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, height=20)
    with ProgressView(console) as view:
        view.show(
            BlockProgress(
                3, done=17, planned=1_800, cell=LONG, per_s=6675.4, until=time.monotonic() + 90
            )
        )
        view._bar.refresh()
        shown = [
            "".join(segment.text for segment in line)
            for line in console.render_lines(view._bar.get_renderable())
        ]
    assert max(map(len, shown)) <= width
    assert len(shown) == 2
    assert "17/1800" in shown[0]
    assert shown[1].startswith("block 3  python-process-per-re")


def test_where_there_is_no_terminal_a_look_prints_nothing_and_a_note_does() -> None:
    screen = io.StringIO()
    with ProgressView(Console(file=screen, width=100)) as view:
        view.show(BlockProgress(1, cell=LONG))
        assert screen.getvalue() == ""
        view.note("block 1: warm after 9 s")
    assert screen.getvalue() == "block 1: warm after 9 s\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(48, "48 s"), (725, "12 min 05 s"), (3_720, "1 h 02 min"), (-3, "0 s")]
)
def test_times_are_for_reading(seconds: float, text: str) -> None:
    assert duration(seconds) == text
