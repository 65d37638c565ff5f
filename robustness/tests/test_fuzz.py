"""The fuzzer finds a service that is wrong in one thing only, and shows it small; its command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import stub_service
import typer

from restbench import cli
from restbench.failures import EnvironmentProblem
from restbench.machine import machine_lock, watch
from restbench_robustness import fuzz, services
from restbench_robustness.bodies import SOURCES
from restbench_robustness.comparison import Bench, Outcome, Target
from restbench_robustness.fuzz import KERNELS, Finding, Tally, campaign, shown
from restbench_robustness.oracle import Limits, Oracle, Request, Verdict
from restbench_robustness.wire import Message, Route

LIMITS = Limits(body_bytes=10_000)
STRATEGIES = ("serial", "pinned")
TIMING = ", ".join(f"{stage};dur=0.000" for stage in ("queue", "parse", "compute", "serialize"))
TARGETS = [
    Target("java", "127.0.0.1", 1, ("serial", "pinned", "pipeline")),
    Target("python", "127.0.0.1", 2, ("serial", "process-per-element")),
]
SMALL = [it for it in SOURCES if it.name not in {"giants", "large", "outer products"}]
#: A stub speaks HTTP for bodies only.
BODIES_ONLY = ("right requests", "overflow", "wrong members", "wrong sizes", "odd spellings")
Answer = tuple[int, bytes]
Fault = Callable[[Request, Answer], Answer]


class Approving(Bench):
    """Finds nothing wrong, and remembers what it was shown."""

    def __init__(self) -> None:
        self.targets = TARGETS
        self.seen: list[Message] = []

    def judge(self, message: Message, _routes: Mapping[str, Route]) -> Outcome:
        self.seen.append(message)
        return Outcome(Verdict("ok", 200), {}, ())


def seen(bodies: int, seed: int) -> tuple[list[Message], Tally]:
    bench, tally = Approving(), Tally()
    list(campaign(bench, SMALL, bodies, seed, tally))
    return bench.seen, tally


def test_the_same_seed_gives_the_same_bodies_in_every_process() -> None:
    code = "from test_fuzz import seen; print([(it.head, it.body) for it in seen(100, 5)[0]])"
    code = code.replace("it.head", "it.path, it.query, it.headers, it.chunk_bytes")
    drawn = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": hashing, "PYTHONPATH": "tests:."},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            check=True,
        ).stdout
        for hashing in ("1", "2")
    }
    assert len(drawn) == 1


def test_another_seed_gives_other_bodies_and_a_longer_campaign_begins_with_the_shorter() -> None:
    (first, _), (other, _), (longer, _) = seen(60, 1), seen(60, 2), seen(90, 1)
    assert len(first) == 60
    assert first != other
    assert longer[:60] == first


def test_every_source_strategy_and_code_of_the_request_is_reached() -> None:
    messages, tally = seen(600, 4)
    assert tally.bodies == 600
    assert {name for kind, name in tally.seen if kind == "source"} == {it.name for it in SMALL}
    java = {name: number for (_, name), number in tally.seen.items() if name.startswith("java ")}
    assert len(java) == 3 * len(KERNELS)
    assert min(java.values()) > 0.5 * 600 / len(java)
    oracle, route = Oracle(["pinned"], Limits(1_000_000)), Route("pinned", "loops")
    verdicts = [oracle.judge(it.as_received(route)) for it in messages if it.is_http]
    codes = Counter(verdict.code for verdict in verdicts if verdict)
    assert set(codes) >= {"ok", "001", "002", "003", "004", "005", "006", "009"}
    assert min(codes["ok"], codes["006"], codes["005"]) >= 5


def written(verdict: Verdict) -> Answer:
    if verdict.product is not None:
        return verdict.status, verdict.product
    names = ("requestId", "errorCode", "errorMessage")
    error = dict(zip(names, (verdict.request_id, verdict.code, min(verdict.messages)), strict=True))
    return verdict.status, json.dumps(error, separators=(",", ":"), ensure_ascii=False).encode()


@contextmanager
def faulty(name: str, fault: Fault) -> Iterator[Target]:
    """A service that answers as the oracle says, but for a planted fault."""
    oracle = Oracle(STRATEGIES, LIMITS)

    def behaviour(body: bytes, path: str, media_type: str) -> stub_service.Answer:
        request = Request("POST", path, media_type, body, len(body))
        verdict = oracle.judge(request)
        assert verdict is not None
        headers = {"Content-Type": "application/json", "Server-Timing": TIMING}
        return (*fault(request, written(verdict)), headers)

    with stub_service.serving(behaviour) as address:
        yield Target(name, *address, STRATEGIES)


def sound(_request: Request, answer: Answer) -> Answer:
    return answer


def found(fault: Fault, timeout_s: float = 60.0, most: int = 1) -> Tally:
    """What a campaign of 200 bodies sees of a sound service beside one with the fault."""
    tally = Tally()
    sources = [it._replace(batch_bodies=20) for it in SOURCES if it.name in BODIES_ONLY]
    with (
        faulty("java", sound) as right,
        faulty("python", fault) as wrong,
        closing(Bench([right, wrong], LIMITS, timeout_s)) as bench,
    ):
        list(campaign(bench, sources, 200, 7, tally, most_findings=most))
    return tally


def gives(status: int, where: bytes) -> Fault:
    """A fault: this status where the right answer contains these bytes."""
    return lambda _request, answer: (status, answer[1]) if where in answer[1] else answer


def names_another_place(_request: Request, answer: Answer) -> Answer:
    return answer[0], answer[1].replace(b"].value[", b"].value [")


@pytest.mark.parametrize(
    ("fault", "difference"),
    [
        pytest.param(gives(200, b'"006"'), "status 200, not 422", id="wraps sums to 64 bits"),
        pytest.param(gives(200, b"a member twice"), "status 200, not 400", id="takes two members"),
        pytest.param(gives(500, b'"005"'), "status 500, not 422", id="fails with 500"),
        pytest.param(names_another_place, "errorMessage", id="names another place"),
    ],
)
def test_a_planted_fault_is_found_and_made_small(fault: Fault, difference: str) -> None:
    (finding,) = found(fault).findings
    assert all(line.startswith("python: ") for line in finding.outcome.differences)
    assert difference in " ".join(finding.outcome.differences)
    assert finding.repeats
    assert len(finding.message.body) < 250


def test_a_sound_service_is_not_accused() -> None:
    tally = found(sound)
    assert (tally.bodies, tally.findings) == (200, [])


def test_a_service_that_falls_silent_is_a_finding() -> None:
    def sleeps(_request: Request, answer: Answer) -> Answer:
        time.sleep(2 if b'"005"' in answer[1] else 0)
        return answer

    (finding,) = found(sleeps, timeout_s=0.2).findings
    assert "silent for" in " ".join(finding.outcome.differences)


def test_a_fault_that_shows_only_once_is_kept_and_marked() -> None:
    shown_for: list[Request] = []

    def once(request: Request, answer: Answer) -> Answer:
        if shown_for or b'"005"' not in answer[1]:
            return answer
        shown_for.append(request)
        return 500, answer[1]

    (finding,) = found(once).findings
    assert not finding.repeats
    assert finding.message.body == shown_for[0].body


def test_a_service_that_is_wrong_everywhere_ends_the_campaign_early() -> None:
    tally = found(lambda _request, answer: (500, answer[1]), most=2)
    assert len(tally.findings) == 2
    assert tally.bodies < 200


def test_a_finding_is_kept_as_it_goes_over_the_wire_with_a_line_that_sends_it_again(
    tmp_path: Path,
) -> None:
    routes = {"java": Route("pinned", "loops"), "python": Route("serial", "native")}
    outcome = Outcome(Verdict("002", 400), {}, ("java: wrong",))
    finding = Finding("overflow", Message(b"{}", missing_bytes=3), routes, outcome, True)
    lines = shown(finding, tmp_path, TARGETS).splitlines()
    assert lines[0].startswith("overflow: 002-")
    assert lines[1:3] == [
        "  java: wrong",
        f"  nc -N 127.0.0.1 1 < {next(tmp_path.glob('*.java.*'))}",
    ]
    raw = next(tmp_path.glob("*.java.http")).read_bytes()
    assert raw.startswith(b"POST /matrix/pinned?kernel=loops ") and raw.endswith(b": 5\r\n\r\n{}")


# --- the command ------------------------------------------------------------------------------


def exit_code() -> int:
    """Of a short campaign."""
    try:
        fuzz.main(bodies=2000, campaign_seed=1)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


@contextmanager
def no_services(_folder: Path) -> Iterator[list[object]]:
    yield []


@pytest.mark.parametrize("left", [[], ["java: requests are still in flight"]])
@pytest.mark.parametrize("differences", [0, 1])
def test_a_difference_or_a_request_in_flight_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    differences: int,
    left: list[str],
) -> None:
    finding = Finding("http", Message(b""), {}, Outcome(None, {}, ("java: wrong",)), True)
    monkeypatch.setattr(fuzz, "running_services", no_services)
    monkeypatch.setattr(fuzz, "fuzz", lambda *it: it[-1].findings.extend([finding] * differences))
    monkeypatch.setattr(fuzz, "left_over", lambda _: left)
    assert exit_code() == (1 if differences or left else 0)
    told = capsys.readouterr().out
    assert ("1 difference\n" if differences else "0 differences\n") in told
    assert all(line in told for line in left)


def test_another_user_s_database_reaches_the_folder_which_is_removed_however_we_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ordered, found = Mock(), []

    @contextmanager
    def services(folder: Path) -> Iterator[list[object]]:
        found.append((folder, folder.stat().st_mode & 0o777))
        yield []

    monkeypatch.setattr(fuzz, "running_services", services)
    monkeypatch.setattr(fuzz, "fuzz", lambda *_: None)
    monkeypatch.setattr(watch, "at_end", ordered)
    assert exit_code() == 0
    ((folder, mode),) = found
    assert mode == 0o711
    ordered.assert_called_once_with("remove", folder)


def test_a_benchmark_that_runs_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_lock, "take", Mock(side_effect=EnvironmentProblem("another one")))
    monkeypatch.setattr(fuzz, "running_services", Mock())
    with pytest.raises(EnvironmentProblem, match="another one"):
        exit_code()


@pytest.mark.parametrize(
    ("looks", "left"),
    [
        (["0.0"], []),
        (["silent", "2.0", "0.0"], []),
        (["1.0"], ["java: requests are still in flight"]),
        (["silent"], ["java: it does not answer any more: timed out"]),
    ],
)
def test_a_service_has_its_time_to_become_idle_and_to_say_so(
    looks: list[str], left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def get(_path: str) -> SimpleNamespace:
        look = looks.pop(0) if len(looks) > 1 else looks[0]
        if look == "silent":
            raise EnvironmentProblem("timed out")
        return SimpleNamespace(text=f"restbench_requests_in_flight {look}\n")

    monkeypatch.setattr(services, "IDLE_S", 0.3 if left else 60.0)
    assert services.left_over([SimpleNamespace(name="java", get=get)]) == left  # type: ignore[list-item]


def test_a_service_that_does_not_start_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_folder: Path) -> None:
        raise EnvironmentProblem("the jar is missing: run 'make setup'")

    monkeypatch.setattr(fuzz, "running_services", missing)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--bodies", "1"])
    monkeypatch.setattr(cli, "_listen_to_signals", lambda: None)  # they are the tests' own
    with pytest.raises(SystemExit) as ended:
        cli.main(cli.single_command_app(fuzz.main))
    assert ended.value.code == 3
    assert "make setup" in capsys.readouterr().err


@pytest.mark.live
def test_both_services_answer_a_short_campaign_as_the_contract_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = exit_code()
    told = capsys.readouterr().out
    assert code == 0, told
    assert "2000 bodies" in told and "0 differences" in told
    assert "operations " in told
    for strategy in ("serial", "thread-per-element", "pipeline", "process-per-element"):
        assert f" {strategy} " in told
