"""A program that makes calls is asked line by line; what it cannot do is one clear line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from stub_cli import CLIENT

from restbench.drive import call_client
from restbench.drive.call_client import Batch, CallClient
from restbench.failures import BadConfiguration, EnvironmentProblem


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[CallClient]:
    monkeypatch.setitem(call_client._COMMANDS, "python", lambda _: [sys.executable, str(CLIENT)])
    with call_client.running("python", tmp_path / "client.log") as started:
        yield started


def _batch(tmp_path: Path, calls: int = 3, strategy: str = "sequential", threads: int = 1) -> Batch:
    inputs = call_client.write_inputs(tmp_path / "inputs.json", [{"requestId": "1"}])
    log = tmp_path / "calls.jsonl"
    return Batch("http://here/", calls, inputs, strategy=strategy, threads=threads, log=log)


def test_says_what_it_offers_and_makes_one_batch_after_the_other(
    client: CallClient, tmp_path: Path
) -> None:
    assert client.hello().transports == ("rest", "soap", "cxf", "zeep")
    assert [client.batch(_batch(tmp_path, calls)).done for calls in (2, 5)] == [2, 5]


def test_the_log_is_read_without_the_line_that_was_cut_off(
    client: CallClient, tmp_path: Path
) -> None:
    client.batch(_batch(tmp_path, 2))
    assert [each.index for each in call_client.read_log(tmp_path / "calls.jsonl")] == [0, 1]


def test_a_refused_option_is_the_programs_own_line(client: CallClient, tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"^python client: threads: must be 1 to 1024$"):
        client.batch(_batch(tmp_path, threads=0))
    assert client.hello()  # it goes on


def test_a_program_that_ends_is_told_with_the_end_of_its_log(
    client: CallClient, tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentProblem, match=r"client ended; its log ends:\nno such luck"):
        client.batch(_batch(tmp_path, strategy="none"))
    with pytest.raises(EnvironmentProblem, match="ended"):
        client.hello()


def test_a_program_that_says_nothing_is_not_waited_for(
    client: CallClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_client, "SPARE_S", 0.1)
    with pytest.raises(EnvironmentProblem, match="has not answered"):
        client.batch(replace(_batch(tmp_path, strategy="silent"), per_call_s=0.03))
    with pytest.raises(EnvironmentProblem, match="ended"):
        client.hello()


def test_a_program_that_ended_is_started_anew_where_that_is_asked_for(
    client: CallClient, tmp_path: Path
) -> None:
    before = client.started.pid
    assert not client.renew_if_dead()
    with pytest.raises(EnvironmentProblem, match="ended"):
        client.batch(_batch(tmp_path, strategy="none"))
    assert client.renew_if_dead()
    assert client.started.pid != before
    assert client.batch(_batch(tmp_path, 2)).done == 2


def test_the_program_ends_with_its_block(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(call_client._COMMANDS, "python", lambda _: [sys.executable, str(CLIENT)])
    with call_client.running("python", tmp_path / "client.log") as started:
        started.hello()
        pid = started.started.pid
    assert not psutil.pid_exists(pid)


def test_a_program_that_is_not_built_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(call_client, "JAR", tmp_path / "none.jar")
    with (
        pytest.raises(EnvironmentProblem, match="make setup"),
        call_client.running("java", tmp_path / "log"),
    ):
        pass
