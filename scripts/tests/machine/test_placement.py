"""Which cores the service and the load generator get."""

from __future__ import annotations

import pytest

from restbench.machine.placement import LARGEST_LOAD_SHARE, own_load_cores, place


def cores(count: int) -> tuple[int, ...]:
    return tuple(range(count))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("own", [None, 0])
def test_few_cores_are_shared(count: int, own: int | None) -> None:
    found = place("unbound", cores(count), own)
    assert found.shared
    assert found.load == found.service == cores(count)
    assert own_load_cores(count, cost=10) == 0


@pytest.mark.parametrize("count", [4, 5, 8, 16, 64])
@pytest.mark.parametrize("cost", [0.05, 1 / 3, 1.0, 3.0])
def test_the_generator_gets_the_fewest_cores_that_leave_it_room_and_at_most_half(
    count: int, cost: float
) -> None:
    own = own_load_cores(count, cost)
    assert 1 <= own <= count // 2

    def share(load: int) -> float:
        return cost * (count - load) / load

    assert own == count // 2 or share(own) <= LARGEST_LOAD_SHARE
    assert own == 1 or share(own - 1) > LARGEST_LOAD_SHARE


def test_its_cores_are_the_last_and_those_that_a_calibration_says() -> None:
    assumed = place("unbound", cores(8))
    assert (assumed.service, assumed.load) == ((0, 1, 2, 3), (4, 5, 6, 7))
    said = place("unbound", cores(8), own=2)
    assert (said.service, said.load) == (cores(6), (6, 7))
    assert not said.shared
    assert place("unbound", cores(8), own=7).load == (4, 5, 6, 7)
    assert place("unbound", cores(8), own=0).shared


def test_a_service_on_core_0_leaves_the_generator_its_own() -> None:
    bound = place("core0", (2, 3, 5, 7), own=1)
    assert (bound.service, bound.load) == ((2,), (7,))
    assert place("core0", (0, 1)).shared
