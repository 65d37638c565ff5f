"""From which size a strategy pays: on times that were made up so that the answer is known."""

from __future__ import annotations

import pytest

from restbench.experiment.cell import Shape
from restbench.experiment.records import BreakEven, Score
from restbench.show.document import table, words
from restbench.show.microbench_text import BREAK_EVENS
from tools.microbench_break_even import LARGEST_ROWS, break_evens, last_crossing

MEDIUM = {"medium": Shape(rows=1000, inner=50, columns=20)}
WOBBLE = (0.999, 1.0, 1.001)


def computed(strategy: str, us: float, wobble: tuple[float, ...] = WOBBLE) -> Score:
    return Score(
        service="java",
        part="compute",
        shape="medium",
        kernel="native",
        strategy=strategy,
        runs_us=tuple(us * each for each in wobble),
    )


def empty(strategy: str, rows: int, us: float) -> Score:
    runs_us = tuple(us * each for each in WOBBLE)
    return Score(service="java", part="dispatch", strategy=strategy, rows=rows, runs_us=runs_us)


def flat(strategy: str, us: float) -> list[Score]:
    """As long whatever the rows."""
    return [empty(strategy, rows, us) for rows in (1, 100, 1000)]


def serial() -> list[Score]:
    """1 us whatever the rows, then a microsecond a row."""
    return [*flat("serial", 1.0), computed("serial", 1001.0)]


def judged(*scores: Score) -> BreakEven:
    (found,) = break_evens([*serial(), *scores], MEDIUM)
    return found


def test_two_cores_and_a_flat_dispatch_break_even_where_half_the_work_is_the_dispatch() -> None:
    found = judged(*flat("shared-pool", 21.0), computed("shared-pool", 521.0))
    assert found.verdict == "from"
    assert found.faster == pytest.approx(2.0, rel=1e-3)
    assert found.rows == pytest.approx(40.0, rel=1e-2)  # 20 us more, half a us saved a row
    assert found.operations == pytest.approx(40_000, rel=1e-2)
    assert found.rows_low < found.rows < found.rows_high


def test_a_task_a_row_that_costs_more_than_the_row_saves_never_pays() -> None:
    a_row_each = [empty("thread-pool", rows, 10.0 + 0.7 * rows) for rows in (1, 100, 1000)]
    found = judged(*a_row_each, computed("thread-pool", 710.0 + 500.0))
    assert (found.verdict, found.rows, found.operations) == ("never", None, None)
    assert found.why == "to hand a row out costs more than it saves"


def test_what_computes_no_faster_never_pays_however_cheap_it_is() -> None:
    found = judged(*flat("pinned", 1.0), computed("pinned", 1001.0))
    assert (found.verdict, found.why) == ("never", "computes no faster than in order")


def test_times_that_scatter_leave_it_open() -> None:
    found = judged(*flat("pipeline", 2.0), computed("pipeline", 800.0, (0.6, 1.0, 1.4)))
    assert found.verdict == "unclear"
    assert found.rows is None


def test_an_estimate_that_is_a_little_slower_leaves_it_as_open_as_one_a_little_faster() -> None:
    cheap = flat("pipeline", 2.0)
    for us in (990.0, 1010.0):
        found = judged(*cheap, computed("pipeline", us, (0.7, 1.0, 1.3)))
        assert found.verdict == "unclear", f"{found.faster}: {found.why}"


def test_a_size_that_no_body_reaches_is_never_and_is_told() -> None:
    parallel = computed("shared-pool", 40_000.0 + 926.0, (1.0, 1.0, 1.0))
    found = judged(*flat("shared-pool", 40_000.0), parallel)
    assert found.verdict == "never"
    assert "more than the largest body has" in found.why
    assert LARGEST_ROWS > 100_000


def test_where_it_pays_from_the_first_row_that_is_told() -> None:
    assert judged(*flat("shared-pool", 1.0), computed("shared-pool", 501.0)).rows == 1.0


def test_the_knee_where_a_pool_has_all_its_threads_is_followed() -> None:
    """Up to 100 rows a thread more each, then none: it pays only beyond the knee."""
    knee = [empty("thread-pool", rows, us) for rows, us in ((1, 51.0), (100, 151.0), (1000, 151.0))]
    found = judged(*knee, computed("thread-pool", 651.0))
    assert found.rows == pytest.approx(300.0, rel=1e-2)  # 150 us more, half a us saved a row


def test_an_empty_loop_of_one_size_is_taken_for_all_sizes() -> None:
    one_size = [empty("serial", 1, 1.0), computed("serial", 1001.0)]
    rival = [empty("shared-pool", 1, 21.0), computed("shared-pool", 521.0)]
    (found,) = break_evens([*one_size, *rival], MEDIUM)
    assert found.rows == pytest.approx(40.0, rel=1e-2)


def test_a_kernel_is_judged_by_the_empty_loop_of_its_own_tasks() -> None:
    """Under `loops` a task has one row, under `native` sixteen; without dispatch both compute twice
    as fast."""
    scores: list[Score] = []
    for kernel, a_row in (("loops", 0.8), ("native", 0.05)):
        a_task = [empty("thread-pool", rows, 1.0 + a_row * rows) for rows in (1, 100, 1000)]
        pool = [*a_task, computed("thread-pool", 501.0 + 1000 * a_row)]
        scores += [each.model_copy(update={"kernel": kernel}) for each in (*serial(), *pool)]
    loops, native = break_evens(scores, MEDIUM)
    assert (loops.kernel, native.kernel) == ("loops", "native")
    assert [loops.faster, native.faster] == pytest.approx([2.0, 2.0], rel=1e-3)
    assert (loops.verdict, native.verdict) == ("never", "from")


def test_without_a_measurement_in_order_nothing_is_said() -> None:
    alone = [empty("shared-pool", rows, 1.0) for rows in (1, 100)] + [computed("shared-pool", 9.0)]
    assert break_evens(alone, MEDIUM) == []


def test_an_empty_loop_that_took_longer_than_the_whole_is_no_gain_without_end() -> None:
    slow = [empty("process-per-element", rows, 100.0 * rows) for rows in (1, 100, 1000)]
    found = judged(*slow, computed("process-per-element", 99_000.0))
    assert (found.verdict, found.faster) == ("never", None)


def test_where_dispatch_is_all_of_the_time_no_speed_up_is_made_up() -> None:
    handed_out = computed("process-per-request", 99.9, (0.99, 1.0, 1.2))
    found = judged(*flat("process-per-request", 100.0), handed_out)
    assert (found.verdict, found.why) == ("unclear", "to hand it out takes all of the time")
    assert (found.faster, found.faster_low, found.faster_high) == (None, None, None)
    (line,) = table("", BREAK_EVENS, [found]).rows
    assert [*map(words, line[-3:])] == ["undecided: to hand it out takes all of the time", "", ""]


def test_of_several_shapes_the_largest_of_the_studys_kind_decides() -> None:
    sizes = {
        "low": Shape(rows=30, inner=20, columns=20),
        "medium": Shape(rows=1000, inner=50, columns=20),
        "cube": Shape(rows=200, inner=200, columns=200),
    }
    medium = [*flat("shared-pool", 1.0), computed("shared-pool", 501.0)]
    others = [
        each.model_copy(update={"shape": name})
        for name in ("cube", "low")
        for each in (computed("serial", 5001.0), computed("shared-pool", 5001.0))
    ]
    (found,) = break_evens([*serial(), *others, *medium], sizes)
    assert found.faster == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize(
    ("points", "slope", "expected"),
    [
        ([(1, -4.0), (5, -4.0)], 2.0, 7.0),
        ([(1, -4.0), (5, 4.0)], 2.0, 3.0),
        ([(1, 4.0), (3, -4.0), (5, 4.0)], 2.0, 4.0),
        ([(1, 4.0), (5, 4.0)], 2.0, 1.0),
        ([(1, 4.0), (5, 4.0)], -1.0, None),
        ([(1, 4.0), (5, 4.0)], 0.0, None),
        ([(1, -2.0)], 1.0, 3.0),
    ],
)
def test_the_last_crossing_is_the_one_that_counts(
    points: list[tuple[int, float]], slope: float, expected: float | None
) -> None:
    assert last_crossing(points, slope) == expected
