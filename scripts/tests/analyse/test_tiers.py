"""Which tier limits a closed load: from a run's rows to the sentence, the table and the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shown_run import page_of, part_of, printed
from synthetic_rows import row, with_facts
from trial_run import EXPERIMENT, build

from restbench.analyse import exported as entries
from restbench.analyse.bottleneck import knee
from restbench.analyse.measures import Row
from restbench.analyse.tiers import Demands, families, stations_of
from restbench.show.charts import theme
from restbench.show.document import words
from restbench.show.kinds import bottleneck
from restbench.store import exported, store

REFERENCE = store.RESULTS / "reference" / "run.json"
TWO = (0, 1)
BOUNDS = ("At most", "At least ms")


def level(users: int, per_s: float, **facts: Any) -> Row:
    """Two cores; 0.8 ms of the service, 0.2 ms of the client unless told otherwise."""
    known: dict[str, Any] = {
        "cpu_ms_per_request": 0.8,
        "load_cpu_pct": 0.02 * per_s,
        "machine_cpu_pct": 100 * per_s / 2000,
    }
    return with_facts(row(f"java serial low {users}", [per_s] * 3), **(known | facts))


def test_all_cpu_time_on_shared_cores_is_one_station() -> None:
    (found,) = families([level(10, 1900.0)], TWO, 0)
    assert found.limiting.demand == pytest.approx(1.0)
    assert found.limiting.servers == 2
    assert knee(found.stations) == pytest.approx(2.0)
    assert found.gain_of_a_server == pytest.approx(0.5)


def test_a_load_generator_with_cores_of_its_own_is_a_station_of_its_own() -> None:
    service, client = stations_of(level(1, 9.0).cell, Demands(3.0, 1.0, 0.5), range(6), 2)
    assert (service.demand, service.servers) == (3.5, 4)
    assert (client.demand, client.servers) == (1.0, 2)


def test_a_bound_service_has_its_core_and_the_others_the_rest() -> None:
    cell = level(1, 9.0).cell.model_copy(update={"placement": "core0"})
    service, others = stations_of(cell, Demands(3.0, 1.0, 0.5), TWO, 0)
    assert (service.demand, service.servers) == (3.0, 1)
    assert (others.demand, others.servers) == (1.5, 1)


def test_what_one_user_waits_beyond_its_cpu_time_is_a_delay_that_nobody_queues_for() -> None:
    (found,) = families([level(60, 1950.0), level(1, 250.0)], TWO, 0)
    assert [each.name for each in found.stations] == ["the CPU", "one user's wait"]
    assert found.stations[1].demand == pytest.approx(3.0)
    first, last = found.levels
    assert first.predicted_per_s == pytest.approx(250)
    assert last.predicted_per_s == pytest.approx(2000)
    assert last.notes == ()
    assert [each.users for each in found.course()] == [1, 2, 4, 8, 16, 32, 60]


def test_cpu_time_of_no_tier_is_noted() -> None:
    (found,) = families([level(10, 1800.0, machine_cpu_pct=99.0)], TWO, 0)
    assert found.levels[0].utilisation_by_law == pytest.approx(0.9)
    assert found.levels[0].notes == ("+9 points of CPU belong to no tier",)


def test_what_the_network_misses_by_more_than_15_percent_is_not_its_business() -> None:
    (found,) = families([level(10, 1990.0), level(60, 1500.0, machine_cpu_pct=75.0)], TWO, 0)
    assert found.levels[0].notes == ()
    assert found.levels[1].notes == ("contention or group commit, which is not in this model",)


def test_a_cell_without_a_tiers_cpu_time_is_left_out() -> None:
    assert families([level(10, 1990.0, load_cpu_pct=None)], TWO, 0) == []


def test_the_sentence_names_the_station_its_parts_and_what_a_core_would_give() -> None:
    rows = [with_facts(level(60, 1980.0), extras={"database_cpu_ms_per_request": 0.01})]
    (found,) = families(rows, TWO, 0)
    assert bottleneck.sentence(found) == (
        "java serial, low: the CPU would saturate first, with 1.01 of the 1.01 ms of an operation, "
        "of which service 0.800, client 0.200, database 0.010. One more core would raise "
        "throughput by at most 50 %; users wait for each other above 2.0 users."
    )


@pytest.mark.parametrize(("per_s", "is_limit"), [(1690.0, False), (1710.0, True)])
def test_a_core_that_is_busy_85_percent_of_the_time_is_the_limit(
    per_s: float, is_limit: bool
) -> None:
    (found,) = families([level(60, per_s)], TWO, 0)
    assert ("not a station" not in bottleneck.sentence(found)) is is_limit
    assert bottleneck.summary([found]).startswith("A core limits 1 of 1") is is_limit


def test_an_idle_core_is_said_to_be_no_bottleneck() -> None:
    (found,) = families([level(60, 1000.0)], TWO, 0)
    assert bottleneck.sentence(found).endswith(
        "At 1000/s that station is busy 50 % of the time, so the limit is not a station of this "
        "model."
    )
    assert bottleneck.summary([found]).startswith("A core limits none of 1 techniques; by the")


def test_a_run_without_results_has_no_line_on_its_bottleneck() -> None:
    assert bottleneck.summary([]) == ""


def test_cores_that_others_keep_busy_are_the_limit_and_it_is_said() -> None:
    (found,) = families([level(60, 1420.0, machine_cpu_pct=99.0)], TWO, 0)
    assert found.levels[0].notes == (
        "+28 points of CPU belong to no tier",
        "contention or group commit, which is not in this model",
    )
    assert bottleneck.sentence(found).endswith(
        "At 1420/s that station is busy 71 % of the time with this work, and all cores are busy "
        "99 %: the rest is CPU work of no tier, which takes capacity from the tiers."
    )
    said = bottleneck.summary([found, *families([level(60, 1000.0)], TWO, 0)])
    assert said.startswith(
        "A core limits 1 of 2 techniques, 1 of them together with CPU work of no tier; in the "
        "others no core"
    )


def test_how_busy_it_is_counts_with_the_cpu_times_of_the_most_users() -> None:
    few, many = level(1, 500.0), level(60, 1250.0, cpu_ms_per_request=1.3)
    (found,) = families([few, many], TWO, 0)
    assert found.levels[1].utilisation_by_law == pytest.approx(0.9375)
    assert found.busy == pytest.approx(0.9375)
    assert "not a station of this model" not in bottleneck.sentence(found)


def test_the_kept_reference_run_tells_what_limits_each_of_its_techniques() -> None:
    run = exported.read(REFERENCE)
    known = {
        bottleneck.name_of(each): each for each in bottleneck.families(run, entries.rows_of(run))
    }
    serial = known["java serial, low"]
    assert [each.row.cell.users for each in serial.levels] == [10, 30, 60]
    assert all(not each.notes for each in serial.levels)
    # A pool for each request is no matter of cores: its threads wait for each other.
    assert all(each.notes for each in known["java thread-pool, low"].levels)
    # Its one process has its core to itself: the network holds for it.
    assert all(abs(each.off) < 0.1 for each in known["python serial @core0, low"].levels)
    (throughput, latency) = bottleneck.charts(list(known.values()))
    assert len(throughput.panels) == len(latency.panels) == 15
    assert ["Little's law" in each.caption for each in (throughput, latency)] == [False, True]


def test_a_load_at_a_rate_is_no_closed_load() -> None:
    """Its rate is what limits it, so 60 users predict nothing."""
    run = exported.read(store.RESULTS / "messages-trace" / "run.json")
    known = bottleneck.families(run, entries.rows_of(run))
    assert [each.cell.complexity for each in known] == ["one-queue"]


def test_techniques_of_one_strategy_do_not_look_alike_where_they_stand_together() -> None:
    run = exported.read(store.RESULTS / "messages" / "run.json")
    known = bottleneck.families(run, entries.rows_of(run))
    (chart, times) = bottleneck.charts(known)
    assert chart and times
    assert "Little's law" not in times.caption, "each cell has a mean"
    assert len(chart.series) == 15
    assert len({*map(theme.style, chart.series.values())}) == 15


def test_page_and_terminal_have_it_where_the_experiment_names_the_view(tmp_path: Path) -> None:
    definition = EXPERIMENT.replace('claims = "claims.toml"', 'views = ["study", "bottleneck"]')
    definition = definition.replace("users = 10", "users = [10, 30]")
    per_s = {"java serial low 10": [300.0, 310.0, 305.0], "java serial low 30": [310.0] * 3}
    run = build(tmp_path / "run", per_s, experiment=definition)
    page, text = page_of(run), printed(run)
    part = part_of(page, "bottleneck")
    assert "java serial, low: the CPU would saturate first, with" in part
    assert "Measured and predicted" in part
    assert "bottleneck-throughput_per_s" in page, "the chart"
    assert "A core limits" in text


def test_a_line_of_the_table_has_measured_and_predicted() -> None:
    (found,) = families([level(10, 1900.0)], TWO, 0)
    (line,) = bottleneck.table_of([found]).rows
    assert [words(each) for each in line][:12] == [
        "java serial", "low", "10", "0.800", "0.200", "", "95", "95", "93", "1900", "2000", "2000",
    ]  # fmt: skip


def test_a_line_has_the_bounds_of_throughput_and_response_time() -> None:
    """1 ms of CPU time on two cores, and 3 ms of a delay: up to eight users the sum is the bound,
    4 ms, and with 60 users the CPU, 60 times half a millisecond."""
    (found,) = families([level(1, 250.0), level(60, 1950.0)], TWO, 0)
    table = bottleneck.table_of([found])
    places = [[each.heading for each in table.columns].index(it) for it in BOUNDS]
    shown = [[words(line[place]) for place in places] for line in table.rows]
    assert shown == [["250", "4.00"], ["2000", "30.0"]]


def test_a_line_tells_where_its_predicted_time_passes() -> None:
    (found,) = families([level(1, 250.0), level(60, 1950.0)], TWO, 0)
    one, many = (words(each[-2]) for each in bottleneck.table_of([found]).rows)
    assert one == "the CPU 1.00, one user's wait 3.00"
    assert many == "the CPU 27.0, one user's wait 3.00"
