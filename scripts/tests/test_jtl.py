import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jtl_lines import CONNECTION_REFUSED, Sample, error, jtl, wrong_answer

from restbench.analyse import jtl as reader
from restbench.analyse.counted import Counted
from restbench.experiment.records import Window
from restbench.failures import BadConfiguration

START = 1_795_225_867_000
WINDOW = Window(start_ms=START, end_ms=START + 2_000, ended="enough")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "samples.jtl"
    path.write_text(text, encoding="utf-8")
    return path


def ends_in_window(completions: reader.Completions) -> list[int]:
    """Each once: no two samples of these tests end in the same millisecond."""
    window = completions.window
    return [
        end_ms
        for end_ms in completions.ended["end_ms"].to_list()
        if window.start_ms <= end_ms < window.end_ms
    ]


def every(counted: Counted) -> list[float]:
    return np.repeat(counted.values, counted.counts).tolist()


def test_a_sample_belongs_to_the_window_by_its_end_and_not_by_its_start(tmp_path: Path) -> None:
    samples = [
        Sample(START - 1, 500),  # ends before
        Sample(START, 500),  # starts before, ends at the first moment: inside
        Sample(START + 1_999, 3_000),  # starts long before: inside
        Sample(START + 2_000, 1),  # starts inside, ends at the end, which is outside
        Sample(START + 2_500, 1_000),  # starts inside, ends after
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    assert ends_in_window(completions) == [START, START + 1_999]
    assert every(completions.correct_ms) == [500, 3_000]


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
    assert completions.answered_in_load == 4, "two never reached the service"


def test_the_whole_load_is_counted_beside_the_window(tmp_path: Path) -> None:
    warm_up = [Sample(START - 900, 3), wrong_answer(START - 800), error(START - 700)]
    completions = reader.read(written(tmp_path, jtl([*warm_up, Sample(START, 1)])), WINDOW)
    assert completions.count("wrong-answer") == 0
    assert (completions.wrong_in_load, completions.answered_in_load) == (1, 4)


def test_the_kinds_of_a_mixed_load_are_told_apart_in_microseconds(tmp_path: Path) -> None:
    samples = [
        Sample(START + 1, 0, kind="low", elapsed_us=412),
        Sample(START + 2, 0, kind="low", elapsed_us=588),
        Sample(START + 3, 900, kind="huge", elapsed_us=900_250, bytes=7_000_000),
        Sample(START + 4, 900, kind="huge", elapsed_us=900_350, bytes=7_000_004),
        replace(error(START + 5), kind="low"),
        Sample(START - 5, 700, kind="huge", elapsed_us=700_000),
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    assert every(completions.correct_latency_ms("low")) == [0.412, 0.588]
    assert every(completions.correct_latency_ms("huge")) == [900.25, 900.35]
    assert completions.correct_latency_ms().size == 4
    assert completions.mean_of_all_ms == pytest.approx((0.412 + 0.588 + 900.25 + 900.35) / 4)
    assert completions.bytes_spread == 4, "answers of two kinds differ, those of one do not"


def test_a_load_that_tells_no_kinds_has_whole_milliseconds_and_none_of_a_kind(
    tmp_path: Path,
) -> None:
    completions = reader.read(written(tmp_path, jtl([Sample(START + 1, 3)])), WINDOW)
    assert every(completions.correct_latency_ms()) == [3]
    assert completions.correct_latency_ms("low").size == 0
    assert not completions.has_fine_clock


def test_stage_times_are_means_over_correct_completions_only(tmp_path: Path) -> None:
    timing = "queue;dur={}, parse;dur=2.000, compute;dur=30, serialize;dur=0.125"
    samples = [
        Sample(START + 1, 40, timing=timing.format("1.000")),
        Sample(START + 2, 40, timing=timing.format("2.500")),
        Sample(START + 3, 40, success=False, timing=timing.format("900.000")),
        Sample(START + 9_000, 40, timing=timing.format("900.000")),
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    means = [completions.stages_ms[stage] for stage in reader.STAGES]
    assert means == pytest.approx([1.75, 2, 30, 0.125])


def test_a_stage_that_no_response_told_has_no_mean(tmp_path: Path) -> None:
    completions = reader.read(written(tmp_path, jtl([Sample(START, 1, timing="")])), WINDOW)
    assert completions.stages_ms["compute"] is None


@pytest.mark.parametrize("lost", range(1, 200, 9))
def test_a_last_line_that_was_cut_off_is_dropped(tmp_path: Path, lost: int) -> None:
    whole = jtl([Sample(START + 1, 10), Sample(START + 2, 20)])
    cut = (whole + Sample(START + 3, 1234).line())[:-lost]
    expected = 2 if len(cut) >= len(whole) else 1
    path = written(tmp_path, cut)
    assert reader.read(path, WINDOW).completed == expected
    reader.write_window(path, tmp_path / "window.jtl", WINDOW)
    assert len((tmp_path / "window.jtl").read_text().splitlines()) == expected + 1


def test_a_file_cut_off_inside_a_quoted_line_break_loses_that_record_only(tmp_path: Path) -> None:
    before = jtl([Sample(START + 1, 10), wrong_answer(START + 2)])
    record = wrong_answer(START + 3).line()
    line_break_inside = record.index("\n") + 1
    for cut in (line_break_inside, line_break_inside + 3):
        completions = reader.read(written(tmp_path, before + record[:cut]), WINDOW)
        assert ends_in_window(completions) == [START + 1, START + 2]


def test_many_messages_with_line_breaks_are_read_exactly(tmp_path: Path) -> None:
    count = 20_000
    samples = [
        wrong_answer(START + n % 2_000) if n % 3 else Sample(START + n % 2_000, n % 50)
        for n in range(count)
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    assert completions.count("correct") == len(range(0, count, 3))
    assert completions.count("wrong-answer") == count - len(range(0, count, 3))


def test_the_windows_samples_are_copied_with_every_column(tmp_path: Path) -> None:
    inside = [Sample(START + 5, 10), wrong_answer(START + 6), error(START + 1_999)]
    path = written(tmp_path, jtl([Sample(START - 1, 3), *inside, Sample(START + 2_000, 3)]))
    reader.write_window(path, tmp_path / "window.jtl", WINDOW)
    with (tmp_path / "window.jtl").open(newline="", encoding="utf-8") as copy:
        copied = list(csv.reader(copy))
    with path.open(newline="", encoding="utf-8") as original:
        assert copied == [row for n, row in enumerate(csv.reader(original)) if n in (0, 2, 3, 4)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["samples.jtl", "window.jtl"]


def test_a_header_alone_is_a_file_without_completions(tmp_path: Path) -> None:
    assert reader.read(written(tmp_path, jtl([])), WINDOW).completed == 0


@pytest.mark.parametrize(
    ("text", "cause"),
    [("", "empty CSV"), ("no,such,columns\n1,2,3\n", "timeStamp"), (jtl([]) + "x,1\n", "`x`")],
)
def test_what_is_no_jtl_is_named(tmp_path: Path, text: str, cause: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadConfiguration, match=rf"samples\.jtl: not a JTL .*{cause}"):
        reader.read(path, WINDOW)
    with pytest.raises(BadConfiguration, match=rf"samples\.jtl: not a JTL .*{cause}"):
        reader.write_window(path, tmp_path / "window.jtl", WINDOW)
    assert [file.name for file in tmp_path.iterdir()] == ["samples.jtl"]


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
    assert every(completions.correct_ms) == [25, 26, 45, 53]
    assert (completions.answered_in_load, completions.wrong_in_load) == (12, 2)
    means = [completions.stages_ms[stage] for stage in reader.STAGES]
    assert means == pytest.approx([0.012, 1.234, 1.234, 0.345])


def test_stages_in_another_order_or_form_are_unknown_and_never_taken_for_each_other(
    tmp_path: Path,
) -> None:
    swapped = "parse;dur=1.0, queue;dur=2.0, compute;dur=3.0, serialize;dur=4.0"
    completions = reader.read(
        written(tmp_path, jtl([Sample(START, 20, timing=swapped), Sample(START, 20, timing="x")])),
        WINDOW,
    )
    told = [completions.stages_ms[stage] for stage in reader.STAGES]
    assert told == [None, None, 3, 4]
    assert completions.network_ms is None


def test_network_time_is_what_is_in_no_stage_of_the_responses_that_tell(tmp_path: Path) -> None:
    timing = "queue;dur=1.0, parse;dur=1.0, compute;dur=5.5, serialize;dur=0.5"
    samples = [
        Sample(START, 10, timing=timing),
        Sample(START, 12, timing=timing),
        Sample(START, 500, timing=""),
        error(START, elapsed_ms=900),
    ]
    completions = reader.read(written(tmp_path, jtl(samples)), WINDOW)
    assert completions.network_ms == pytest.approx((2 + 4) / 2)


def test_sizes_are_compared_without_the_stage_times_and_among_right_answers_only(
    tmp_path: Path,
) -> None:
    # Every sample has 59 bytes, so what differs is only the length of the stage times.
    samples = [Sample(START, 1, timing=""), Sample(START, 1, timing="abc"), wrong_answer(START)]
    assert reader.read(written(tmp_path, jtl(samples)), WINDOW).bytes_spread == 3


def test_a_load_starts_with_its_first_request_and_not_its_first_answer(tmp_path: Path) -> None:
    samples = [Sample(START + 5, 1), Sample(START + 10, 900)]
    assert reader.read(written(tmp_path, jtl(samples)), WINDOW).started_ms == START - 890
    assert reader.read(written(tmp_path, jtl([])), WINDOW).started_ms is None


def test_a_stamp_that_lost_digits_is_told_and_not_a_load_of_decades(tmp_path: Path) -> None:
    samples = [Sample(START + 1, 3), Sample(START // 1000, 3)]
    with pytest.raises(BadConfiguration, match=r"samples\.jtl: .* far from its window"):
        reader.read(written(tmp_path, jtl(samples)), WINDOW)
