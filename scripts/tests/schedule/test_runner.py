"""A run's blocks: how many, how long, which are measured again, and when it ends (rule 6)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from closed_driver import answers
from made_blocks import View, measured, order_of, took
from stub_bench import Bench

from restbench.analyse.estimates import measurements
from restbench.commands import measuring
from restbench.drive import generator, monitor
from restbench.drive.generator import WRONG
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.selection import Where
from restbench.failures import EnvironmentProblem, NotOffered, StorageProblem
from restbench.schedule import allocation, block, runner, under_load, windows
from restbench.schedule.block_run import BlockOrder
from restbench.schedule.deployments import Deployments
from restbench.schedule.pace import PlannedTrial
from restbench.show.progress import BlockProgress
from restbench.store.store import Run
from restbench.store.trials import BEFORE_TRIALS_S, MISSING_S, SPARE_S

pytestmark = pytest.mark.usefixtures("known_machine")
#: A claim that needs more blocks.
UNDECIDED = SimpleNamespace(parts=())

#: A block that is not made up.
MEASURE = block.measure
ONCE_MORE = "block 1: second attempt: JMeter has ended or does not answer"


def test_a_run_with_nothing_to_decide_ends_after_its_planned_blocks(
    tmp_path: Path, run: Run
) -> None:
    view = View()
    manifest = runner.execute(order_of(tmp_path, 2, 9), run, view)
    assert {each.block for each in manifest.plan} == {1, 2}
    assert view.notes.count("  not measured   X1") == 2, "after each block"
    assert manifest.status == "complete"
    held = run.claims_file.read_bytes()
    assert manifest.claims_sha256 == hashlib.sha256(held).hexdigest()


@pytest.mark.parametrize(("minutes", "blocks"), [(60, {1, 2, 3, 4}), (14, {1, 2})])
def test_while_a_claim_is_undecided_and_there_is_time_there_are_more_blocks(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, minutes: float, blocks: set[int]
) -> None:
    """Of 14 minutes a third would have 4, and needs 7."""
    monkeypatch.setattr(runner, "undecided", lambda _decisions: [UNDECIDED])
    manifest = runner.execute(order_of(tmp_path, 2, 4, minutes=minutes), run, View())
    assert {each.block for each in manifest.plan} == blocks


def test_only_blocks_that_are_not_finished_are_measured_when_a_run_goes_on(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = order_of(tmp_path, 3, 3)

    def dies_in_the_second(wanted: BlockOrder) -> None:
        if wanted.block == 2:
            run.trials.begin(2, "now", {})
            raise KeyboardInterrupt
        measured(wanted)

    monkeypatch.setattr(block, "measure", dies_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        runner.execute(order, run, View())
    assert run.manifest().status == "interrupted"
    first = run.trials.trials()
    numbers = []
    monkeypatch.setattr(
        block, "measure", lambda wanted: (numbers.append(wanted.block), measured(wanted))
    )
    view = View()
    assert runner.execute(order, run, view).status == "complete"
    assert numbers == [2, 3]
    assert [each.began_ms for each in run.trials.trials()[: len(first)]] == [0] * len(first)
    (noted,) = run.interruptions()
    assert (noted.kept, noted.lost) == (2, ("block 2",))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EnvironmentProblem("JMeter has ended or does not answer; its log ends:\nno"), [ONCE_MORE]),
        (StorageProblem("full"), []),
    ],
)
def test_a_block_that_fails_is_measured_once_more_and_then_ends_the_run_as_a_full_disk_does_at_once(
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    error: EnvironmentProblem,
    told: list[str],
) -> None:
    attempts = []

    def fails(*_given: object) -> None:
        attempts.append(1)
        raise error

    monkeypatch.setattr(block, "measure", fails)
    view = View()
    with pytest.raises(type(error)):
        runner.execute(order_of(tmp_path, 1, 1), run, view)
    assert len(attempts) == 1 + len(told)
    assert [each for each in view.notes if "second attempt" in each] == told


def with_windows(order: Order) -> Order:
    """Two of ten seconds."""
    changed = {"windows": [Where()], "window_s": 10.0}
    return replace(order, profile=order.profile.model_copy(update=changed))


def test_a_service_that_does_not_come_up_costs_its_long_windows_and_a_full_disk_ends_them(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = iter([EnvironmentProblem("not here"), StorageProblem("full")])

    def start(*_of: object) -> None:
        raise next(errors)

    order = with_windows(order_of(tmp_path, 1, 1))
    monkeypatch.setattr(Deployments, "start", start)
    windows.take(order, run, View())
    told = {(each.kind, each.text, each.cell) for each in run.trials.events()}
    assert told == {("window-failed", "not here", each.cell.id) for each in order.plan}
    with pytest.raises(StorageProblem):
        windows.take(order, run, View())


def finished(run: Run, order: Order, *numbers: int) -> None:
    """Whole blocks with trials of each cell, and one after them that was cut short."""
    for number in numbers:
        measured(BlockOrder(order, run, View(), number, allocation.groups_of(order), 60.0))
    run.trials.begin(numbers[-1] + 1, "2026-11-24T02:00:00+00:00", {})


def flags_of(run: Run) -> dict[tuple[str, int], tuple[str, ...]]:
    """By cell and block, of what counts, where there are any."""
    trials = run.trials
    found = measurements(trials.trials(), trials.events(), trials.blocks(), cores=2)
    return {(id, each.block): each.flags for id, its in found.items() for each in its if each.flags}


def test_a_cell_whose_long_window_failed_has_a_note_of_it_at_what_was_measured(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event of no block was no cell's, and one of a block that was cut short does not count."""
    order = with_windows(order_of(tmp_path, 2, 2))
    finished(run, order, 1, 2)
    monkeypatch.setattr(Deployments, "start", Mock(side_effect=EnvironmentProblem("not here")))
    windows.take(order, run, View())
    assert flags_of(run) == {(each.cell.id, 2): ("window-failed",) for each in order.plan}


def under_windows(
    patch: pytest.MonkeyPatch,
    trial: Callable[..., Any],
    lacks: Callable[[Cell], Any] = lambda _cell: None,
    **service: Callable[[], Any],
) -> SimpleNamespace:
    """Windows have such loads, on a service that is up or is like that. The load generator."""
    usual = {"pids": tuple, "alive": lambda: True, "ending": lambda: "it died"}
    its = SimpleNamespace(base_url="http://here", **(usual | service))
    running = SimpleNamespace(service=its, cores=SimpleNamespace(own_load=None))
    up = SimpleNamespace(running=lambda _cell: running, lacks=lacks)
    load = SimpleNamespace(cell=lambda *_of: None, trial=trial, pid=1)
    patch.setattr(under_load, "services", lambda *_of: nullcontext(up))
    patch.setattr(generator, "started", lambda *_of: nullcontext(load))
    patch.setattr(monitor, "collectors", lambda *_of: nullcontext({}))
    return load


def marked(sent: Any) -> Any:
    """With the moments that a window is told of."""
    sent.begun = sent.opened = sent.closed = SimpleNamespace(epoch_ms=1)
    return sent


def test_what_is_not_offered_has_no_long_window_and_says_so_as_in_a_block(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window of nothing but 404 was measured, whose requests were errors."""
    order = with_windows(order_of(tmp_path, 1, 1))
    first, second = order.plan
    optional = first.cell.model_copy(update={"strategy": "virtual-threads"})
    order = replace(order, plan=(first.model_copy(update={"cell": optional}), second))
    finished(run, order, 1)
    asked: list[str] = []

    def trial(name: str, *_of: object) -> Any:
        asked.append(name)
        return marked(answers([0.01] * 4))

    lack = NotOffered("not on Java 17")
    under_windows(monkeypatch, trial, lacks=lambda of: lack if of == optional else None)
    windows.take(order, run, View())
    assert {*asked} == {second.cell.id}
    (told,) = run.trials.events()
    assert (told.kind, told.text, told.cell) == ("not-offered", "not on Java 17", optional.id)


def test_a_service_that_ends_in_a_long_window_leaves_none(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last answers were right: the window had a throughput that nobody measured."""
    order = with_windows(order_of(tmp_path, 2, 2))
    finished(run, order, 1, 2)
    under_windows(monkeypatch, lambda *_: marked(answers([0.01] * 4)), alive=lambda: False)
    windows.take(order, run, View())
    assert {*windows.missing(order, run)} == {each.cell for each in order.plan}
    told = {(each.kind, each.text) for each in run.trials.events()}
    assert told == {("window-failed", "it died")}


@pytest.mark.parametrize("when", ["in it", "in its warm-up", "in it, before a kill"])
def test_rule_5_a_wrong_answer_in_a_long_window_voids_its_cell_in_the_last_whole_block_alone(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """It was in the samples, for nobody to see, and the run ended well, or went on after a kill."""
    is_warm_up, is_killed = when == "in its warm-up", when == "in it, before a kill"
    order = with_windows(order_of(tmp_path, 2, 2))
    finished(run, order, 1, 2)
    wrong = order.plan[0].cell.id

    def trial(name: str, _users: int, _drop_s: float, keep_s: float, _pids: object) -> Any:
        sent = marked(answers([0.01] * 4))
        if name == wrong and (keep_s < order.profile.window_s) == is_warm_up:
            sent.records["outcome"][1:3] = WRONG
        return sent

    under_windows(monkeypatch, trial)
    if is_killed:
        monkeypatch.setattr(windows, "write_record", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt) if is_killed else nullcontext():
        windows.take(order, run, View())
    assert is_killed or windows.missing(order, run) == [], "it is a window all the same"
    (told,) = run.trials.events()
    assert (told.kind, told.text) == ("wrong", "2 answers were wrong in a long window")
    assert flags_of(run) == {(wrong, 2): ("wrong-answers", "failed")}


def test_a_long_window_keeps_connections_as_long_as_its_cell_says(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    load = under_windows(monkeypatch, Mock(side_effect=EnvironmentProblem("enough is seen")))
    load.cell = lambda *given: asked.append(given[1])
    order = with_windows(order_of(tmp_path, 1, 1))

    def anew(of: Cell) -> Cell:
        return of.model_copy(update={"connection": "each"})

    plan = [each.model_copy(update={"cell": anew(each.cell)}) for each in order.plan]
    windows.take(replace(order, plan=tuple(plan)), run, View())
    (url,) = asked
    assert url.endswith("?kernel=loops#each")


def test_cells_are_in_the_first_group_that_selects_them_and_the_rest_is_one(
    tmp_path: Path,
) -> None:
    path = Path(Bench(tmp_path).experiment({"java": ["serial", "pinned", "pipeline"]}))
    groups = """
[[groups]]
name = "two"
share = 3
where = { strategy = ["serial", "pinned"] }
[[groups]]
name = "again"
where = { strategy = "serial" }
"""
    path.write_text(path.read_text() + groups)
    found = allocation.groups_of(measuring.order_for(str(path), "p", "", []))
    told = [(each.name, {cell.strategy for cell in each.cells}, each.share) for each in found]
    assert told == [("two", {"serial", "pinned"}, 3), ("rest", {"pipeline"}, 1)]
    assert [each.compared for each in found] == [True, False]


@pytest.mark.parametrize(
    ("minutes", "facts", "blocks", "said"),
    [
        (12, {SPARE_S: 90.0}, 5, ["a block takes at least 10.5 minutes, 48.0 are left: 4 more"]),
        (13, {SPARE_S: 420.0}, 5, ["a block takes at least 6.0 minutes, 47.0 are left: 4 more"]),
        (13, {}, 5, ["a block takes at least 6.0 minutes, 47.0 are left: 4 more"]),
        (
            14,
            {SPARE_S: 0.0},
            4,
            [
                "a block takes at least 14.0 minutes, 46.0 are left: 3 more",
                "a block takes at least 14.0 minutes, 4.0 are left: no more",
            ],
        ),
        (
            12,
            {SPARE_S: 700.0, MISSING_S: 180.0},
            4,
            [
                "a block takes at least 6.0 minutes, 15.0 to measure every cell, 48.0 are left: "
                "3 more",
                "a block takes at least 6.0 minutes, 15.0 to measure every cell, 12.0 are left: "
                "no more",
            ],
        ),
        (
            23,
            {SPARE_S: 60.0},
            3,
            [
                "a block takes at least 22.0 minutes, 37.0 are left: 2 more, "
                "ending 7.0 minutes late, as an interval needs them",
                "a block takes at least 22.0 minutes, 0.0 are left: no more",
            ],
        ),
    ],
)
def test_what_the_first_block_took_tells_how_many_planned_ones_there_are(  # noqa: PLR0917
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    minutes: int,
    facts: dict[str, float],
    blocks: int,
    said: list[str],
) -> None:
    """Five of twelve minutes are planned; three are the fewest."""

    planned: list[int] = []

    def measure(wanted: BlockOrder) -> None:
        planned.append(wanted.planned)
        took(run, wanted.block, minutes, **facts)

    monkeypatch.setattr(block, "measure", measure)
    view = View()
    manifest = runner.execute(order_of(tmp_path, 5, 5, minutes=60), run, view)
    assert (planned[0], planned[-1]) == (5, blocks), "as far as it is known before each"
    assert {each.block for each in manifest.plan} == set(range(1, blocks + 1))
    assert [each for each in view.notes if each.startswith("a block takes")] == said


@pytest.mark.parametrize("spare_part", [1.0, 0.75])
def test_a_block_keeps_what_its_trials_could_have_done_without(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, spare_part: float
) -> None:
    """The whole time of trials that end when it is over (1.0)."""
    now_s = [0.0]

    def rounds(_seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        now_s[0] += 40.0
        yield from ()

    @contextmanager
    def opened(*_of: object) -> Iterator[SimpleNamespace]:
        now_s[0] += 20.0
        here = SimpleNamespace(progress=BlockProgress(1), spare_part=spare_part, missing_s=-5.0)
        yield SimpleNamespace(here=here, rounds=rounds)

    order = order_of(tmp_path, 1, 1)
    monkeypatch.setitem(block.DRIVERS, order.experiment.driver, opened)
    monkeypatch.setattr(block, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    MEASURE(BlockOrder(order, run, View(), 1, allocation.groups_of(order), 60.0))
    (kept,) = run.trials.blocks()
    assert kept.facts[SPARE_S] == 40.0 * spare_part
    assert kept.facts[BEFORE_TRIALS_S] == 20.0
    assert kept.least_s == (kept.seconds or 0.0) - 40.0 * spare_part
    assert kept.whole_s == (kept.seconds or 0.0) - 5.0


def test_blocks_leave_time_for_the_long_windows(tmp_path: Path, run: Run) -> None:
    order = with_windows(order_of(tmp_path, 4, 4, minutes=40))
    assert allocation.block_seconds(order, run, 1) == (2400 - 2 * 1.6 * 10) / 4


@pytest.mark.parametrize(("minutes", "wanted"), [(12.6, True), (12.5, False)])
def test_a_further_block_has_time_where_one_like_the_last_and_the_long_windows_have(
    tmp_path: Path, run: Run, minutes: float, wanted: bool
) -> None:
    """Two blocks of six minutes; two windows take 32 s."""
    order = with_windows(order_of(tmp_path, 1, 4, minutes=minutes))
    order = replace(order, profile=order.profile.model_copy(update={"block_minutes": 5.0}))
    took(run, 1, minutes=6)
    run.trials.begin(2, "2026-11-24T01:06:00+00:00", {})  # one that was killed
    assert allocation.has_time(order, run) == wanted
