"""What the driver of traces makes of the load generator's records."""

from __future__ import annotations

import numpy as np

from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG
from restbench.schedule.trace import codes


def test_a_failed_request_is_told_by_its_code_else_by_its_status() -> None:
    records = np.zeros(5, RECORD)
    records["outcome"] = [CORRECT, ERROR, ERROR, ERROR, WRONG]
    records["status"] = [200, 503, 503, 0, 200]
    records["code"] = [0, 15, 0, 0, 0]
    assert codes(records).tolist() == ["", "015", "503", "none", "wrong"]
