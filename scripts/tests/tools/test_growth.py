"""Exponents of made-up growth, the words of wrk, and the verdicts."""

from __future__ import annotations

import contextlib
import random
import subprocess
from pathlib import Path

import pytest

from restbench.deploy.service import Service
from restbench.drive import wrk
from restbench.drive.wrk import Client
from restbench.failures import BadConfiguration, CellsFailed, ExitCode, Regression
from tools import bench_growth, growth_series
from tools.bench_growth import Growth, judge
from tools.growth_fit import TOLERANCE, Fit, Series, exponent, fit
from tools.growth_plan import plan_of
from tools.growth_series import over_processes, requests_in
from tools.limit_servers import Server

SIZES = (64, 128, 256, 512)


def series(power: float, expected: float, noise: float = 0.02, rounds: int = 5) -> Series:
    drawn = random.Random(2019)
    made = tuple(
        tuple(1e-3 * size**power * (1 + drawn.uniform(-noise, noise)) for size in SIZES)
        for _ in range(rounds)
    )
    return Series("java serial", "compute", "n", expected, SIZES, made)


MADE = series(1.0, expected=1.0)


def test_the_exponent_of_a_power_is_found() -> None:
    assert exponent(SIZES, [5.0 * size**3 for size in SIZES]) == pytest.approx(3.0)
    assert exponent(SIZES, [7.0 for _ in SIZES]) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("power", "allowed", "verdict"),
    [
        (0.0, 0.0, "as expected"),
        (1.0, 1.0, "as expected"),
        (2.0, 2.0, "as expected"),
        (3.0, 3.0, "as expected"),
        (0.5, 1.0, "as expected"),  # more slowly than it may
        (3.0, 2.0, "grows faster"),
    ],
)
def test_what_grows_faster_than_it_may_is_found(power: float, allowed: float, verdict: str) -> None:
    found = fit(series(power, expected=allowed))
    assert found.verdict == verdict
    assert found.exponent.mean == pytest.approx(power, abs=0.05)


def test_an_interval_that_reaches_down_to_the_allowed_is_no_fault() -> None:
    scattered = fit(series(1.0 + TOLERANCE + 0.1, expected=1.0, noise=0.9, rounds=3))
    assert scattered.exponent.mean > 1.0
    assert scattered.verdict == "as expected"


def test_times_below_the_clocks_steps_are_left_out() -> None:
    values = (0.001, 0.001, 0.1, 0.2, 0.4)
    made = Series("java serial", "parse", "rows", 1.0, (1, 2, 4, 8, 16), (values, values))
    found = fit(made, smallest=0.02)
    assert found.exponent.mean == pytest.approx(1.0)
    assert found.series.sizes == (4, 8, 16), "no other size is said to have been fitted"
    assert found.series.rounds == (values[2:], values[2:])


def test_too_few_sizes_make_no_verdict() -> None:
    values = (0.0, 0.1, 0.2)
    made = Series("java serial", "parse", "rows", 1.0, (1, 2, 4), (values, values))
    found = fit(made, smallest=0.02)
    assert (found.exponent, found.verdict) == (None, "too small to tell")


def test_one_thing_that_grows_too_fast_ends_the_command_with_its_name() -> None:
    good, bad = fit(series(2.0, expected=2.0)), fit(series(3.0, expected=2.0))
    judge(Growth((good, good)))
    with pytest.raises(
        Regression, match=r"^1 of 2 grow faster .*: java serial: compute \(n\)\.$"
    ) as raised:
        judge(Growth((good, bad)))
    assert raised.value.exit_code == ExitCode.REGRESSION


def test_on_a_machine_that_others_used_the_verdict_says_that_it_is_not_to_be_believed() -> None:
    bad = fit(series(3.0, expected=2.0))
    with pytest.raises(Regression, match=r"Not to be believed: others used 80 % of the machine"):
        judge(Growth((bad,), foreign_pct=80.0))


def test_what_could_not_be_measured_is_told_before_all_else() -> None:
    bad = fit(series(3.0, expected=2.0))
    with pytest.raises(CellsFailed, match=r"^not measured: java pinned: Socket errors: read 3$"):
        judge(Growth((bad,), ("java pinned: Socket errors: read 3",)))


def measured_where_whole(server: Server, *_: object) -> list[Series]:
    """As any measurement: of a strategy that answers nothing there is none."""
    if server.name.endswith("broken"):
        raise CellsFailed(f"{server.name}: answered 503")
    return [MADE]


@pytest.fixture
def two_strategies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service with one that answers and one that does not; nothing is started."""
    running = Service("java", "http://127.0.0.1:1", processes=[subprocess.Popen(["true"])])
    monkeypatch.setattr(running, "strategies", lambda: ["broken", "whole"], raising=False)
    started = contextlib.nullcontext(running)
    monkeypatch.setattr(bench_growth.service, "start", lambda *_, **_s: started)
    monkeypatch.setattr(growth_series, "of_stages", lambda *_: [])
    monkeypatch.setattr(growth_series, "of_users", lambda *_: [])
    monkeypatch.setattr(growth_series, "dispatch_ms", lambda *_: [1.0, 1.1])


@pytest.mark.parametrize("part", ["of_stages", "of_users"])
def test_one_strategy_that_answers_nothing_leaves_the_others_measured(
    part: str, two_strategies: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth_series, part, measured_where_whole)
    lines: list[str] = []
    found = bench_growth.measure(plan_of("smoke", "java", ""), lines.append)
    assert MADE in [each.series for each in found.fits]
    assert found.failures == ("java broken: answered 503",)
    assert "FAILED  java broken: answered 503" in lines


def test_a_pool_that_answers_nothing_at_one_size_leaves_the_others_measured(
    two_strategies: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def dispatched(server: Server, *_: object) -> list[float]:
        asked.append(server.name)
        if server.name.endswith("broken") and asked.count(server.name) == 2:
            raise CellsFailed(f"{server.name}: answered 503")
        return [1.0, 1.1]

    monkeypatch.setattr(growth_series, "dispatch_ms", dispatched)
    found = bench_growth.measure(plan_of("smoke", "python", ""), lambda _: None)
    assert [each.series.server for each in found.fits] == ["python whole"]
    assert found.failures == ("java broken: answered 503",)


def test_processes_are_the_columns_of_their_series() -> None:
    made = over_processes("python x", (1, 2, 4), [[1.0, 1.1], [2.0, 2.1], [4.0, 4.1]])
    assert made.rounds == ((1.0, 2.0, 4.0), (1.1, 2.1, 4.1))
    assert isinstance(fit(made), Fit)


WRK = """Running 1s test @ http://127.0.0.1:8080/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  22464 requests in 1.01s, 17.92MB read
"""


def test_reads_latency_and_time_in_wrks_own_words() -> None:
    assert wrk.seconds_of("x", WRK, "Latency") == pytest.approx(635.91e-6)
    assert wrk.seconds_of("x", WRK) == pytest.approx(1.01)
    assert requests_in(WRK) == 22464
    assert requests_in("unable to connect") == 0


def test_a_load_that_tells_no_latency_is_no_measurement() -> None:
    with pytest.raises(CellsFailed, match="x: wrk reports no Latency: unable to connect"):
        wrk.seconds_of("x", "unable to connect to 127.0.0.1:1", "Latency")


def test_a_wrong_profile_or_service_is_named() -> None:
    with pytest.raises(BadConfiguration, match="--service: 'go' is not one of java, python"):
        plan_of("quick", "go", "")
    with pytest.raises(BadConfiguration, match="--profile: 'fast' is not one of smoke, quick"):
        plan_of("fast", "", "")
    assert plan_of("quick", "python", "").choice.services == ("python",)


def test_over_users_the_first_round_warms_up_and_only_times_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def output(client: Client, _url: str, _seconds: float) -> str:
        asked.append(client.connections)
        warming_up = len(asked) <= len(plan.users)
        latency_ms = 1000 if warming_up else 2 * client.connections
        return f"    Latency   {latency_ms}.00ms\n  1000 requests in 1.00s, 1MB read\n"

    monkeypatch.setattr(Client, "output", output)
    plan = plan_of("smoke", "java", "")
    server = Server("java serial", "http://127.0.0.1:1", None)  # type: ignore[arg-type]
    latency, per_request = growth_series.of_users(server, Client(tmp_path / "b", 1, None), plan)
    assert asked == list(plan.users) * (1 + plan.user_rounds)
    assert (latency.what, latency.rounds) == ("latency, low", ((2.0, 4.0, 8.0),) * 2)
    assert (per_request.what, per_request.rounds) == ("1/throughput, low", ((1.0, 1.0, 1.0),) * 2)
    assert fit(latency).verdict == fit(per_request).verdict == "as expected"
