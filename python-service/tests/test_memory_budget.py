import pytest

from restbench_service.errors import RefusedError
from restbench_service.memory_budget import MemoryBudget


def test_what_fits_is_held_and_let_go_again() -> None:
    budget = MemoryBudget(100, "RESTBENCH_X_BYTES")
    with budget.hold(60), budget.hold(40):
        assert budget.held_bytes == 100
    assert budget.held_bytes == 0


def test_what_does_not_fit_is_refused_and_holds_nothing() -> None:
    budget = MemoryBudget(100, "RESTBENCH_X_BYTES")
    with budget.hold(60):
        with pytest.raises(RefusedError, match="RESTBENCH_X_BYTES") as refused:
            budget.hold(41).__enter__()
        assert (refused.value.code, refused.value.status) == ("008", 503)
        assert budget.held_bytes == 60
        with budget.hold(40):
            pass


def test_a_hold_grows_and_shrinks_within_the_limit() -> None:
    budget = MemoryBudget(100, "RESTBENCH_X_BYTES")
    with budget.hold(10) as hold, budget.hold(50):
        hold.resize(50)
        with pytest.raises(RefusedError):
            hold.resize(51)
        assert budget.held_bytes == 100
        hold.resize(20)
        assert budget.held_bytes == 70
    assert budget.held_bytes == 0


def test_a_hold_without_others_may_have_any_size() -> None:
    budget = MemoryBudget(100, "RESTBENCH_X_BYTES")
    with budget.hold(10) as hold:
        hold.resize(1000)
        with pytest.raises(RefusedError):
            budget.hold(1).__enter__()
    with budget.hold(100):
        pass


def test_an_error_in_the_block_lets_go() -> None:
    budget = MemoryBudget(100, "RESTBENCH_X_BYTES")
    with pytest.raises(ZeroDivisionError), budget.hold(60):
        raise ZeroDivisionError
    assert budget.held_bytes == 0
