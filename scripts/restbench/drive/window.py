"""When a cell's window is over: a pure decision (method, rule 4)."""

from __future__ import annotations

from typing import Literal

from restbench.drive.load_profile import Profile

#: A mean needs this many completions (method, rule 4).
ENOUGH_FOR_A_MEAN = 30

Ended = Literal["enough", "capped"]


def window_over(elapsed_s: float, completions: int, profile: Profile) -> Ended | None:
    """None while the window goes on; else why it ends.

    It ends early when it has the completions asked for; at `window_max_s` when they suffice for a
    mean; at `slow_window_max_s` whatever there is.
    """
    if elapsed_s < profile.window_min_s:
        return None
    if completions >= profile.enough_completions:
        return "enough"
    capped_at = (
        profile.window_max_s if completions >= ENOUGH_FOR_A_MEAN else profile.slow_window_max_s
    )
    return "capped" if elapsed_s >= capped_at else None
