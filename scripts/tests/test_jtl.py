from pathlib import Path

import pytest
from jtl_lines import CONNECTION_REFUSED, Sample, error, jtl, wrong_answer

from restbench.analyse import jtl as reader
from restbench.experiment.records import Window
from restbench.failures import BadConfiguration

START = 1_795_225_867_000
WINDOW = Window(start_ms=START, end_ms=START + 2_000, ended="enough")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "samples.jtl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_sample_belongs_to_the_window_by_its_end_and_not_by_its_start(tmp_path: Path) -> None:
    samples = [
        Sample(START - 1, 500),  # ends before
        Sample(START, 500),  # starts before, ends at the first moment: inside
        Sample(START + 1_999, 3_000),  # starts long before: inside
        Sample(START + 2_000, 1),  # starts inside, ends at the end, which is outside
        Sample(START + 2_500, 1_000),  # starts inside, ends after
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    assert completions.count("correct") == 2


def test_outcomes_are_told_apart(tmp_path: Path) -> None:
    samples = [
        Sample(START + 1, 3),
        Sample(START + 2, 4),
        wrong_answer(START + 3),
        error(START + 4),
        error(START + 5, code=CONNECTION_REFUSED),
        error(START + 6, code=""),
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    counts = [completions.count(outcome) for outcome in ("correct", "wrong-answer", "error")]
    assert counts == [2, 1, 3]


def test_the_whole_load_is_counted_beside_the_window(tmp_path: Path) -> None:
    warm_up = [Sample(START - 900, 3), wrong_answer(START - 800), error(START - 700)]
    completions = reader.read(written(tmp_path, jtl([*warm_up, Sample(START, 1)])), WINDOW)
    assert completions.count("wrong-answer") == 0
    assert completions.wrong_in_load == 1


@pytest.mark.parametrize("lost", range(1, 200, 9))
def test_a_last_line_that_was_cut_off_is_dropped(tmp_path: Path, lost: int) -> None:
    whole = jtl([Sample(START + 1, 10), Sample(START + 2, 20)])
    cut = (whole + Sample(START + 3, 1234).line())[:-lost]
    expected = 2 if len(cut) >= len(whole) else 1
    assert reader.read(written(tmp_path, cut), WINDOW).count("correct") == expected


def test_a_file_cut_off_inside_a_quoted_line_break_loses_that_record_only(tmp_path: Path) -> None:
    before = jtl([Sample(START + 1, 10), wrong_answer(START + 2)])
    record = wrong_answer(START + 3).line()
    line_break_inside = record.index("\n") + 1
    for cut in (line_break_inside, line_break_inside + 3):
        completions = reader.read(written(tmp_path, before + record[:cut]), WINDOW)
        assert completions.outcomes == {"correct": 1, "wrong-answer": 1}


def test_many_messages_with_line_breaks_are_read_exactly(tmp_path: Path) -> None:
    count = 20_000
    samples = [
        wrong_answer(START + n % 2_000) if n % 3 else Sample(START + n % 2_000, n % 50)
        for n in range(count)
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    assert completions.count("correct") == len(range(0, count, 3))
    assert completions.count("wrong-answer") == count - len(range(0, count, 3))


def test_a_header_alone_is_a_file_without_completions(tmp_path: Path) -> None:
    assert reader.read(written(tmp_path, jtl([])), WINDOW).outcomes == {}


@pytest.mark.parametrize(
    ("text", "cause"),
    [("", "empty CSV"), ("no,such,columns\n1,2,3\n", "timeStamp"), (jtl([]) + "x,1\n", "`x`")],
)
def test_what_is_no_jtl_is_named(tmp_path: Path, text: str, cause: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadConfiguration, match=rf"samples\.jtl: not a JTL .*{cause}"):
        reader.read(path, WINDOW)
    assert reader.wrong_answers(path) == 0


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"samples\.jtl: cannot be read: No such file"):
        reader.read(tmp_path / "samples.jtl", WINDOW)


def test_a_real_jtl_is_read_as_it_was_served() -> None:
    """Recorded with JMeter 5.6.3: two users' 2nd answers were wrong, their 4th were 503, and one
    request found no service. The window is cut by hand between two ENDs that lie 2 ms apart."""
    start = 1_795_228_306_770
    window = Window(start_ms=start, end_ms=start + 85, ended="enough")
    completions = reader.read(Path(__file__).parent / "fixtures" / "samples.jtl", window)
    counts = [completions.count(outcome) for outcome in ("correct", "wrong-answer", "error")]
    assert counts == [4, 2, 1]
    assert completions.wrong_in_load == 2
