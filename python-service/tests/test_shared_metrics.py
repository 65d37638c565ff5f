"""What any of several workers tells of all, while others begin and end."""

import json
import os
from pathlib import Path
from threading import Timer
from unittest.mock import Mock

import pytest
from prometheus_client.mmap_dict import MmapedDict
from test_core import core_of, reply_to

from restbench_service.core.metrics import SharedMetrics
from restbench_service.core.service import Head
from restbench_service.process import METRICS_VARIABLE

NOBODY = 2**22 + 1
"""No process has such a number."""


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharedMetrics:
    monkeypatch.setenv(METRICS_VARIABLE, str(tmp_path))
    return SharedMetrics()


def test_a_file_that_a_worker_is_just_making_is_waited_for(
    metrics: SharedMetrics, tmp_path: Path
) -> None:
    """It was 500 before: the file is empty until it has its length."""
    file = tmp_path / f"counter_{os.getpid()}.db"
    file.touch()
    made = Timer(0.1, lambda: MmapedDict(str(file)).close())  # type: ignore[no-untyped-call]
    made.start()
    assert b"python_info" in metrics.text()
    made.join()


def test_a_file_that_a_worker_was_just_making_as_it_ended_is_forgotten(
    metrics: SharedMetrics, tmp_path: Path
) -> None:
    file = tmp_path / f"counter_{NOBODY}.db"
    file.touch()
    assert b"python_info" in metrics.text()
    assert not file.exists()


@pytest.mark.parametrize(
    ("failure", "answer"), [(ValueError, (500, "099")), (MemoryError, (503, "008"))]
)
def test_a_page_that_fails_is_099_and_one_without_memory_008(
    failure: type[Exception], answer: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    core = core_of()
    monkeypatch.setattr(core.metrics, "text", Mock(side_effect=failure))
    failed = reply_to(core, Head("GET", "/metrics"))
    assert (failed.status, json.loads(failed.body)["errorCode"]) == answer
