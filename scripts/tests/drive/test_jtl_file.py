"""A long window's requests as JMeter would have written them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from fixture_run import cell

from restbench.drive import jtl_file
from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG, LoadResult, Mark

BEGUN = Mark(0, 1_795_000_000_000, 0, 0, 0, 0)


def test_a_line_has_when_a_request_began_how_long_it_took_and_whether_the_answer_was_right(
    tmp_path: Path,
) -> None:
    records = np.zeros(3, RECORD)
    records["start_us"] = [700_000, 100_000, 400_000]
    records["elapsed_us"] = [50_000, 250_999, 10_000]
    records["outcome"] = [CORRECT, WRONG, ERROR]
    records["status"] = [200, 200, 0]
    sent = LoadResult(BEGUN, BEGUN, BEGUN, ("low",), "", records)
    jtl_file.write(tmp_path / "samples.jtl", cell("java serial low 10"), "http://here", sent)
    lines = [
        (int(each["timeStamp"]) - BEGUN.epoch_ms, int(each["elapsed"]), each["success"])
        for each in jtl_file.read(tmp_path / "samples.jtl")
    ]
    assert lines == [(100, 250, "false"), (400, 10, "false"), (700, 50, "true")], "by their ends"
