"""What the time of a run goes to. Each moment belongs to one phase, the innermost that is open, so
the phases add up to the whole.

Only the thread that keeps the account counts: what others do meanwhile takes no time of its
own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal

Phase = Literal[
    "checks",
    "service start",
    "proofs",
    "warm-up",
    "pilot",
    "queues",
    "trials",
    "long windows",
    "drain",
    "service stop",
    "dashboards",
    "tables and figures",
    "page",
]
#: The load is on and what is measured comes of it. Everything else is set-up and tear-down.
MEASURING: tuple[Phase, ...] = ("trials", "long windows")
#: What is in no phase: the harness' own start, plans, estimates, lines on the terminal.
OTHER = "other"


class Account:
    """Seconds by phase, from `begun_s` (a reading of `clock`) on."""

    def __init__(self, begun_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Until a phase is opened it is `other`."""
        self._clock = clock
        self._open: list[str] = [OTHER]
        self._since_s = begun_s
        self._seconds: dict[str, float] = {}

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """The block's time is the phase's, but for what phases within it take."""
        self._book()
        self._open.append(phase)
        try:
            yield
        finally:
            self._book()
            self._open.pop()

    def seconds(self) -> dict[str, float]:
        """What each phase has taken so far, in the order of their first moment."""
        self._book()
        return dict(self._seconds)

    def _book(self) -> None:
        now_s = self._clock()
        phase = self._open[-1]
        self._seconds[phase] = self._seconds.get(phase, 0.0) + now_s - self._since_s
        self._since_s = now_s


_kept: ContextVar[Account | None] = ContextVar("account", default=None)


@contextmanager
def kept(account: Account) -> Iterator[None]:
    """What is spent in the block, and said to be, goes to this account."""
    token = _kept.set(account)
    try:
        yield
    finally:
        _kept.reset(token)


def current() -> Account | None:
    """The account that is kept here; None where none is."""
    return _kept.get()


@contextmanager
def spent_on(phase: Phase) -> Iterator[None]:
    """The block, or the function that it decorates, is a phase of the run, where an account of it
    is kept."""
    account = _kept.get()
    with account.during(phase) if account else nullcontext():
        yield


def summary(seconds: Mapping[str, float]) -> str:
    """In a line, the longest part of set-up and tear-down first:
    `set-up and tear-down 23 % (warm-up 9.1 %, pilot 4.0 %, …), trials 70 %, long windows 7 %`."""
    whole = sum(seconds.values()) or 1.0
    rest = {name: spent for name, spent in seconds.items() if name not in MEASURING}
    parts = ", ".join(
        f"{name} {spent / whole:.1%}"
        for name, spent in sorted(rest.items(), key=lambda each: -each[1])
    )
    measured = ", ".join(f"{name} {seconds.get(name, 0.0) / whole:.0%}" for name in MEASURING)
    text = f"set-up and tear-down {sum(rest.values()) / whole:.0%} ({parts}), {measured}"
    return text.replace("%", " %")
