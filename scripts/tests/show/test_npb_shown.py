"""How NAS kernels are shown: page, terminal, charts."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from drawn import data_of
from npb_rows import cell, claims_on, lost, row, row_of
from npb_shown import exported_of, scaled, shown
from rich.console import Console
from shown_run import part_of

from restbench.analyse.measures import Row
from restbench.drive.npb_runs import read_answer
from restbench.experiment.npb import Work
from restbench.failures import WrongAnswers
from restbench.judge import claims
from restbench.show import files, report, terminal
from restbench.show.charts import npb as pictures
from restbench.show.charts import theme
from restbench.show.document import Link, Table
from restbench.show.kinds import npb
from restbench.store import store

ANSWERS = store.ROOT / "contract" / "examples"
BLOCKS = [(2.0, 1.0, 1.0), (2.2, 1.0, 1.1), (1.9, 1.0, 0.9)]


def page_of(rows: list[Row]) -> str:
    return report.html(shown(rows), "assets")


def refused() -> Row:
    why = "class: FT needs 1077 MiB, the limit is 900 MiB"
    return row_of(cell("FT-B"), [], (lost(cell("FT-B"), "refused", why),))


def line_of(rows: list[Row], kernel: str, npb_class: str) -> list[str]:
    """The fields of a kernel's row in the table of times."""
    found = shown(rows)
    section = npb.page(found, npb.of(found))
    assert section is not None
    tables = [each for each in section.parts if isinstance(each, Table)]
    for fields in tables[0].rows:
        texts = [each.content for each in fields]
        if isinstance(texts[0], Link) and (texts[0].text, texts[1]) == (kernel, npb_class):
            return [each if isinstance(each, str) else "" for each in texts]
    raise AssertionError(f"no row of {kernel} {npb_class}")


def test_the_page_has_the_four_times_next_to_the_published_ones() -> None:
    rows = [row(cell("CG-A"), BLOCKS)]
    line = line_of(rows, "CG", "A")
    assert line[2:6] == ["2", "1", "1", "1.75"]
    assert line[8] == "yes"
    assert line[9].startswith("0.491 [")
    assert line[12:16] == ["1.07", "1.03", "1447", "0.965"]
    assert "Intel i7-4770K" in part_of(page_of(rows), "npb")


def test_the_sentence_says_what_the_service_costs_and_the_picture_shows_each_kernel() -> None:
    found = shown([row(cell("CG-A"), BLOCKS)])
    answer = found.run.answer
    assert answer is not None
    assert answer.sentence == (
        "A NAS kernel takes 1.00 (Java serial) times as long in the service as in a warm process "
        "of its own."
    )
    assert "over 3 blocks" in answer.reasons[0]
    assert found.first is not None
    assert found.first.chart.name == "npb-cost"
    records = theme.spec(found.first.chart)["datasets"].values()
    (point,) = [each for every in records for each in every if each.get("cell")]
    assert point["value"] == pytest.approx(1.0, abs=0.02)


def test_cells_of_fewer_blocks_are_among_those_that_the_intervals_are_over() -> None:
    def told(*others: Row) -> str:
        return npb.sure(npb.of(shown([row(cell("CG-A"), BLOCKS), *others])))

    assert told().endswith("; each ratio has its 95 % interval over 3 blocks.")
    assert told(row(cell("MG-W"), BLOCKS[:2])).endswith("95 % interval over 2 to 3 blocks.")
    alone = "over 1 to 3 blocks, except those of one block."
    assert told(row(cell("MG-W"), BLOCKS[:1])).endswith(alone)


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (0.0123456, "0.0123"), (999.4, "999"), (999.6, "1000")]
)
def test_times_have_three_digits_and_no_power_of_ten(value: float | None, text: str) -> None:
    assert npb.rounded(value) == text


def test_what_the_study_has_not_published_stays_empty() -> None:
    assert line_of([row(cell("MG-W"), BLOCKS)], "MG", "W")[12:16] == ["", "", "", ""]


def test_a_refused_class_is_said_to_be_refused_and_why() -> None:
    rows = [row(cell("FT-A"), BLOCKS), refused()]
    assert line_of(rows, "FT", "B")[2:9] == ["", "", "", "", "", "", "refused"]
    assert "class: FT needs 1077 MiB, the limit is 900 MiB" in page_of(rows)


def test_a_cell_that_was_not_reached_is_shown_and_drawn_nowhere() -> None:
    rows = [row(cell("CG-A"), BLOCKS), row_of(cell("IS-A"), []), row_of(cell("CG-A-on-1"), [])]
    assert line_of(rows, "IS", "A")[2:9] == ["", "", "", "", "", "", "not measured"]
    assert pictures.by_cores(rows, is_speed_up=False) is None


def test_the_table_for_programs_has_the_ratios_with_their_ends() -> None:
    found = npb.of(shown([row(cell("CG-A"), BLOCKS), refused()]))
    written = [npb._record(row, found.published) for row in found.rows]
    first, second = csv.DictReader(files.as_csv(written).splitlines())
    assert (first["blocks"], first["verified"], second["verified"]) == ("3", "yes", "refused")
    ends = [float(first[f"service_per_fresh{end}"]) for end in ("_low", "", "_high")]
    assert ends == sorted(ends)
    assert ends[1] == pytest.approx(0.491, abs=5e-4)
    assert (first["study_ratio"], second["fresh_s"]) == (str(1.034 / 1.071), "")


def test_the_claims_are_decided_from_the_runs_file_alone() -> None:
    rows = [row(cell("CG-A"), BLOCKS)]
    expected = claims.decide(claims_on("CG-A"), rows, ())
    found = claims.decisions_of(exported_of(rows))
    assert [each.id for each in found] == [
        "N1",
        "N1-fair",
        "N1-client",
        "N1-soap",
        "N1-soap-fair",
        "N2",
    ]
    ours = next(part for part in found[0].parts if part.cells == expected[0].parts[0].cells)
    assert ours.verdict == expected[0].parts[0].verdict == "reproduced"


def test_a_page_without_a_decided_claim_does_not_ask_to_open_one() -> None:
    text = part_of(page_of([row(cell("CG-A"), BLOCKS)]), "claims")
    assert "decides none" in text
    assert "Open a claim" not in text


def test_the_terminal_shows_every_row_in_100_columns() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(terminal.render(shown([row(cell("CG-A"), BLOCKS), refused()])))
    text = console.export_text()
    assert text.startswith("A NAS kernel takes 1.00 (Java serial) times as long")
    assert "CG-A" in text
    assert "FT-B" in text
    assert "…" not in text


def test_the_figures_have_a_line_a_technique_and_a_point_a_number_of_cores() -> None:
    rows = [
        *scaled("java", "shared-pool", {1: 4.0, 2: 2.0}),
        *scaled("python", "process-per-element", {1: 6.0, 2: 4.0}),
    ]
    _, time, speed_up = pictures.charts(rows)
    assert time is not None and speed_up is not None
    seconds, ups = (
        {(each["series"], each["x"]): each["y"] for each in data_of(chart)}
        for chart in (time, speed_up)
    )
    assert seconds == {
        ("Java shared-pool", 1): pytest.approx(4.0),
        ("Java shared-pool", 2): pytest.approx(2.0),
        ("Python process-per-element", 1): pytest.approx(6.0),
        ("Python process-per-element", 2): pytest.approx(4.0),
    }
    assert data_of(time)[0]["name"] == "Java shared-pool, 1 core"
    assert ups["Java shared-pool", 2] == pytest.approx(2.0)
    assert ups["Python process-per-element", 2] == pytest.approx(1.5)


def test_the_services_never_look_alike_and_a_technique_looks_the_same_in_every_figure() -> None:
    rows = [
        row(cell("CG-A"), BLOCKS),
        row(cell("CG-A", "python", "serial"), BLOCKS),
        *scaled("java", "shared-pool", {1: 4.0, 2: 2.0}),
        *scaled("python", "serial", {1: 6.0, 2: 4.0}),
    ]
    looks = dict[str, tuple[str, str]]()
    for chart in pictures.charts(rows):
        assert chart is not None
        assert chart.series is not None
        its = {label: theme.style(number) for label, number in chart.series.items()}
        assert looks | its == its | looks
        looks |= its
    assert set(looks) == {"Java serial", "Python serial", "Java shared-pool"}
    assert len({colour for colour, _ in looks.values()}) == len(looks)
    assert len({shape for _, shape in looks.values()}) == len(looks)


def test_the_axis_of_cores_has_whole_numbers() -> None:
    _, time, _ = pictures.charts(scaled("java", "shared-pool", {1: 4.0, 2: 2.0}))
    assert time is not None
    words = re.findall(r"<text[^>]*>([^<]*)</text>", theme.svg(time))
    assert {"1", "2"} <= set(words)
    assert not {"1.0", "2.0"} & set(words)


def test_without_one_core_there_is_no_figure() -> None:
    assert pictures.charts(scaled("java", "shared-pool", {2: 2.0})) == [None, None, None]
    assert pictures.by_cores([row(cell("CG-A"), BLOCKS)], is_speed_up=False) is None


@pytest.mark.parametrize("kernel", ["IS", "CG", "MG", "FT"])
def test_the_contracts_own_answers_are_read(kernel: str) -> None:
    example = json.loads((ANSWERS / f"ok-npb-{kernel.lower()}.json").read_text())
    answer = read_answer(json.dumps(example["response"]), Work(kernel, "S"))
    assert answer.kernel_seconds == example["response"]["kernelSeconds"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"verified": False}, "not verified"),
        ({"class": "A"}, "the answer is for CG-A"),
        ({"kernel": "IS"}, "the answer is for IS-S"),
        ({"kernelSeconds": 0}, "not an answer of a kernel"),
        ({"mops": None}, "not an answer of a kernel"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_wrong(
    changed: dict[str, object], message: str
) -> None:
    example = json.loads((ANSWERS / "ok-npb-cg.json").read_text())["response"]
    with pytest.raises(WrongAnswers, match=message):
        read_answer(json.dumps(example | changed), Work("CG", "S"))
