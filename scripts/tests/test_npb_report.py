"""How an NPB run is told: page, terminal, figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drawn import data_of
from npb_rows import cell, measurement, row
from rich.console import Console

from restbench.analyse.npb_results import NpbRow
from restbench.drive.npb_direct import read_answer
from restbench.experiment import npb_published
from restbench.experiment.npb_work import Work
from restbench.experiment.records import Manifest
from restbench.failures import WrongAnswers
from restbench.judge import npb
from restbench.judge.claims import Decision
from restbench.show import npb_figure, npb_report, npb_terminal
from restbench.show.charts import theme
from restbench.show.npb_report import Findings
from restbench.store import store
from restbench.store.store import Run
from restbench.store.writing import write_model

ANSWERS = store.ROOT / "contract" / "examples"
PUBLISHED = npb_published.load(store.EXPERIMENTS / "published" / "npb.toml")
ROUNDS = [(2.0, 1.0, 1.0), (2.2, 1.0, 1.1), (1.9, 1.0, 0.9)]


def found_of(rows: list[NpbRow]) -> Findings:
    claims = npb.load(store.EXPERIMENTS / "claims" / "npb.toml")
    decisions: list[Decision] = npb.decide(claims, rows, PUBLISHED, ())
    return Findings(rows, decisions, PUBLISHED)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    found = Run(tmp_path)
    manifest = Manifest(
        run="made-up",
        experiment="npb",
        profile="quick",
        title="Kernels",
        seed=1,
        started="",
        status="complete",
        git_commit="",
        git_dirty=False,
        command="",
        plan=(),
    )
    write_model(found.manifest_file, manifest)
    return found


def refused() -> NpbRow:
    of = cell("FT-B")
    record = measurement(of, 1, [], [])
    told = {"status": "refused", "reason": "class: FT needs 1077 MiB, the limit is 900 MiB"}
    return NpbRow(of, (record.model_copy(update=told),))


def line_of(page: str, kernel: str, npb_class: str) -> list[str]:
    (line,) = [each for each in page.splitlines() if each.startswith(f"| {kernel} | {npb_class} |")]
    return [each.strip() for each in line.strip("|").split("|")]


def test_the_page_has_the_four_times_beside_the_published_ones(run: Run) -> None:
    page = npb_report.document(run, found_of([row(cell("CG-A"), ROUNDS)]))
    line = line_of(page, "CG", "A")
    assert line[:6] == ["CG", "A", "2", "1", "1", "1.75"]
    assert line[8] == "yes"
    assert line[9].startswith("0.491 [")
    assert line[12:16] == ["1.07", "1.03", "1447", "0.965"]
    assert "Intel i7-4770K" in page
    assert "another machine" in page


def test_what_the_study_has_not_published_stays_empty(run: Run) -> None:
    page = npb_report.document(run, found_of([row(cell("MG-W"), ROUNDS)]))
    assert line_of(page, "MG", "W")[12:16] == ["", "", "", ""]


def test_a_refused_class_is_said_to_be_refused_and_why(run: Run) -> None:
    page = npb_report.document(run, found_of([row(cell("FT-A"), ROUNDS), refused()]))
    line = line_of(page, "FT", "B")
    assert line[2:9] == ["", "", "", "", "", "", "refused"]
    assert "round 1: refused: class: FT needs 1077 MiB, the limit is 900 MiB" in page


def test_a_cell_that_was_not_reached_is_told_and_drawn_nowhere(run: Run) -> None:
    rows = [row(cell("CG-A"), ROUNDS), NpbRow(cell("IS-A"), ()), NpbRow(cell("CG-A-on-1"), ())]
    page = npb_report.document(run, found_of(rows))
    assert line_of(page, "IS", "A")[2:9] == ["", "", "", "", "", "", "not measured"]
    assert "**not-measured**: Planned, but" in page
    assert npb_figure.time_chart(rows) is None


def test_the_terminal_shows_every_row_and_the_claims_last() -> None:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(npb_terminal.show(found_of([row(cell("CG-A"), ROUNDS), refused()])))
    shown = console.export_text()
    assert "CG-A" in shown
    assert "FT-B" in shown
    assert shown.index("N1-client") > shown.index("FT-B")
    assert "…" not in shown


def scaled(service: str, strategy: str, seconds: dict[int, float]) -> list[NpbRow]:
    cells = {cores: cell(f"CG-A-on-{cores}", service, strategy) for cores in seconds}
    return [
        NpbRow(each, tuple(measurement(each, n, [9.0, seconds[cores]], []) for n in (1, 2)))
        for cores, each in cells.items()
    ]


def test_the_figures_have_a_line_a_technique_and_a_point_a_number_of_cores() -> None:
    rows = [
        *scaled("java", "shared-pool", {1: 4.0, 2: 2.0}),
        *scaled("python", "process-per-element", {1: 6.0, 2: 4.0}),
    ]
    time, speed_up = npb_figure.time_chart(rows), npb_figure.speed_up_chart(rows)
    assert time is not None
    assert speed_up is not None
    (panel,) = theme.spec(time)["concat"]
    assert panel["title"] == "CG, class A"
    assert [(each["series"], each["x"], each["y"]) for each in data_of(time)] == [
        ("java shared-pool", 1, pytest.approx(4.0)),
        ("java shared-pool", 2, pytest.approx(2.0)),
        ("python process-per-element", 1, pytest.approx(6.0)),
        ("python process-per-element", 2, pytest.approx(4.0)),
    ]
    ups = [each["y"] for each in data_of(speed_up)]
    assert ups == [pytest.approx(each) for each in (1.0, 2.0, 1.0, 1.5)]
    assert all("low" in each for each in data_of(time)), "of two rounds"


def test_without_one_core_there_is_no_figure() -> None:
    assert npb_figure.time_chart(scaled("java", "shared-pool", {2: 2.0})) is None
    assert npb_figure.time_chart([row(cell("CG-A"), ROUNDS)]) is None


@pytest.mark.parametrize("kernel", ["IS", "CG", "MG", "FT"])
def test_the_contracts_own_answers_are_read(kernel: str) -> None:
    example = json.loads((ANSWERS / f"ok-npb-{kernel.lower()}.json").read_text())
    answer = read_answer(json.dumps(example["response"]), Work(kernel, "S"))
    assert answer.kernel_seconds == example["response"]["kernelSeconds"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"verified": False}, "not verified"),
        ({"class": "A"}, "the answer is of CG-A"),
        ({"kernel": "IS"}, "the answer is of IS-S"),
        ({"kernelSeconds": 0}, "no answer of a kernel"),
        ({"mops": None}, "no answer of a kernel"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_wrong(
    changed: dict[str, object], message: str
) -> None:
    example = json.loads((ANSWERS / "ok-npb-cg.json").read_text())["response"]
    with pytest.raises(WrongAnswers, match=message):
        read_answer(json.dumps(example | changed), Work("CG", "S"))
