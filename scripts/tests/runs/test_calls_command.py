"""`restbench calls` from the command line: by both real clients, of the real service and of stubs
that go wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from stub_bench import Bench
from stub_service import Stub, serving

from restbench.commands import calls
from restbench.deploy import serve
from restbench.drive import call_client
from restbench.experiment.cell import Shape

pytestmark = pytest.mark.live

#: By the real client in Python, of requests that a stub can multiply.
PYTHON = ("calls", "--client", "python", "--calls", "20", "--delay", "0ms", "--attach")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(serve, "running", dict)  # whatever this machine serves
    monkeypatch.setattr(calls, "WARM_MAX_S", 0.1)
    monkeypatch.setattr(calls, "PAYLOAD", Shape(rows=2, inner=2, columns=2))
    return Bench(tmp_path)


def rows_of(shown: str) -> dict[str, list[str]]:
    """The cells of a table by its first column."""
    lines = [[each.strip() for each in line.split("│")[1:-1]] for line in shown.splitlines()]
    return {line[0]: line[1:] for line in lines if line}


def test_each_way_stands_next_to_the_best_possible(bench: Bench) -> None:
    options = "--strategy task-pool --compare async --threads 4 --calls 20 --delay 50ms"
    done = bench.restbench(
        "calls", *options.split(), "--transport", "soap", STUB_SERVICES="", STUB_CLIENT=""
    )
    assert done.returncode == 0, done.stdout + done.stderr
    alone = re.match(r"20 calls, 50 ms, soap; a single call takes ([0-9.]+) s", done.stdout)
    assert alone
    assert float(alone[1]) >= 0.05
    found = rows_of(done.stdout)
    assert list(found) == ["task-pool", "async"]
    for threads, elapsed, speed_up, best, nearness, failed in found.values():
        assert (threads, failed) == ("4", "none")
        assert float(speed_up) == pytest.approx(20 * float(alone[1]) / float(elapsed), rel=0.01)
        assert float(nearness.split()[0]) == pytest.approx(float(best) / float(elapsed), rel=0.01)
    assert float(found["task-pool"][1]) >= 20 / 4 * 0.05
    assert float(found["task-pool"][3]) >= 20 / 4 * 0.05
    assert bench.left_running() == []


def test_a_batch_goes_on_where_its_log_was_cut_off(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    with serving(Stub("java", {})) as stub:
        arguments = (*PYTHON, stub.url, "--strategy", "async")
        assert bench.restbench(*arguments, "--log", str(log), STUB_CLIENT="").returncode == 0
        whole = log.read_bytes()
        assert [each.outcome for each in call_client.read_log(log)] == ["done"] * 20
        log.write_bytes(whole[: whole.index(b"\n", len(whole) // 2) + 20])
        left = 20 - len(call_client.read_log(log))
        again = bench.restbench(*arguments, "--resume", str(log), STUB_CLIENT="")
    assert (again.returncode, again.stdout.split(",")[0]) == (0, f"{left} calls"), again.stderr
    assert sorted(each.index for each in call_client.read_log(log)) == [*range(20)]


@pytest.mark.parametrize(
    ("fault", "code", "shown", "said"),
    [
        ("wrong", 5, "none; WRONG 20", "20 products were wrong"),
        ("absent", 4, "MALFORMED 20", "20 calls failed"),
    ],
)
def test_what_went_wrong_is_counted_and_is_the_exit_code(
    bench: Bench, fault: str, code: int, shown: str, said: str
) -> None:
    with serving(Stub("java", {"serial": fault})) as stub:
        done = bench.restbench(*PYTHON, stub.url, "--strategy", "task-pool", STUB_CLIENT="")
    assert (done.returncode, done.stderr) == (code, f"restbench: {said}\n")
    _threads, _elapsed, speed_up, _best, nearness, failed = rows_of(done.stdout)["task-pool"]
    assert failed == shown
    assert (speed_up == "-", nearness == "-") == (fault == "absent",) * 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--delay 1ms", "delay 1 ms: the service at URL supports no delay"),
        (
            "--delay 0ms --transport soap",
            "transport soap: the service at URL does not support SOAP",
        ),
        (
            "--delay 0ms --strategy virtual-threads",
            "--strategy: not-offered: virtual-threads; offered here are sequential",
        ),
    ],
)
def test_what_is_not_there_is_one_line_before_the_first_call(
    bench: Bench, options: str, said: str
) -> None:
    with serving(Stub("java", {})) as stub:
        done = bench.restbench("calls", "--attach", stub.url, *options.split())
        assert not stub.counted
    assert (done.returncode, done.stderr) == (2, f"restbench: {said}\n".replace("URL", stub.url))
