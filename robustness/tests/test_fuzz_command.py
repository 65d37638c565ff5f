"""`make fuzz`: its exit codes, and a short campaign against the real services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from restbench.failures import EnvironmentProblem
from restbench_robustness import fuzz
from restbench_robustness.campaign import Finding, Tally
from restbench_robustness.comparison import Outcome
from restbench_robustness.message import Message

SILENT = "no answer"
SHORT = ["--bodies", "2000", "--seed", "1"]


@contextmanager
def no_services(_folder: Path) -> Iterator[list[object]]:
    yield []


def failing(_services: object, _bodies: int, _seed: int) -> Tally:
    tally = Tally()
    tally.add(Finding("http", Message(b""), {}, Outcome(None, {}, ("java: wrong",)), True))
    return tally


def test_a_difference_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "running_services", no_services)
    monkeypatch.setattr(fuzz, "fuzz", failing)
    assert fuzz.main(SHORT) == 1
    assert "1 differences" in capsys.readouterr().out


def test_requests_that_stay_in_flight_are_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "running_services", no_services)
    monkeypatch.setattr(fuzz, "fuzz", lambda *_: Tally())
    monkeypatch.setattr(fuzz, "left_over", lambda _: ["java: requests are still in flight"])
    assert fuzz.main(SHORT) == 1
    assert "java: requests are still in flight" in capsys.readouterr().out


class Told:
    """A service of which each look at its metrics finds the next of these."""

    name = "java"

    def __init__(self, *looks: str) -> None:
        self.looks = list(looks)

    def get(self, _path: str) -> SimpleNamespace:
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if look == SILENT:
            raise EnvironmentProblem("timed out")
        return SimpleNamespace(text=f"restbench_requests_in_flight {look}\n")


@pytest.mark.parametrize(
    ("looks", "left"),
    [
        (("0.0",), []),
        ((SILENT, "2.0", "0.0"), []),
        (("1.0",), ["java: requests are still in flight"]),
        ((SILENT,), ["java: it does not answer any more: timed out"]),
    ],
)
def test_a_service_has_its_time_to_become_idle_and_to_say_so(
    looks: tuple[str, ...], left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "IDLE_S", 0.3 if left else 60.0)
    assert fuzz.left_over([Told(*looks)]) == left  # type: ignore[list-item]


def test_a_service_that_does_not_start_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_folder: Path) -> None:
        raise EnvironmentProblem("the jar is missing: run 'make setup'")

    monkeypatch.setattr(fuzz, "running_services", missing)
    assert fuzz.main(SHORT) == 3
    assert "make setup" in capsys.readouterr().err


@pytest.mark.live
def test_both_services_answer_a_short_campaign_as_the_contract_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = fuzz.main(SHORT)
    shown = capsys.readouterr().out
    assert code == 0, shown
    assert "2000 bodies" in shown and "0 differences" in shown
    for strategy in ("serial", "thread-per-element", "pipeline", "process-per-element"):
        assert f" {strategy} " in shown
