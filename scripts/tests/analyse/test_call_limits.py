"""The least time of many calls: published values, and never above what a simulation needs."""

from __future__ import annotations

import heapq
import random

import pytest

from restbench.analyse.calls import WINDOW, OneCall, least_s, teams_of

TABLE = [
    ("task-pool", 4, (0.45, 2.75, 25.25, 250.25), (2.222, 4.0, 4.0, 4.0)),
    ("task-pool", 8, (0.45, 1.43, 13.13, 130.13), (2.222, 7.692, 7.692, 7.692)),
    ("task-pool", 64, (0.45, 0.453, 2.02, 20.02), (2.222, 24.283, 50.0, 50.0)),
    ("pipeline", 4, (0.604, 10.109, 100.109, 1000.109), (1.656, 1.088, 1.009, 1.001)),
    ("pipeline", 8, (0.604, 2.029, 20.029, 200.029), (1.656, 5.421, 5.043, 5.004)),
    ("pipeline-async", 3, (0.604, 0.704, 1.604, 10.604), (1.656, 15.625, 62.968, 94.398)),
    ("async", 2, (0.45, 0.453, 1.353, 10.353), (2.222, 24.283, 74.649, 96.687)),
]


def highest_speed_up(least: float, calls: int, of: OneCall) -> float:
    """Over one call after the other."""
    return calls * of.whole / least


def one(delay: float) -> OneCall:
    return OneCall(0.002, 0.001, delay, 0.006, 0.001)


@pytest.mark.parametrize(("strategy", "threads", "seconds", "speed_ups"), TABLE)
def test_the_limit_has_its_published_values(strategy, threads, seconds, speed_ups):
    for delay, expected, speed_up in zip((0, 0.1, 1, 10), seconds, speed_ups, strict=True):
        found = least_s(strategy, threads, 100, one(delay), cpu_s=0.009, cores=2)
        assert found == pytest.approx(expected, abs=0.0005)
        assert highest_speed_up(found, 100, one(delay)) == pytest.approx(speed_up, abs=0.0006)


def test_in_turn_every_call_takes_its_time():
    for delay, seconds in ((0, 1.0), (0.1, 11.0), (1, 101.0), (10, 1001.0)):
        assert least_s("sequential", 1, 100, one(delay), cpu_s=0.009, cores=2) == pytest.approx(
            seconds
        )


def test_of_waiting_alone_more_threads_help_in_steps():
    waiting = OneCall(0, 0, 1, 0, 0)
    found = {
        threads: highest_speed_up(
            least_s("task-pool", threads, 100, waiting, cpu_s=0, cores=2), 100, waiting
        )
        for threads in (1, 2, 4, 5, 8, 16, 32, 64, 100)
    }
    expected = {1: 1, 2: 2, 4: 4, 5: 5, 8: 7.692, 16: 14.286, 32: 25, 64: 50, 100: 100}
    assert found == pytest.approx(expected, abs=0.0005)


def test_no_calls_take_no_time_and_an_unknown_strategy_has_no_limit():
    assert least_s("async", 1, 0, one(1), cpu_s=0, cores=1) == 0
    with pytest.raises(ValueError, match="strategy: 'none'"):
        least_s("none", 1, 1, one(1), cpu_s=0, cores=1)


def test_a_pipeline_of_so_many_threads_has_its_teams():
    assert teams_of("pipeline", 8) == (1, 5, 1, 1)
    assert teams_of("pipeline-async", 3) == (1, 100, 1, 1)
    assert teams_of("pipeline-async", 12) == (5, 100, 6, 1)
    assert teams_of("pipeline-async", 7, one(1)) == (2, 100, 4, 1), "D takes three times S"
    assert teams_of("pipeline-async", 7, OneCall(0, 1, 1, 0, 0)) == (3, 100, 3, 1)


def simulated(strategy: str, threads: int, calls: int, of: OneCall, cores: int) -> float:
    """Seconds of an event simulation: greedy, first come first served; what computes takes a core,
    what waits does not."""
    teams = teams_of(strategy, threads, of) if strategy.startswith("pipeline") else None
    places = {"sequential": 1, "task-pool": threads}.get(strategy, 10**9)
    free = [*teams] if teams else [places, WINDOW, places, places]
    holds_all = strategy in {"sequential", "task-pool"}
    kinds = (True, False, True, True)  # takes a core
    times = of.stages
    queues: list[list[int]] = [list(range(calls)), [], [], []]
    events: list[tuple[float, int, int]] = []
    idle_cores, workers, now, done = cores, places, 0.0, 0
    while True:
        progress = True
        while progress:
            progress = False
            for stage in (3, 2, 1, 0):
                if not queues[stage] or (kinds[stage] and not idle_cores):
                    continue
                if holds_all and stage == 0:
                    if not workers:
                        continue
                    workers -= 1
                elif not holds_all and not free[stage]:
                    continue
                call = queues[stage].pop(0)
                idle_cores -= kinds[stage]
                free[stage] -= not holds_all
                heapq.heappush(events, (now + times[stage], stage, call))
                progress = True
        if not events:
            break
        now, stage, call = heapq.heappop(events)
        idle_cores += kinds[stage]
        free[stage] += not holds_all
        if stage == 3:
            done += 1
            workers += holds_all
        else:
            queues[stage + 1].append(call)
    assert done == calls
    return now


def test_no_simulated_batch_is_sooner_than_the_limit():
    draw = random.Random(27)
    near = []
    strategies = ("sequential", "task-pool", "pipeline", "pipeline-async", "async", "adaptive")
    for _ in range(1000):
        of = OneCall(*(draw.choice([0.0, 0.001, 0.01, draw.random()]) for _ in range(5)))
        strategy, cores = draw.choice(strategies), draw.randint(1, 4)
        threads, calls = draw.randint(4, 40), draw.choice([1, 2, 3, 17, 100, 200])
        measured = simulated(strategy, threads, calls, of, cores)
        limit = least_s(strategy, threads, calls, of, cpu_s=of.s + of.d + of.p, cores=cores)
        assert limit <= measured * (1 + 1e-9), (strategy, threads, calls, of, cores)
        near.append(limit / measured if measured else 1.0)
    assert sorted(near)[len(near) // 2] > 0.95, "it is not just low"
