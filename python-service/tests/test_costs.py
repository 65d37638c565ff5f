"""Where a request is handled follows from what it costs and from who is in flight."""

from math import inf

import pytest

from restbench_service.execution.costs import (
    CALLER,
    LOW_PRIORITY,
    PROCESS,
    Costs,
    KindCosts,
    Place,
)

MILLISECOND = 1e6
COSTS = Costs(
    {"matrix": KindCosts(fixed_ns=50_000, ns_per_byte=10.0, ns_per_operation=2.0)},
    trip_ns=100_000,
    trip_ns_per_byte=1.0,
)
LIMITS = COSTS.limits()["matrix"]


@pytest.mark.parametrize(
    ("body_bytes", "has_company", "place"),
    [
        (3_000, False, CALLER),
        (3_000, True, CALLER),
        (300_000, False, CALLER),
        (300_000, True, PROCESS),
        (1_500_000, False, LOW_PRIORITY),
        (1_500_000, True, LOW_PRIORITY),
    ],
)
def test_a_body_s_length_and_the_others_in_flight_decide_where_a_request_goes(
    body_bytes: int, has_company: bool, place: Place
) -> None:
    assert LIMITS.place(body_bytes, has_company) == place


@pytest.mark.parametrize(
    ("operations", "has_company", "place"),
    [
        (1_000, True, CALLER),
        (1_000_000, False, CALLER),
        (1_000_000, True, PROCESS),
        (6_000_000, False, LOW_PRIORITY),
    ],
)
def test_the_operations_decide_where_the_rest_of_a_parsed_request_goes(
    operations: float, has_company: bool, place: Place
) -> None:
    assert LIMITS.place_parsed(operations, 3_000, has_company) == place


def test_a_trip_that_costs_more_keeps_larger_requests_at_home() -> None:
    far = Costs(COSTS.kinds, trip_ns=2 * MILLISECOND, trip_ns_per_byte=1.0)
    assert far.limits()["matrix"].place(300_000, True) == CALLER


def test_where_the_trip_grows_faster_than_the_work_no_length_is_worth_it() -> None:
    slow = Costs(COSTS.kinds, trip_ns=100_000, trip_ns_per_byte=5.0).limits()["matrix"]
    assert slow.process_from_bytes == inf
    assert slow.facts()["processFromBytes"] is None


def test_with_less_to_gain_from_a_trip_smaller_requests_make_it() -> None:
    few = COSTS.limits(0.5)["matrix"]
    assert few.facts() == {
        **LIMITS.facts(),
        "processFromBytes": 0,  # 50 us, whatever the length, are half a trip of 100
        "processFromOperations": 25_000,
        "processOperationsAByte": 0,
    }


def test_limits_are_what_takes_the_time_that_decides() -> None:
    assert LIMITS.facts() == {
        "processFromBytes": 18_750,  # 50 us and 10 ns a byte are twice 100 us and 1 ns a byte
        "lowPriorityFromBytes": 995_000,
        "processFromOperations": 100_000,
        "processOperationsAByte": 1,
        "lowPriorityFromOperations": 5_000_000,
        "blocksFromOperations": 10_000_000,
    }
