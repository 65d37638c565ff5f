"""Going on with a finished run: its own cells and claims, more blocks, its old ones kept."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_blocks import View, measured, order_of

from restbench.commands import measuring, results
from restbench.experiment.profile import LONG_SLOW_ROUND_S, MOST_BLOCKS
from restbench.experiment.records import BuiltCommit
from restbench.failures import BadConfiguration, Interrupted
from restbench.schedule import allocation, begin, block, runner
from restbench.store.store import Run
from restbench.store.writing import write_model

pytestmark = pytest.mark.usefixtures("known_machine")


@pytest.fixture
def finished(tmp_path: Path, run: Run) -> Run:
    """Two blocks, of five minutes each (`measured`)."""
    runner.execute(order_of(tmp_path, 2, 2), run, View())
    run.report.write_text("its page")
    return run


def test_an_extended_run_has_its_own_cells_and_claims_and_blocks_as_long_as_it_had(
    finished: Run,
) -> None:
    begun = finished.manifest()
    order = begin.order_to_extend(finished, 17)
    assert {each.cell for each in order.plan} == {each.cell for each in begun.plan}
    assert order.claims_text == finished.claims_file.read_text()
    assert order.experiment_text == finished.experiment_file.read_text()
    assert order.profile.block_s == 300
    assert (order.profile.blocks, order.profile.blocks_max) == (3, 2 + 10)
    assert allocation.block_seconds(order, finished, 3) == 300


def test_it_measures_one_block_more_and_keeps_those_there_were(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = finished.trials.trials()
    monkeypatch.setattr(runner, "undecided", lambda _run: [])
    manifest = runner.execute(begin.order_to_extend(finished, 17), finished, View())
    assert {each.block for each in manifest.plan} == {1, 2, 3}
    assert manifest.status == "complete"
    assert len(finished.trials.trials()) == len(first) * 3 // 2
    (noted,) = finished.interruptions()
    assert (noted.how, noted.lost) == ("extended", ())


def test_an_interrupted_extension_names_the_command_that_goes_on_with_it(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--resume` takes it for another run: its plan has other blocks."""

    def interrupted(*_given: object) -> None:
        raise Interrupted("interrupted")

    monkeypatch.setattr(results, "with_raw_data", lambda _name: finished)
    monkeypatch.setattr(measuring.environment, "check", lambda _order: ())
    monkeypatch.setattr(runner, "execute", interrupted)
    again = rf", 'restbench extend {finished.name}' continues the run"
    with pytest.raises(Interrupted, match=again):
        measuring.extend_run("latest", 30.0)


@pytest.mark.parametrize("given", ["--minutes 90", "--minutes=90"])
def test_one_that_was_to_be_long_and_ended_early_still_measures_slower_cells(
    finished: Run, given: str
) -> None:
    """Ten minutes and 17 are no long run: cells of its first blocks were left out as too slow."""
    assert begin.order_to_extend(finished, 17).profile.longest_round_s == 10
    manifest = finished.manifest()
    command = f"{manifest.command} {given}"
    write_model(finished.manifest_file, manifest.model_copy(update={"command": command}))
    profile = begin.order_to_extend(finished, 17).profile
    assert (profile.slow_round_s, profile.longest_round_s) == (LONG_SLOW_ROUND_S, 90)
    assert (profile.minutes, profile.blocks, profile.block_s) == (27, 3, 300)


def test_while_a_claim_is_undecided_it_goes_on_for_its_minutes(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "undecided", lambda _run: [SimpleNamespace(parts=())])
    manifest = runner.execute(begin.order_to_extend(finished, 17), finished, View())
    assert {each.block for each in manifest.plan} == {1, 2, 3, 4, 5}


def test_what_an_extension_takes_is_told_without_what_is_measured_already(finished: Run) -> None:
    order = begin.order_to_extend(finished, 17)
    told = "2 cells, 1 more block in about 17 min 00 s; one takes at least "
    assert measuring._cost(order, finished).startswith(told)
    assert measuring._cost(order, finished).endswith(
        "; up to 9 more while a claim is undecided and there is time"
    )


def test_a_run_without_claims_is_extended_by_as_many_blocks_as_there_is_time_for(
    finished: Run,
) -> None:
    """It got a single block, however many minutes were asked for."""
    finished.claims_file.unlink()
    manifest = runner.execute(begin.order_to_extend(finished, 17), finished, View())
    assert {each.block for each in manifest.plan} == {1, 2, 3, 4, 5}


def test_killed_while_it_was_extended_it_can_be_extended_again(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_given: object) -> None:
        finished.trials.begin(3, "2026-11-24T02:00:00+00:00", {})
        raise KeyboardInterrupt

    monkeypatch.setattr(block, "measure", dies)
    with pytest.raises(KeyboardInterrupt):
        runner.execute(begin.order_to_extend(finished, 5), finished, View())
    assert finished.manifest().status == "interrupted"
    monkeypatch.setattr(block, "measure", measured)
    manifest = runner.execute(begin.order_to_extend(finished, 5), finished, View())
    assert {each.block for each in manifest.plan} == {1, 2, 3}
    assert [each.how for each in finished.interruptions()] == ["extended", "interrupted"]


def test_a_run_without_a_finished_block_is_resumed_not_extended(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(block, "measure", dies)
    with pytest.raises(KeyboardInterrupt):
        runner.execute(order_of(tmp_path, 2, 2), run, View())
    again = re.escape(f"'{run.manifest().command} --resume' continues it")
    with pytest.raises(BadConfiguration, match=again):
        begin.order_to_extend(run, 5)


def test_what_is_left_of_a_run_names_a_command_that_can_measure_it(
    finished: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    results.show_remaining(finished)
    assert (
        f"to measure more: restbench extend {finished.name} --minutes N" in capsys.readouterr().out
    )
    built = BuiltCommit(asked="HEAD", git_commit="1a2b3c4d", git_dirty=False)
    compares = finished.manifest().model_copy(update={"builds": {"A": built, "B": built}})
    write_model(finished.manifest_file, compares)
    results.show_remaining(finished)
    told = capsys.readouterr().out
    assert "extend" not in told
    assert "'restbench ab --minutes N' makes a longer run" in told


def test_blocks_that_took_less_than_five_seconds_count_as_five(finished: Run) -> None:
    for each in finished.trials.blocks():
        finished.trials.finish(each.block, each.began)
    order = begin.order_to_extend(finished, 0.26)
    assert order.profile.block_s == pytest.approx(5.0)
    assert order.profile.blocks_max == 2 + 9


def test_an_extended_run_has_at_most_as_many_blocks_as_any_run(finished: Run) -> None:
    """The plan of a week of blocks of five seconds would take gigabytes of memory."""
    for each in finished.trials.blocks():
        finished.trials.finish(each.block, each.began)
    assert begin.order_to_extend(finished, 600).profile.blocks_max == MOST_BLOCKS
