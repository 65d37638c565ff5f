"""A JTL is read a piece at a time: what it comes to does not depend on where the pieces end."""

from __future__ import annotations

from pathlib import Path

import pytest
from jtl_lines import Sample, error, wrong_answer
from jtl_lines import jtl as as_text

from restbench.analyse import jtl
from restbench.experiment.records import Window
from restbench.machine import whole_lines

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


@pytest.mark.parametrize("piece_bytes", [150, 997, 20_000])
def test_it_comes_to_the_same_wherever_the_pieces_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece_bytes: int
) -> None:
    path = written(tmp_path, as_text(MIXED))
    whole = jtl.read(path, WINDOW)
    assert set(whole.outcomes) == {"correct", "wrong-answer", "error"}
    monkeypatch.setattr(whole_lines.pieces, "__defaults__", (piece_bytes,))
    assert len(list(whole_lines.pieces(path))) > 1
    assert jtl.read(path, WINDOW) == whole
    assert jtl.wrong_answers(path) == whole.wrong_in_load


def test_each_piece_has_the_header_and_no_more_than_was_asked_for(tmp_path: Path) -> None:
    text = as_text(MIXED)
    path, header = written(tmp_path, text + "cut off"), text.partition("\n")[0] + "\n"
    pieces = [each.decode() for each in whole_lines.pieces(path, 1_000)]
    assert all(each.startswith(header) for each in pieces)
    assert max(map(len, pieces)) <= 2_000 + len(header)
    assert header + "".join(each.removeprefix(header) for each in pieces) == text
