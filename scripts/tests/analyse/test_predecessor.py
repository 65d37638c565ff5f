"""Whether what ran before a trial shows in its result: not by chance, and where it does (method,
rule 2)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment_file import OPEN_LOAD as OPEN
from fixture_run import cell
from trial_run import START_MS, WHEN, build

from restbench.analyse import measures, predecessor
from restbench.analyse.predecessor import Course
from restbench.experiment.cell import Cell
from restbench.judge import trust
from restbench.show import export, report, views
from restbench.store.quoted import PredecessorEntry
from restbench.store.store import Run
from restbench.store.trials import Trial

JAVA = [cell(f"java {name} low 10") for name in ("serial", "pinned", "fork-join")]
PYTHON = [cell(f"python {name} low 10") for name in ("serial", "process-per-request")]
CELLS = [*JAVA, *PYTHON]
KNOWN = {each.id: each for each in CELLS}
HEAVY = JAVA[1]
SLOWED = 0.9
Effect = Callable[[Cell, Cell], bool]


def nothing(_before: Cell, _later: Cell) -> bool:
    return False


def course(seed: int, effect: Effect = nothing, rounds: int = 20, blocks: int = 3) -> Course:
    """Cells whose trials differ by 3 to 25 %, on a machine that drifts by as much from one trial to
    the next; where there is an `effect` of the trial before, a tenth is lost. The first cell is
    measured twice in each round."""
    chance, found = random.Random(seed), list[tuple[int, int, str, float]]()
    for block in range(1, blocks + 1):
        level, before = chance.lognormvariate(0, 0.2), None
        for number in range(1, rounds + 1):
            turns = [*CELLS, CELLS[0]]
            chance.shuffle(turns)
            for each in turns:
                place = CELLS.index(each)
                level *= chance.lognormvariate(0, 0.03)
                noise = chance.lognormvariate(0, 0.03 + 0.05 * place)
                kept = SLOWED if before and effect(before, each) else 1.0
                found.append((block, number, each.id, 100 * (1 + place) * level * noise * kept))
                before = each
    return found


def found_in(of: Course) -> PredecessorEntry:
    entry = predecessor.entry(of, KNOWN)
    assert entry is not None
    return entry


def shows(entry: PredecessorEntry) -> bool:
    return "HAS AN EFFECT" in said(entry)


def said(entry: PredecessorEntry | None) -> str:
    return trust.reasons("", [], [], [], entry, None)[2]


def test_of_200_runs_without_an_effect_at_most_5_percent_say_that_there_is_one() -> None:
    assert sum(shows(found_in(course(seed, rounds=12, blocks=2))) for seed in range(200)) <= 10


@pytest.mark.parametrize(
    ("effect", "after"),
    [
        (lambda before, _: before == HEAVY, (HEAVY.id,)),
        (lambda before, _: before.service == "python", ("any cell of python", "any cell of java")),
        (
            lambda before, later: before.service == later.service,
            ("its own process", "another process"),
        ),
    ],
)
def test_a_tenth_that_is_lost_after_some_trials_is_found_with_its_size(
    effect: Effect, after: tuple[str, ...]
) -> None:
    for seed in range(5):
        entry = found_in(course(seed, effect, rounds=40))
        assert shows(entry)
        assert entry.after in after
        # Next to what it is worse than, the other of the two is better by as much.
        lost = entry.effect_percent if entry.after == after[0] else -entry.effect_percent
        assert lost == pytest.approx(-10, abs=4)
        assert entry.low < entry.effect_percent < entry.high
        assert not entry.low <= 0 <= entry.high


def test_the_interval_and_the_p_value_are_of_one_test() -> None:
    for seed in range(30):
        entry = found_in(course(seed, rounds=6))
        assert (entry.p_value <= 0.05) == (not entry.low <= 0 <= entry.high)


def test_with_too_few_trials_of_a_cell_in_a_block_nothing_is_said() -> None:
    assert predecessor.entry([], KNOWN) is None
    # The one that is measured twice has enough of them, but what follows it has not.
    assert predecessor.entry(course(1, rounds=3), KNOWN) is None
    assert said(None).startswith("The measuring chain was not calibrated")


def test_trials_that_are_all_alike_say_nothing() -> None:
    alike = [(block, number, name, 100.0) for block, number, name, _ in course(1)]
    assert predecessor.entry(alike, KNOWN) is None


def test_it_is_one_line_of_words_with_the_size_of_the_clearest_effect() -> None:
    entry = PredecessorEntry(after="a", effect_percent=-0.84, low=-2.1, high=0.5, p_value=0.41)
    assert said(entry).startswith(
        "What ran before a trial has no detectable effect on its result (clearest effect "
        "-0.8 % [-2.1, 0.5], after a, p = 0.41). "
    )
    assert said(entry.model_copy(update={"p_value": 0.002})).startswith(
        "What ran before a trial HAS AN EFFECT on its result"
    )


def interleaved(run: Run, ids: Sequence[str], **extras: float) -> Run:
    """The run with one block: 40 rounds of two cells, the first of them twice."""
    run.trials.begin(1, WHEN["started"], {})
    chance = np.random.default_rng(1)
    for number in range(1, 41):
        turns = chance.permutation([*ids, ids[0]])
        run.trials.add(
            Trial(
                *(1, number, str(each), 10, START_MS, 1.0),
                elapsed_us=np.full(count, 10_000_000 // count),
                extras=extras,
            )
            for each, count in zip(turns, chance.integers(250, 350, 3), strict=True)
        )
    run.trials.finish(1, WHEN["finished"])
    return run


def test_a_run_tells_it_in_its_file_and_on_its_page_twice_the_same(tmp_path: Path) -> None:
    run = build(tmp_path / "run", {"java serial low 10": [300.0], "java pinned low 10": [300.0]})
    interleaved(run, [each.id for each in JAVA[:2]])
    made = []
    for _ in range(2):
        told = export.write(run, measures.rows(run), print)
        page = report.html(views.drawn(told, run))
        made.append((run.exported_file.read_bytes(), page))
    assert made[0] == made[1]
    assert "What ran before a trial has no detectable effect on its result" in page
    found = predecessor.entry(run.trials.course(), KNOWN)
    assert found is not None and told.predecessor is not None
    assert told.predecessor.after == found.after
    assert told.predecessor.p_value == pytest.approx(found.p_value)
    before = told.model_copy(update={"predecessor": None})
    assert "What ran before" not in " ".join(views.answer_of(before).reasons)


def test_an_open_load_has_none_as_its_rates_make_its_throughput(tmp_path: Path) -> None:
    cells = {"java serial tiny 16": [100.0], "java pinned tiny 16": [100.0]}
    run = build(tmp_path / "run", cells, experiment=OPEN)
    step = {"arrivals": 400.0, "unsent": 0.0, "late": 0.0}
    interleaved(run, [cell(each).id for each in cells], rate_per_s=9.0, achieved_per_s=9.0, **step)
    assert predecessor.entry(run.trials.course(), {cell(each).id: cell(each) for each in cells})
    assert export.write(run, measures.rows(run), print).predecessor is None


def slow_at_first(of: Course, rounds: int, part: float = 0.6) -> Course:
    """HEAVY was not warm in the first rounds of each block."""
    return [
        (block, number, cell, per_s * (part if cell == HEAVY.id and number <= rounds else 1.0))
        for block, number, cell, per_s in of
    ]


def once(of: Course) -> Course:
    """Without the second trial of the first cell in a round."""
    return list({each[:3]: each for each in of}.values())


def test_rule_3_a_cell_that_is_slow_at_first_is_found_with_what_that_makes_of_its_block() -> None:
    gaps = predecessor.start_gaps(slow_at_first(once(course(1, rounds=40)), rounds=10))
    own = [gaps.pop((block, HEAVY.id)) for block in (1, 2, 3)]
    # A quarter at 0.6: the rest is 0.6 ** -0.25 times as fast as the whole, less 1.
    assert own == pytest.approx([0.6**-0.25 - 1] * 3, abs=0.04)
    assert max(gaps.values()) < min(own) / 2, "with few others, it moves their median a little"


def test_rule_3_what_slows_all_cells_at_first_is_in_none_of_their_ratios() -> None:
    of = [
        (block, number, cell, per_s * (0.5 if number <= 10 else 1.0))
        for block, number, cell, per_s in once(course(2, rounds=40))
    ]
    assert sum(gap > 0.025 for gap in predecessor.start_gaps(of).values()) <= 1


def test_rule_3_noise_makes_no_start_that_differs() -> None:
    """Of 1 000 cells and blocks with trials that differ by up to 25 %."""
    gaps = [
        gap
        for seed in range(67)
        for gap in predecessor.start_gaps(once(course(seed, rounds=16))).values()
    ]
    assert len(gaps) >= 1000
    assert sum(gap > 0 for gap in gaps) <= 0.03 * len(gaps)
    assert sum(gap > 0.025 for gap in gaps) <= 0.02 * len(gaps)


def test_rule_3_a_few_trials_or_none_of_others_say_nothing_of_a_start() -> None:
    assert predecessor.start_gaps(once(course(1, rounds=11))) == {}
    alone = [each for each in slow_at_first(once(course(1)), rounds=5) if each[2] == HEAVY.id]
    assert predecessor.start_gaps(alone) == {}


def test_rule_3_a_slow_start_is_a_warning_of_its_cell_and_stands_in_the_runs_file(
    tmp_path: Path,
) -> None:
    names = [f"java {name} low {users}" for name in ("serial", "pinned") for users in (10, 30)]
    run = build(tmp_path / "run", {name: [100.0] for name in names})
    known = {each.cell: each for each in run.trials.trials() if not each.arm}
    run.trials.begin(2, "2026-11-21T01:02:00+00:00", {})
    for number in range(1, 21):
        for name, each in known.items():
            slower = 2.0 if (name == HEAVY.id and number <= 5) else 1.0
            seconds = each.seconds * slower * (1 + number % 3 / 100)
            run.trials.add([replace(each, block=2, round=number, seconds=seconds)])
    run.trials.finish(2, "2026-11-21T01:03:00+00:00")
    rows = {row.cell.id: row for row in measures.rows(run)}
    gap = rows[HEAVY.id].measurements[1].start_gap
    assert gap == pytest.approx(2**0.25 - 1, rel=0.02)
    assert "warm-up" in [each.kind for each in rows[HEAVY.id].warnings]
    others = [row for name, row in rows.items() if name in known and name != HEAVY.id]
    assert [row.measurements[1].start_gap for row in others] == [0.0] * 3
    told = export.write(run, list(rows.values()), pytest.fail)
    kept = [each.start_gap for each in told.blocks if each.cell == HEAVY.id]
    assert kept == [None, pytest.approx(gap)]
