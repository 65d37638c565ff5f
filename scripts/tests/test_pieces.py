"""A JTL is read a piece at a time: what it comes to does not depend on where the pieces end, and
what is kept of it does not grow with its samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jtl_lines import Sample, error, wrong_answer
from jtl_lines import jtl as as_text

from restbench.analyse import jtl
from restbench.analyse.jtl import Completions
from restbench.experiment.records import Window
from restbench.machine import whole_lines
from restbench.tools import synthetic

START = 1_795_225_867_000
WINDOW = Window(start_ms=START, end_ms=START + 2_000, ended="enough")
MIXED = [
    wrong_answer(START + n)
    if n % 5 == 0
    else error(START + n)
    if n % 7 == 0
    else Sample(START + n, n % 40)
    for n in range(-300, 2_300, 8)
]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "samples.jtl"
    path.write_text(text, encoding="utf-8")
    return path


def as_plain(found: Completions) -> tuple[object, ...]:
    counted = {
        kind: (times.values.tolist(), times.counts.tolist())
        for kind, times in found.latency_ms.items()
    }
    exact = (found.ended.rows(), counted, found.outcomes, found.answered_in_load)
    return (*exact, found.wrong_in_load, found.started_ms, found.bytes_spread)


KINDS = [
    replace(each, kind=f"kind-{n % 3}", elapsed_us=1_000 * each.elapsed_ms + n)
    for n, each in enumerate(MIXED)
]


@pytest.mark.parametrize("samples", [MIXED, KINDS], ids=["one kind", "three kinds, fine clock"])
@pytest.mark.parametrize("piece_bytes", [150, 997, 20_000])
def test_it_comes_to_the_same_wherever_the_pieces_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece_bytes: int, samples: list[Sample]
) -> None:
    path = written(tmp_path, as_text(samples))
    whole = jtl.read(path, WINDOW)
    jtl.write_window(path, tmp_path / "whole.jtl", WINDOW)
    monkeypatch.setattr(whole_lines.pieces, "__defaults__", (piece_bytes,))
    assert len(list(whole_lines.pieces(path))) > 1
    found = jtl.read(path, WINDOW)
    assert as_plain(found) == as_plain(whole)
    assert found.stages_ms == pytest.approx(whole.stages_ms)
    assert (found.network_ms, found.mean_of_all_ms) == pytest.approx(
        (whole.network_ms, whole.mean_of_all_ms)
    )
    assert jtl.wrong_answers(path) == whole.wrong_in_load
    jtl.write_window(path, tmp_path / "pieces.jtl", WINDOW)
    assert (tmp_path / "pieces.jtl").read_bytes() == (tmp_path / "whole.jtl").read_bytes()


def test_each_piece_has_the_header_and_no_more_than_was_asked_for(tmp_path: Path) -> None:
    text = as_text(MIXED)
    path, header = written(tmp_path, text + "cut off"), text.partition("\n")[0] + "\n"
    pieces = [each.decode() for each in whole_lines.pieces(path, 1_000)]
    assert all(each.startswith(header) for each in pieces)
    assert max(map(len, pieces)) <= 2_000 + len(header)
    assert header + "".join(each.removeprefix(header) for each in pieces) == text


def a_load(path: Path, samples: int, seconds: float) -> Window:
    """So many samples of 10 to 19 ms in so many seconds."""
    users = round(samples / seconds * 0.0145)
    times_ms = 10.0 + np.random.default_rng(1).integers(0, 10, samples)
    made = synthetic.closed_load(times_ms, users, START)
    synthetic.write(path, made)
    return Window(start_ms=START + 1_000, end_ms=int(made.end_ms[-1]) - 1_000, ended="capped")


def kept(found: Completions) -> int:
    """How many values are kept of a load, whatever its samples."""
    return found.ended.height + found.correct_ms.values.size


def test_what_is_kept_grows_with_time_and_not_with_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples.jtl"
    sizes = {}
    for samples in (20_000, 200_000):
        window = a_load(path, samples, seconds=50)
        found = jtl.read(path, window)
        assert found.completed > 0.9 * samples
        sizes[samples] = kept(found)
    assert sizes[200_000] == pytest.approx(sizes[20_000], abs=3)
    assert sizes[200_000] < 80, "a value a second, and one a millisecond of response time"


def test_a_short_load_is_counted_by_milliseconds_and_a_long_one_by_seconds(tmp_path: Path) -> None:
    path = written(tmp_path, as_text([Sample(START - 30_000, 5), Sample(START + 1, 5)]))
    assert jtl.read(path, WINDOW).ended["end_ms"].to_list() == [START - 30_000, START + 1]
    path = written(tmp_path, as_text([Sample(START - 38_001, 5), Sample(START + 1, 5)]))
    assert jtl.read(path, WINDOW).ended["end_ms"].to_list() == [START - 39_000, START]
