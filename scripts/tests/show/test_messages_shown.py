"""What is found of messages, from a run's trials to its page and its terminal."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from drawn import data_of
from fixture_run import cell
from shown_run import findings, page_of, part_of, picture_of, printed
from synthetic_rows import around, row
from trial_run import EXPERIMENT, build

from restbench.analyse import measures
from restbench.analyse.messages import DATABASE, limits_over, pools, share_of_limit, time_breakdowns
from restbench.experiment import experiment
from restbench.show import files
from restbench.show.charts import messages as charts
from restbench.show.document import words
from restbench.show.kinds import messages as shown
from restbench.store.store import Run

FUNCTION = "java worker-pool 200 10 technique=function"
SKIP_LOCKED = "java worker-pool 200 10 technique=skip-locked"
DEFINITION = """
name = "messages"
title = "Messages"
seed = 7
driver = "messages"
views = ["messages"]

[complexities]
200 = { characters = 200 }

[pgbench]
users = [1, 10]

[profiles.quick]
minutes = 1
blocks = 3
warm_max_s = { java = 1.0, python = 1.0 }

[[cells]]
name = "Java"
service = "java"
strategy = "worker-pool"
complexity = "200"
users = [1, 10]
technique = ["function", "skip-locked"]
"""


def test_the_share_of_the_limit_is_paired_by_block() -> None:
    limits = [{"pgbench_per_s": 10.0 * value} for value in (20, 30, 40)]
    found = share_of_limit(row(FUNCTION, [20, 30, 40], extras=limits))
    assert found.estimate == pytest.approx(0.1)
    assert found.ends == pytest.approx((0.1, 0.1))
    assert share_of_limit(row(FUNCTION, [20, 30])).estimate is None


def test_limits_are_held_against_the_usual_technique_s_under_the_same_load() -> None:
    usual, slow = (
        row(f"{service} worker-pool 200 60 technique={technique}", [1, 1, 1], extras=limits)
        for service, technique, limits in (
            ("python", "skip-locked", [{"pgbench_per_s": each} for each in (500.0, 600.0, 700.0)]),
            ("java", "blocking", [{"pgbench_per_s": each} for each in (100.0, 120.0, 140.0)]),
        )
    )
    elsewhere = row(SKIP_LOCKED, [1], extras=[{"pgbench_per_s": 9.0}])
    without = row("java worker-pool 200 60 technique=memory", [1])
    found = limits_over([usual, slow, elsewhere, without], "skip-locked")
    assert [*found] == [slow.cell]
    assert found[slow.cell].estimate == pytest.approx(0.2)
    assert limits_over([slow, elsewhere], "skip-locked") == {}


def threads(count: int, per_s: float) -> measures.Row:
    return row(f"{FUNCTION} pool_threads={count}", around(per_s))


def test_the_fewest_threads_are_enough_that_no_other_number_is_better_by_more_than_5_percent() -> (
    None
):
    (found,) = pools([threads(1, 300), threads(20, 960), threads(40, 1000), threads(80, 700)])
    assert found.enough.cell.pool_threads == 20
    assert found.best.cell.pool_threads == 40
    (close,) = pools([threads(20, 940), threads(40, 1000)])
    assert close.enough.cell.pool_threads == 40
    assert pools([threads(20, 940)]) == []
    (said,) = shown.pool_sentences([threads(1, 1000), threads(20, 960)])
    assert ": 1 thread is enough: " in said


def test_the_best_number_of_threads_is_picked_by_blocks_that_all_have() -> None:
    fewer, more = (f"{FUNCTION} pool_threads={count}" for count in (20, 40))
    (found,) = pools([row(fewer, [940, 941, 942, 3000]), row(more, [1000, 1001, 1002])])
    assert (found.best.cell.pool_threads, found.enough.cell.pool_threads) == (40, 40)


def test_fewer_connections_than_threads_stand_next_to_these_and_are_a_chart() -> None:
    rows = [
        row(f"{FUNCTION} pool_threads=40 connections={n}", around(10 * (n or 40)))
        for n in (0, 1, 5, 10)
    ]
    (table,) = shown.tables(rows)
    said = [words(each[4]) for each in table.rows]
    assert said == ["40", "40 (1 connection)", "40 (5 connections)", "40 (10 connections)"]
    points = data_of(charts._over_connections(rows))
    assert [each["x"] for each in points] == [1, 5, 10, 40]
    assert charts._over_connections([threads(20, 940), threads(40, 1000)]) is None


def test_the_table_the_sentence_and_the_charts_say_which_settings_a_cell_has() -> None:
    tight, wide = (f"RESTBENCH_MAX_IN_FLIGHT={most}" for most in (4, 256))
    rows = [
        row(f"{FUNCTION} pool_threads={threads} settings={each}", around(per_s))
        for each, per_s in ((tight, 100), (wide, 300))
        for threads in (20, 40)
    ]
    (table,) = shown.tables(rows)
    said = [words(each[2]) for each in table.rows]
    assert said == [f"200, {each}" for each in (tight, tight, wide, wide)]
    assert shown.sentence(rows).endswith(f"(200 characters, {wide}, 10 users).")
    assert [charts.name(each.cell) for each in rows[1:3]] == [
        f"Java function, 200, {each}, 10 users" for each in (tight, wide)
    ]


def test_a_technique_has_one_style_in_every_panel() -> None:
    rows = [
        row(f"java worker-pool {size} {users} technique={technique}", around(100))
        for size, techniques in (
            ("200", ("skip-locked", "statements", "function")),
            ("other", ("function",)),
        )
        for technique in techniques
        for users in (10, 60)
    ]
    panels = charts._panels(
        measures.alike(rows, users=0, technique=""), charts.name, lambda one: one.cell.users
    )
    assert [[(each.label, each.style) for each in panel.lines] for panel in panels] == [
        [("skip-locked", 0), ("statements", 1), ("function", 2)],
        [("function", 2)],
    ]


def test_of_one_load_the_list_says_by_how_much_the_first_technique_leads() -> None:
    clear = [row(FUNCTION, around(300)), row(SKIP_LOCKED, around(400))]
    first = "does 400 sends and pops a second by skip-locked under worker-pool (200 characters, "
    assert shown.sentence(clear).endswith(f"{first}10 users).")
    (lead,) = shown.of_one_load(clear)
    assert lead.startswith("Java: skip-locked answers 1.33 [")
    assert lead.endswith("] times as many operations as function")
    near = [row(FUNCTION, [400, 300, 380]), row(SKIP_LOCKED, [390, 400, 300])]
    (lead,) = shown.of_one_load(near)
    assert lead.endswith("] times as many operations as function, which is not shown to be slower")
    more = row(FUNCTION.replace(" 10 ", " 60 "), around(200))
    assert shown.sentence([*clear, more]).endswith(f"{first}10 users).")
    assert shown.of_one_load([*clear, more]) == []


def test_of_one_load_the_first_picture_is_each_technique_over_the_first() -> None:
    costs = [
        {
            "database_cpu_ms_per_request": 0.3 + block / 1000,
            "pgbench_database_cpu_ms": 0.2,
            "pgbench_at_rate_database_cpu_ms": 0.25,
        }
        for block in range(5)
    ]
    rows = [
        row(FUNCTION, around(300)),
        row(SKIP_LOCKED, around(400), extras=costs),
        row(SKIP_LOCKED.replace("worker-pool", "serial"), [390, 410, 400, 420, 370]),
        row(FUNCTION.replace("function", "memory"), around(2000)),
    ]
    assert shown.of_one_load(rows)[-1] == (
        "An operation takes 1.21 (Java) times as much CPU time of the database as under pgbench at "
        "the same rate"
    )
    chart = charts.over_the_first(rows)
    assert [(each["label"], each["series"]) for each in data_of(chart)] == [
        ("skip-locked under worker-pool: 400/s", "first"),
        ("skip-locked under serial: 398/s", "not shown to be slower"),
        ("function under worker-pool: 300/s", "slower"),
    ]
    _, same, slower = data_of(chart)
    assert slower["value"] == pytest.approx(0.75, rel=0.01)
    assert same["low"] < 1 < same["high"]
    assert [(each["label"], each["text"][:4]) for each in data_of(chart, 1)] == [
        ("skip-locked under worker-pool, pgbench at full speed", "1.51"),
        ("skip-locked under worker-pool, pgbench at the same rate", "1.21"),
    ]
    first, *_ = charts.charts(rows, experiment.parse(DEFINITION, Path("messages.toml")))
    assert first and chart and first.name == chart.name
    assert charts.over_the_first(rows[:1]) is None
    other_load = row(FUNCTION.replace(" 10 ", " 60 "), around(200))
    assert charts.over_the_first([*rows, other_load]) is None


def test_a_pie_is_the_whole_latency_of_one_users_request() -> None:
    stages = {"network": 0.2, "queue": 0.1, "parse": 0.05, "connection": 0.05, "database": 0.5}
    extras = {f"send_{name}_ms": value for name, value in stages.items()}
    extras |= {"send_serialize_ms": 0.05, "send_ms": 1.0}
    (pie,) = time_breakdowns([row(FUNCTION.replace(" 10 ", " 1 "), [900.0], extras=[extras])])
    assert sum(pie.parts_ms.values()) == pytest.approx(1.0)
    assert (pie.kind, pie.share("database")) == ("send", pytest.approx(0.5))
    assert pie.share("rest") == pytest.approx(0.05)
    assert time_breakdowns([row(FUNCTION, [900.0])]) == [], (
        "of more users the time is spent on waiting"
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    names = [
        f"java worker-pool 200 {users} technique={technique}"
        for users in (1, 10)
        for technique in ("function", "skip-locked")
    ]
    per_s = dict(zip(names, (around(100), around(110), around(300), around(400)), strict=True))
    found = build(tmp_path / "run", per_s, experiment=DEFINITION, claims=None)
    for block in range(1, 6):
        limits = {cell(each).id: {"pgbench_per_s": 1000.0 + block} for each in names}
        found.trials.fact(block, "extras", limits)
        asked = {"fdatasync_us": 181.25} if block == 1 else {}
        found.trials.fact(block, "databases", {"usual": POSTGRESQL | asked})
    return found


POSTGRESQL = {"version": "PostgreSQL 18.6", "settings": {"shared_buffers": "512MB"}}


def test_the_database_is_told_with_its_settings_and_its_disk(run: Run) -> None:
    said = "usual version PostgreSQL 18.6, settings shared_buffers 512MB, fdatasync_us 181.25"
    assert said in " ".join(page_of(run).split())
    kept = json.loads(run.exported_file.read_text())["versions"]
    assert kept["databases"] == {"usual": POSTGRESQL | {"fdatasync_us": 181.25}}


TAKEN = {
    "database_memory_mib": 123.4,
    "database_read_kib_per_request": 0.0,
    "database_written_kib_per_request": 8.75,
    "database_wal_kib_per_request": 1.5,
}


def test_what_the_database_took_is_told_where_it_was_measured_and_nowhere_else(run: Run) -> None:
    headings = {heading for heading, _ in DATABASE.values()}
    before = part_of(page_of(run), "messages")
    assert not any(each in before for each in (*headings, "/ same rate"))
    files.write_tables(findings(run))
    assert not run.messages_csv.exists()
    for block in run.trials.blocks():
        cpu_ms = {
            "database_cpu_ms_per_request": 0.3 + 0.01 * block.block,
            "pgbench_at_rate_database_cpu_ms": 0.2,
        }
        its = {each: {**known, **TAKEN, **cpu_ms} for each, known in block.facts["extras"].items()}
        run.trials.fact(block.block, "extras", its)
    after = part_of(page_of(run), "messages")
    assert all(each in after for each in (*headings, "/ same rate"))
    assert {"123", "0.000", "8.75", "1.50"} <= {*after.split()}
    files.write_tables(findings(run))
    lines = list(csv.DictReader(run.messages_csv.read_text().splitlines()))
    shown = {(each["technique"], each["users"]) for each in lines}
    assert shown == {(name, users) for name in ("function", "skip-locked") for users in ("1", "10")}
    for each in lines:
        assert {name: float(each[name]) for name in TAKEN} == pytest.approx(TAKEN, rel=1e-3)
        assert float(each["of_the_limit_low"]) < float(each["of_the_limit"])
        assert each["database_cpu_over_pgbench"] == "", "pgbench's was not measured"
        assert 1.5 < float(each["database_cpu_over_pgbench_at_rate"]) < 1.8


def test_page_and_terminal_begin_with_the_share_of_the_limit(run: Run) -> None:
    page, text = page_of(run), printed(run)
    sentence = "does 400 sends and pops a second by skip-locked under worker-pool (200 characters, "
    assert sentence in page
    assert sentence in " ".join(text.split())
    part = part_of(page, "messages")
    assert "No rule was violated" in part
    assert "the cost of a technique without any service" in part
    assert picture_of(page) == "messages-technique"
    (line,) = [
        each for each in text.splitlines() if each.startswith("skip-locked") and "400" in each
    ]
    assert "0.39" in line, "the share"


def test_a_broken_rule_is_named_with_its_cell() -> None:
    bad = row(FUNCTION, [100.0], flags=["wrong-answers"], reason=["R2 duplicated 1"])
    said = "Violated: java-worker-pool-unbound-200-10u-function: R2 duplicated 1."
    assert said in shown.checked([bad])
    assert shown.checked([row(FUNCTION, [100.0])]).endswith("No rule was violated.")


def test_experiments_without_messages_have_none_of_it(tmp_path: Path) -> None:
    plain = build(tmp_path / "run", {"java serial low 10": around(100)}, experiment=EXPERIMENT)
    assert 'id="messages"' not in page_of(plain)
