"""How NAS kernels are shown: page, terminal, figures."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from npb_rows import SHIPPED, cell, claims_on, lost, row, row_of, trial
from rich.console import Console

from restbench.analyse.exported import block_entries, cell_entry
from restbench.analyse.measures import Row
from restbench.drive.npb_direct import read_answer
from restbench.experiment.npb import Work
from restbench.failures import WrongAnswers
from restbench.judge import claims
from restbench.judge.claims import Decision
from restbench.show import npb, npb_figure, npb_terminal
from restbench.show.npb import Findings
from restbench.store import store
from restbench.store.exported import (
    ExperimentEntry,
    Exported,
    MachineEntry,
    ManifestEntry,
    VersionsEntry,
)
from restbench.store.store import Run

ANSWERS = store.ROOT / "contract" / "examples"
BLOCKS = [(2.0, 1.0, 1.0), (2.2, 1.0, 1.1), (1.9, 1.0, 0.9)]
MACHINE = {"processor": "A", "cores_online": 2, "memory_mib": 1024, "system": "B", "kernel": "6"}
CLAIMS = SHIPPED.parent / "claims" / "npb.toml"


def exported_of(rows: list[Row]) -> Exported:
    """A run's file with these rows."""
    return Exported(
        form=1,
        run="made-up",
        experiment=ExperimentEntry(
            name="npb",
            title="Kernels",
            profile="quick",
            toml=SHIPPED.read_text(),
            claims_toml=CLAIMS.read_text(),
        ),
        manifest=ManifestEntry(
            command="",
            git_commit="",
            git_dirty=False,
            seed=1,
            status="complete",
            started="",
            minutes=20,
        ),
        machine=MachineEntry.model_validate(MACHINE),
        versions=VersionsEntry(java="17", python="3.11"),
        claims=(),
        cells=tuple(map(cell_entry, rows)),
        blocks=tuple(block_entries(rows)),
        series=(),
        proofs=(),
    )


def found_of(rows: list[Row]) -> Findings:
    return npb.findings(exported_of(rows))


def refused() -> Row:
    why = "class: FT needs 1077 MiB, the limit is 900 MiB"
    return row_of(cell("FT-B"), [], (lost(cell("FT-B"), "refused", why),))


def line_of(page: str, kernel: str, npb_class: str) -> list[str]:
    (line,) = [each for each in page.splitlines() if each.startswith(f"| {kernel} | {npb_class} |")]
    return [each.strip() for each in line.strip("|").split("|")]


def test_the_page_has_the_four_times_next_to_the_published_ones() -> None:
    page = npb.document(found_of([row(cell("CG-A"), BLOCKS)]))
    line = line_of(page, "CG", "A")
    assert line[:6] == ["CG", "A", "2", "1", "1", "1.75"]
    assert line[8] == "yes"
    assert line[9].startswith("0.491 [")
    assert line[12:16] == ["1.07", "1.03", "1447", "0.965"]
    assert "Intel i7-4770K" in page
    assert "another machine" in page


def test_what_the_study_has_not_published_stays_empty() -> None:
    page = npb.document(found_of([row(cell("MG-W"), BLOCKS)]))
    assert line_of(page, "MG", "W")[12:16] == ["", "", "", ""]


def test_a_refused_class_is_said_to_be_refused_and_why() -> None:
    page = npb.document(found_of([row(cell("FT-A"), BLOCKS), refused()]))
    line = line_of(page, "FT", "B")
    assert line[2:9] == ["", "", "", "", "", "", "refused"]
    assert "block 1: refused: class: FT needs 1077 MiB, the limit is 900 MiB" in page


def test_a_cell_that_was_not_reached_is_shown_and_drawn_nowhere() -> None:
    rows = [row(cell("CG-A"), BLOCKS), row_of(cell("IS-A"), []), row_of(cell("CG-A-on-1"), [])]
    page = npb.document(found_of(rows))
    assert line_of(page, "IS", "A")[2:9] == ["", "", "", "", "", "", "not measured"]
    assert "**not-measured**: Planned, but" in page
    assert npb_figure.time_chart(rows) is None


def test_the_table_for_programs_has_the_ratios_with_their_ends(tmp_path: Path) -> None:
    run = Run(tmp_path)
    npb.write(run, found_of([row(cell("CG-A"), BLOCKS), refused()]))
    first, second = csv.DictReader(run.npb_csv.read_text().splitlines())
    assert (first["blocks"], first["verified"], second["verified"]) == ("3", "yes", "refused")
    ends = [float(first[f"service_per_fresh{end}"]) for end in ("_low", "", "_high")]
    assert ends == sorted(ends)
    assert ends[1] == pytest.approx(0.491, abs=5e-4)
    assert (first["study_ratio"], second["fresh_s"]) == (str(1.034 / 1.071), "")


def test_the_claims_are_decided_from_the_runs_file_alone() -> None:
    rows = [row(cell("CG-A"), BLOCKS)]
    expected: list[Decision] = claims.decide(claims_on("CG-A"), rows, ())
    found = found_of(rows).decisions
    assert [each.id for each in found] == ["N1", "N1-fair", "N1-client"]
    ours = next(part for part in found[0].parts if part.cells == expected[0].parts[0].cells)
    assert ours.verdict == expected[0].parts[0].verdict == "reproduced"


def test_the_terminal_shows_every_row_and_the_claims_last() -> None:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(npb_terminal.show(found_of([row(cell("CG-A"), BLOCKS), refused()])))
    shown = console.export_text()
    assert "CG-A" in shown
    assert "FT-B" in shown
    assert shown.index("N1-client") > shown.index("FT-B")
    assert "…" not in shown


def scaled(service: str, strategy: str, seconds: dict[int, float]) -> list[Row]:
    cells = {cores: cell(f"CG-A-on-{cores}", service, strategy) for cores in seconds}
    return [
        row_of(each, [trial(each, n, [9.0, seconds[cores]], []) for n in (1, 2)])
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
    (panel,) = time.panels
    assert panel.title == "CG, class A"
    assert [[(p.x, p.y) for p in line.points] for line in panel.lines] == [
        [(1, pytest.approx(4.0)), (2, pytest.approx(2.0))],
        [(1, pytest.approx(6.0)), (2, pytest.approx(4.0))],
    ]
    ups = [[p.y for p in line.points] for line in speed_up.panels[0].lines]
    assert ups == [
        [pytest.approx(1.0), pytest.approx(2.0)],
        [pytest.approx(1.0), pytest.approx(1.5)],
    ]


def test_without_one_core_there_is_no_figure() -> None:
    assert npb_figure.time_chart(scaled("java", "shared-pool", {2: 2.0})) is None
    assert npb_figure.time_chart([row(cell("CG-A"), BLOCKS)]) is None


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
