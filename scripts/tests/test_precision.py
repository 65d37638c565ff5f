"""Planning a run from a pilot: how many blocks a precision needs, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_run import MACHINE, Made, build, cell, steady_load
from restbench.commands.planning import share
from restbench.schedule.precision import Need
from restbench.schedule.stopping import largest_half_width

from restbench.drive.load_profile import Profile
from restbench.drive.window import window_over
from restbench.experiment.records import CellRun, PlannedCell, Window
from restbench.experiment.statistics import t_interval
from restbench.failures import BadConfiguration
from restbench.machine import machine
from restbench.schedule import costs, pilot, precision

SERIAL = cell("java serial low 10")
PINNED = cell("java pinned low 10")


def profile(**changed: object) -> Profile:
    given: dict[str, object] = {
        "blocks": 5,
        "service_warmup_s": {"java": 20.0, "python": 5.0},
        "warmup_s": 10.0,
        "window_min_s": 20.0,
        "window_max_s": 60.0,
        "slow_window_max_s": 120.0,
        "enough_completions": 10_000,
    }
    return Profile.model_validate(given | changed)


# --- blocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spread", "blocks"),
    [
        (0.001, 5),  # never fewer than five
        (0.0157, 5),  # t[.975;4] = 2.776: 2.776 x 1.57 % / sqrt(5) = 1.949 % <= 2 %/1.02 = 1.961 %
        (0.0158, 6),  # the same with 1.58 %: 1.962 %
        (0.02, 7),  # t[.975;6] = 2.447: 2.447 x 2 % / sqrt(7) = 1.850 %; for 6 blocks 2.099 %
        (0.03, 12),  # t[.975;11] = 2.201: 2.201 x 3 % / sqrt(12) = 1.906 %; for 11 blocks 2.015 %
        (0.0418, 20),  # t[.975;19] = 2.093: 2.093 x 4.18 % / sqrt(20) = 1.956 %
        (0.043, None),  # 2.012 % after 20 blocks
    ],
)
def test_blocks_needed_for_2_percent(spread: float, blocks: int | None) -> None:
    assert precision.blocks_needed(spread, 0.02) == blocks


def test_the_half_width_is_that_of_the_interval_that_the_stop_rule_looks_at() -> None:
    values = [98.0, 99.0, 100.0, 101.0, 102.0]
    interval = t_interval(values)
    need = precision.need("a", values, 0.02)
    expected = interval.half_width / interval.mean
    assert precision.half_width(need.spread, 5) == pytest.approx(expected)


def test_no_cell_is_said_to_need_fewer_blocks_than_the_stop_rule_will_take() -> None:
    for spread in (0.01, 0.02, 0.03, 0.04):
        blocks = precision.blocks_needed(spread, 0.02)
        assert blocks
        assert precision.half_width(spread, blocks) <= largest_half_width(0.02)


@pytest.mark.parametrize(("blocks", "factor"), [(2, 3.947), (3, 2.117), (5, 1.558), (20, 1.177)])
def test_a_spread_of_few_blocks_may_be_much_larger_than_it_seems(
    blocks: int, factor: float
) -> None:
    assert precision.upper_spread(0.01, blocks) == pytest.approx(0.01 * factor, rel=1e-3)


def test_a_run_needs_the_blocks_of_its_hardest_cell() -> None:
    assert precision.whole([5, 7, 6]) == 7
    assert precision.whole([5, None]) is None
    needs = [Need("easy", 3, 0.01, 5, 5), Need("hard", 3, 0.1, None, None)]
    assert [each.cell_id for each in precision.hardest_first(needs)] == ["hard", "easy"]


def test_one_block_has_no_spread() -> None:
    with pytest.raises(ValueError, match="1 block has no spread"):
        precision.need("a", [100.0], 0.02)


@pytest.mark.parametrize(("text", "value"), [("2%", 0.02), ("0.02", 0.02), ("0.5%", 0.005)])
def test_a_precision_is_a_share_or_a_percentage(text: str, value: float) -> None:
    assert share(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["2", "0%", "-1%", "two", "nan"])
def test_a_precision_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadConfiguration, match="--precision"):
        share(text)


# --- costs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_s", [0.0, 0.1, 0.3, 0.5, 1.0, 50.0, 170.0, 300.0, 600.0, 9_000.0])
def test_a_window_is_as_long_as_the_window_rule_makes_it(per_s: float) -> None:
    chosen = profile()
    ended_s = next(
        tenths / 10
        for tenths in range(10_000)
        if window_over(tenths / 10, int(per_s * tenths / 10 + 1e-9), chosen)
    )
    assert costs.window_seconds(per_s, chosen) == pytest.approx(ended_s, abs=0.15)


def record(order: int, start_s: float, block: int = 1) -> CellRun:
    return CellRun(
        cell=SERIAL if order % 2 else PINNED,
        shape={"rows": 1, "inner": 1, "columns": 1},
        test_ids=(),
        block=block,
        order=order,
        status="measured",
        window=Window(
            start_ms=round(start_s * 1000), end_ms=round(start_s * 1000) + 3_000, ended="capped"
        ),
        warmup_s=2.0,
        service_cores=(0,),
        load_cores=(0,),
        payload_seed=1,
    )


def test_what_a_measurement_costs_beside_its_load_is_learnt_from_the_run() -> None:
    """3 s of window, 2 s of warm-up and 1.5 s beside; a new service costs 7 s and 2 x 4 s."""
    starts = [0.0, 6.5, 13.0, 13.0 + 6.5 + 7 + 8, 13.0 + 6.5 + 15 + 6.5]
    records = [
        record(number, start_s, block=1 if number < 4 else 2)
        for number, start_s in enumerate(starts, start=1)
    ]
    short = profile(service_warmup_s={"java": 4.0, "python": 1.0}, warmup_s=2.0)
    learnt = costs.costs(records, {SERIAL: 100.0}, short)
    assert learnt.beside_s == pytest.approx(1.5)
    assert learnt.start_s["java"] == pytest.approx(7.0)
    assert learnt.start_s["python"] > 0


def test_a_run_costs_its_blocks() -> None:
    """At 100/s the window is capped at 60 s: 1.5 + 10 + 60.5; the service 7 + 20 s a block."""
    known = costs.Costs({SERIAL: 100.0}, 1.5, {"java": 7.0, "python": 3.0})
    block = [PlannedCell(cell=SERIAL, block=1, order=1, test_ids=())]
    assert costs.run_seconds(block, 6, profile(), known) == pytest.approx(6 * (72.0 + 27))


# --- the pilot ----------------------------------------------------------------------------------

IDENTITY = machine.identity(MACHINE)


def pilot_run(path: Path, blocks: int) -> None:
    made = [
        Made(SERIAL, steady_load(10, elapsed_ms), block=block)
        for block, elapsed_ms in enumerate([10, 11, 10, 12][:blocks], start=1)
    ]
    build(path, made)


def test_a_pilot_of_three_blocks_comes_before_one_of_two(tmp_path: Path) -> None:
    pilot_run(tmp_path / "a-three", 3)
    pilot_run(tmp_path / "b-two", 2)
    pilot_run(tmp_path / "c-one", 1)
    assert pilot.newest("mini", IDENTITY, tmp_path).name == "a-three"


def test_a_run_of_another_machine_or_experiment_is_no_pilot(tmp_path: Path) -> None:
    pilot_run(tmp_path / "a", 3)
    for name, identity in (("mini", IDENTITY | {"cores_online": 64}), ("other", IDENTITY)):
        with pytest.raises(BadConfiguration, match="restbench run"):
            pilot.newest(name, identity, tmp_path)


def test_a_pilot_tells_each_cell_s_throughput_block_by_block(tmp_path: Path) -> None:
    pilot_run(tmp_path / "a", 3)
    known = pilot.read(pilot.newest("mini", IDENTITY, tmp_path))
    assert known.blocks == 3
    assert list(known.values) == [SERIAL]
    assert known.values[SERIAL][0] == pytest.approx(1_000, rel=0.02)
    assert known.values[SERIAL][1] == pytest.approx(909, rel=0.02)
