"""What was measured is kept, and believed only where it was measured."""

import json
import os
import stat
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from restbench_service.execution.calibration_file import MOST_NS, CalibrationFile
from restbench_service.execution.costs import Costs, KindCosts

COSTS = Costs({"matrix loops": KindCosts(1.5, 2.5, 40.0)}, 100_000.0, 0.5)
KINDS = list(COSTS.kinds)
VERSIONS = {"service": "1"}


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    file = CalibrationFile(tmp_path / "new" / "costs.json", VERSIONS)
    assert file.read(KINDS) is None
    file.write(COSTS)
    assert file.read(KINDS) == COSTS
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["costs.json"]


def test_a_calibration_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    CalibrationFile(path, VERSIONS).write(COSTS)
    assert CalibrationFile(path, {"service": "2"}).read(KINDS) is None


def test_a_calibration_of_another_processor_or_other_cores_is_made_anew(tmp_path: Path) -> None:
    file = CalibrationFile(tmp_path / "costs.json", VERSIONS)
    for fact in ("processor", "cores"):
        file.write(COSTS)
        assert file.path is not None
        kept = json.loads(file.path.read_text())
        kept["machine"][fact] = "another"
        file.path.write_text(json.dumps(kept))
        assert file.read(KINDS) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"machine":{},"costs":{"kinds":7}}', "\0"])
def test_a_broken_file_is_not_believed_and_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    path = tmp_path / "costs.json"
    path.write_text(text)
    assert CalibrationFile(path, VERSIONS).read(KINDS) is None
    assert str(path) in caplog.text


@pytest.mark.parametrize(
    "costs",
    [
        replace(COSTS, trip_ns=-1.0),
        replace(COSTS, trip_ns=MOST_NS),
        replace(COSTS, trip_ns_per_byte=-0.1),
        *(
            Costs({"matrix loops": replace(COSTS.kinds["matrix loops"], **{part: -1.0})}, 1.0, 1.0)
            for part in ("fixed_ns", "ns_per_byte", "ns_per_operation")
        ),
        replace(COSTS, kinds={}),
    ],
)
def test_costs_that_cannot_have_been_measured_are_not_believed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, costs: Costs
) -> None:
    file = CalibrationFile(tmp_path / "costs.json", VERSIONS)
    file.write(costs)
    assert file.read(KINDS) is None
    assert str(file.path) in caplog.text


def test_a_pipe_is_not_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.mkfifo(tmp_path / "costs.json")
    assert CalibrationFile(tmp_path / "costs.json", VERSIONS).read(KINDS) is None
    assert "not a plain file" in caplog.text


def test_a_file_of_another_user_is_not_believed_unless_that_is_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = CalibrationFile(tmp_path / "costs.json", VERSIONS)
    file.write(COSTS)
    ours = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: ours)
    for uid, believed in ((0, True), (ours, True), (ours + 1, False)):
        monkeypatch.setattr(os, "fstat", partial(_owned_by, uid))
        assert (file.read(KINDS) == COSTS) is believed
    assert "belongs to another user" in caplog.text


def _owned_by(uid: int, descriptor: int) -> os.stat_result:
    fields = list(os.stat(descriptor))
    fields[stat.ST_UID] = uid
    return os.stat_result(fields)


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    path.mkdir()
    CalibrationFile(path, VERSIONS).write(COSTS)
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written_nothing_is_kept_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    file = CalibrationFile(tmp_path / "file" / "costs.json", VERSIONS)
    with caplog.at_level("INFO"):
        file.write(COSTS)
    assert "cannot be kept" in caplog.text
    assert file.read(KINDS) is None
