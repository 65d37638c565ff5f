"""The table of execution techniques."""

from collections.abc import Callable
from dataclasses import dataclass

from .serial import Serial
from .strategy import Strategy


@dataclass(frozen=True)
class Start:
    """What a technique is started with.

    `processes` is the size of its pool, `running` the limit of requests at once under it (None:
    its own), `modules` what the processes import before their first request.
    """

    processes: int
    running: int | None
    modules: tuple[str, ...]


def _serial(start: Start) -> Strategy:
    return Serial(start.running)


TECHNIQUES: dict[str, Callable[[Start], Strategy]] = {
    "serial": _serial,
}
"""By name, in the order GET /strategies lists them. To be called after gunicorn's fork."""


def start_strategies(start: Start) -> dict[str, Strategy]:
    """Every technique, its processes starting."""
    return {name: technique(start) for name, technique in TECHNIQUES.items()}
