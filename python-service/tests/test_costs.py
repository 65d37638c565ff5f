"""Where a request is handled follows from what it costs and from who is in flight."""

from math import inf

import pytest

from restbench_service.execution.costs import Costs, KindCosts, Place

MILLISECOND = 1e6
COSTS = Costs(
    {"matrix": KindCosts(fixed_ns=50_000, ns_per_byte=10.0, ns_per_operation=2.0)},
    trip_ns=100_000,
    trip_ns_per_byte=1.0,
)


@pytest.mark.parametrize(
    ("body_bytes", "others", "place"),
    [
        (3_000, 0, Place.CALLER),
        (3_000, 60, Place.CALLER),
        (300_000, 0, Place.CALLER),
        (300_000, 1, Place.PROCESS),
        (1_500_000, 0, Place.LOW_PRIORITY),
        (1_500_000, 60, Place.LOW_PRIORITY),
    ],
)
def test_a_body_s_length_and_the_others_in_flight_decide_where_a_request_goes(
    body_bytes: int, others: int, place: Place
) -> None:
    assert COSTS.place("matrix", body_bytes, others) is place


@pytest.mark.parametrize(
    ("operations", "others", "place"),
    [
        (1_000, 60, Place.CALLER),
        (1_000_000, 0, Place.CALLER),
        (1_000_000, 1, Place.PROCESS),
        (6_000_000, 0, Place.LOW_PRIORITY),
    ],
)
def test_the_operations_decide_where_the_rest_of_a_parsed_request_goes(
    operations: float, others: int, place: Place
) -> None:
    assert COSTS.place_parsed("matrix", operations, 3_000, others) is place


def test_a_trip_that_costs_more_keeps_larger_requests_at_home() -> None:
    far = Costs(COSTS.kinds, trip_ns=2 * MILLISECOND, trip_ns_per_byte=1.0)
    assert far.place("matrix", 300_000, 1) is Place.CALLER


def test_a_kind_of_which_nothing_is_known_goes_to_a_process_and_is_never_shared() -> None:
    assert COSTS.place("other", 1, 0) is Place.PROCESS
    assert COSTS.operations_of("other", MILLISECOND) == inf


def test_operations_of_a_time_are_in_proportion_to_it() -> None:
    assert COSTS.operations_of("matrix", 20 * MILLISECOND) == 10_000_000
