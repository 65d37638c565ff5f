"""Reading the JTL of an open load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from restbench.analyse import open_samples
from restbench.analyse.counted import Counted
from restbench.analyse.open_samples import Answered
from restbench.experiment.arrivals import as_text
from restbench.failures import BadConfiguration
from restbench.machine import whole_lines

START_MS = 1_700_000_000_000
HEADER = 'timeStamp,elapsed,responseCode,success,failureMessage,"arrival","intended_ms"\n'


def line(
    arrival: int,
    offset: int,
    *,
    late: int = 0,
    elapsed: int = 5,
    code: str = "200",
    ok: str = "true",
) -> str:
    intended = START_MS + offset
    return f'{intended + late},{elapsed},{code},{ok},"a ""b"",\nc",{arrival},{intended}\n'


def answered(
    folder: Path, offsets: list[int], lines: list[str], window_ms: tuple[int, int] = (0, 1000)
) -> Answered:
    (folder / "samples.jtl").write_text(HEADER + "".join(lines))
    (folder / "arrivals.csv").write_text(as_text(np.array(offsets)))
    return open_samples.read(folder / "samples.jtl", folder / "arrivals.csv", window_ms)


def every(counted: Counted) -> list[float]:
    return np.repeat(counted.values, counted.counts).tolist()


def test_latency_counts_from_the_intended_moment(tmp_path: Path) -> None:
    found = answered(tmp_path, [10, 20], [line(1, 10), line(2, 20, late=300, elapsed=7)])
    assert every(found.correct_ms) == [5, 307]
    assert every(found.from_sending_ms) == [5, 7]
    assert every(found.lateness_ms) == [0, 300]
    assert found.unsent == 0


def test_an_arrival_without_a_sample_is_unsent_and_slower_than_any_other(tmp_path: Path) -> None:
    offsets = list(range(100))
    found = answered(tmp_path, offsets, [line(n + 1, n) for n in range(94)])
    assert found.unsent == 6
    assert found.latency_ms.supported_percentile(50) == 5
    almost = answered(tmp_path, list(range(400)), [line(n + 1, n) for n in range(359)])
    assert almost.latency_ms.supported_percentile(90) == float("inf")


def test_a_percentile_that_the_count_does_not_support_is_none(tmp_path: Path) -> None:
    found = answered(tmp_path, list(range(200)), [line(n + 1, n) for n in range(200)])
    assert found.latency_ms.supported_percentile(50) == 5
    assert found.latency_ms.supported_percentile(95) is None


def test_only_the_windows_arrivals_count(tmp_path: Path) -> None:
    offsets = [50, 100, 199, 200]
    found = answered(
        tmp_path, offsets, [line(n + 1, at) for n, at in enumerate(offsets)], (100, 200)
    )
    assert found.arrivals == 2
    assert found.correct_ms.size == 2
    assert found.ended_in_window == 1
    assert found.achieved_per_s == 10


def test_errors_are_no_latency_and_a_wrong_answer_counts_in_the_warm_up_too(
    tmp_path: Path,
) -> None:
    lines = [line(1, 10, ok="false"), line(2, 500, code="503", ok="false"), line(3, 600)]
    found = answered(tmp_path, [10, 500, 600], lines, (400, 1000))
    assert found.errors == 1
    assert found.wrong_in_load == 1
    assert every(found.correct_ms) == [5]
    assert found.unsent == 0


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    found = answered(tmp_path, [10, 20], [line(1, 10), line(2, 20)[:30]])
    assert found.unsent == 1


def test_a_load_that_sent_nothing_is_all_unsent(tmp_path: Path) -> None:
    found = answered(tmp_path, [10, 20], [])
    assert found.unsent == 2


def test_samples_of_another_schedule_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="do not belong to the schedule"):
        answered(tmp_path, [10, 20], [line(1, 10), line(2, 21)])


def test_a_jtl_of_a_closed_load_is_refused(tmp_path: Path) -> None:
    (tmp_path / "samples.jtl").write_text("timeStamp,elapsed\n1,2\n")
    (tmp_path / "arrivals.csv").write_text(as_text(np.array([1])))
    with pytest.raises(BadConfiguration, match="not a JTL of an open load"):
        open_samples.read(tmp_path / "samples.jtl", tmp_path / "arrivals.csv", (0, 10))


def test_it_comes_to_the_same_wherever_the_pieces_of_a_log_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offsets = list(range(0, 1200, 7))
    kinds = ({}, {"code": "503", "ok": "false"}, {"ok": "false"}, {"late": 40, "elapsed": 90})
    lines = [line(n + 1, at, **kinds[n % 4]) for n, at in enumerate(offsets) if n % 20]
    whole = answered(tmp_path, offsets, lines)
    monkeypatch.setattr(whole_lines.pieces, "__defaults__", (300,))
    assert len(list(whole_lines.pieces(tmp_path / "samples.jtl"))) > 9
    found = answered(tmp_path, offsets, lines)
    for name in ("correct_ms", "from_sending_ms", "lateness_ms"):
        assert every(getattr(found, name)) == every(getattr(whole, name)), name
    for name in ("errors", "wrong_in_load", "ended_in_window", "unsent"):
        assert getattr(found, name) == getattr(whole, name) > 0, name
