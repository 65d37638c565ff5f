"""Rule 10: what may have biased a measurement has a size, and noise has none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from synthetic_rows import row, with_facts

from restbench import ROOT
from restbench.analyse import warnings
from restbench.analyse.measurement import Measurement
from restbench.analyse.warnings import FLAGS, explain

USERS = 10
#: 10 users, 50 ms each: 200 completions a second, whose ends cut 2.5 % of the users' time.
SOUND = Measurement(
    block=1,
    flags=(),
    seconds=2.0,
    throughput_per_s=200.0,
    completions=400,
    errors=0,
    users_in_flight=10.0,
    generator_share=0.3,
    machine_cpu_pct=99.0,
    trials=1,
    count_gap=0.0,
)


def sizes(block: Measurement) -> dict[str, float]:
    return warnings.of_block(block, USERS)


@pytest.mark.parametrize(
    ("facts", "kind", "percent"),
    [
        # 12 of 10 users in flight; 12/400 are cut.
        ({"users_in_flight": 12.0}, "littles-law", 20 - 3),
        # 6 of 10, 1.5 % are cut: 38.5 % missing may be 63 % more; idle cores bound it.
        ({"users_in_flight": 6.0, "machine_cpu_pct": None}, "users-in-flight", 100 * 0.385 / 0.615),
        ({"users_in_flight": 6.0, "machine_cpu_pct": 75.0}, "users-in-flight", 25.0),
        (
            {"users_in_flight": 9.0, "machine_cpu_pct": 20.0},
            "users-in-flight",
            100 * 0.0775 / 0.9225,
        ),
        ({"count_gap": 0.2}, "count-mismatch", 20.0),
        ({"start_gap": 0.04}, "warm-up", 4.0),
        # Half of the CPU time: a ratio of 1.05 is shown as 1.05 ** 0.5.
        ({"generator_share": 0.5}, "generator-share", 2.5),
        ({"steal_pct": 5.0}, "steal", 100 * 5 / 95),
        ({"foreign_pct": 10.0}, "foreign-load", 100 * 10 / 90),
        ({"compile_share": 0.2}, "compiling", 25.0),
        ({"gc_share": 0.04}, "gc", 100 * 0.04 / 0.96),
        ({"off_cores_share": 0.5}, "off-cores", 100.0),
        ({"errors": 40}, "errors", 10.0),
        ({"extras": {"late_share": 0.2}}, "late-arrivals", 25.0),
    ],
)
def test_rule_10_each_cause_has_its_bound_in_percent(
    facts: dict[str, Any], kind: str, percent: float
) -> None:
    assert sizes(SOUND.model_copy(update=facts))[kind] == pytest.approx(percent)


def test_rule_10_a_sound_block_has_nothing_to_show_and_what_is_unknown_has_no_bound() -> None:
    assert sizes(SOUND) == pytest.approx({"generator-share": 1.5})
    assert sizes(Measurement(block=1, flags=())) == {}
    full = SOUND.model_copy(update={"users_in_flight": 6.0, "machine_cpu_pct": 95.0})
    assert "users-in-flight" not in sizes(full), "no core was idle: more users get no more"


@pytest.mark.parametrize("known", ["rate_per_s", "met_per_s", "failed_per_s", "down_s"])
def test_rule_10_users_in_flight_are_no_bias_at_a_rate_nor_while_something_is_down(
    known: str,
) -> None:
    """600 requests a second of 1 ms each keep 0.6 of 60 users busy, and should."""
    for users, kind in ((0.6, "users-in-flight"), (12.0, "littles-law")):
        closed = SOUND.model_copy(update={"users_in_flight": users, "machine_cpu_pct": 14.0})
        assert kind in sizes(closed)
        assert kind not in sizes(closed.model_copy(update={"extras": {known: 600.0}}))


def test_rule_10_a_cells_warning_is_the_mean_over_its_blocks_not_any_of_them() -> None:
    """10 % of steal in one block of five bias the mean by 2.2 %, in two by 4.4 %."""
    cell = row("java serial low 10", [100.0] * 5)
    assert with_facts(cell, steal_pct=[10.0, 0.0, 0.0, 0.0, 0.0]).warnings == ()
    (found,) = with_facts(cell, steal_pct=[10.0, 10.0, 0.0, 0.0, None]).warnings
    assert (found.kind, found.bias_percent) == ("steal", pytest.approx(100 * 2 / 9 / 5 * 1))
    assert str(found) == "steal ≤ 4.4 %"


def test_rule_10_what_has_no_size_is_a_note_with_its_number_of_blocks() -> None:
    cell = row("java serial low 10", [100.0] * 3, ["retried"])
    flags = {"flags": ("retried", "service-restarted")}
    first = cell.measurements[0].model_copy(update=flags)
    noted = replace(cell, measurements=(first, *cell.measurements[1:]))
    assert [(each.kind, each.text) for each in noted.notes] == [
        ("retried", FLAGS["retried"]),
        ("service-restarted", f"{FLAGS['service-restarted']} (in 1 of 3 blocks)"),
    ]
    assert noted.warnings == ()
    assert noted.record()["flags"] == "retried service-restarted"


def test_rule_10_every_warning_and_note_is_one_sentence() -> None:
    assert set(warnings.BOUNDS) <= set(FLAGS)
    for text in FLAGS.values():
        assert text[0].isupper()
        assert text.endswith(".")
    assert "Unknown" in explain("from-the-future")


def test_blocks_with_warnings_are_left_out_where_enough_are_left() -> None:
    cell = row("java serial low 10", [100.0] * 5)
    stolen = with_facts(cell, steal_pct=[9.0, 0.0, 0.0, 0.0, 9.0]).measurements
    assert [each.block for each in warnings.without_warned(stolen, USERS)] == [2, 3, 4]
    most = with_facts(cell, steal_pct=[9.0, 9.0, 9.0, 0.0, 0.0]).measurements
    assert warnings.without_warned(most, USERS) == most


@pytest.mark.parametrize("blocks", [5, 20])
def test_rule_10_noise_without_a_defect_raises_warnings_on_fewer_than_five_percent_of_cells(
    blocks: int,
) -> None:
    """Closed loads of 10 users, 200/s with noise of 10 % (AR, time constant 1 s), blocks of 10 s,
    every completion counted; by the flags of old 67 % of such cells were marked after 5 blocks and
    99 % after 20."""
    draw = np.random.default_rng(2019)
    cells = 100
    warned = sum(
        bool(warnings.of_cell([_noisy(draw) for _ in range(blocks)], USERS)) for _ in range(cells)
    )
    assert warned < 0.05 * cells


def _noisy(draw: np.random.Generator, window_s: float = 10.0) -> Measurement:
    """A block: completions at a rate that varies; a request has waited since the tenth before it,
    as a user sends the next with its answer."""
    step_s, load_s = 0.02, 2 * window_s
    steps = round(load_s / step_s)
    keep = np.exp(-step_s)
    noise, level = np.empty(steps), draw.normal()
    for n, shock in enumerate(draw.normal(size=steps) * np.sqrt(1 - keep**2)):
        level = keep * level + shock
        noise[n] = level
    counts = draw.poisson(200 * step_s * np.maximum(0.1, 1 + 0.1 * noise))
    ends_s = np.sort(
        np.repeat(np.arange(steps), counts) * step_s + draw.uniform(0, step_s, counts.sum())
    )
    waited_s = ends_s[USERS:] - ends_s[:-USERS]
    inside = ends_s[USERS:] >= load_s - window_s
    completed = int(inside.sum())
    return Measurement(
        block=1,
        flags=(),
        seconds=window_s,
        completions=completed,
        errors=0,
        users_in_flight=float(waited_s[inside].sum()) / window_s,
        count_gap=0.0,
        generator_share=float(draw.normal(0.35, 0.02)),
        steal_pct=float(draw.exponential(0.5)),
        foreign_pct=float(draw.exponential(0.5)),
        machine_cpu_pct=97.0,
    )


def test_the_page_on_reading_results_has_every_warning_and_no_note_that_is_none() -> None:
    page = (ROOT / "docs" / "reading-results.md").read_text(encoding="utf-8")
    section = page.partition("## Warnings and notes")[2].partition("**Proofs.**")[0]
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", section))
    assert set(warnings.BOUNDS) <= named <= set(FLAGS)
