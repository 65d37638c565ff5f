"""What an attempt ended with, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.schedule import attempts


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EnvironmentProblem("JMeter did not start a test"), "JMeter did not start a test"),
        (FileNotFoundError(2, "No such file", "setpriv"), "an error that nobody expected:"),
        (ValueError("could not convert string to float"), "ValueError: could not convert string"),
    ],
)
def test_whatever_an_attempt_ends_with_becomes_words(error: Exception, told: str) -> None:
    assert told in attempts.why(error)


@pytest.mark.parametrize(
    "make", [lambda: OSError(28, "No space left on device"), lambda: StorageProblem("full")]
)
def test_what_makes_every_record_impossible_is_no_cells_failure(
    make: Callable[[], Exception],
) -> None:
    with pytest.raises(StorageProblem):
        attempts.why(make())
