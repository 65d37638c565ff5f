"""Which sizes are doubled, and how fast each quantity may grow with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.commands.options import require_known
from restbench.experiment.cell import STRATEGIES, Kernel, ServiceName, Shape
from tools.service_choice import Choice, choice

SMOKE, QUICK = "smoke", "quick"


@dataclass(frozen=True)
class Sweep:
    """Operands of sizes that double."""

    name: str
    over: str
    """What doubles: `n`, `rows`, `tasks`."""
    kernel: Kernel
    shapes: tuple[Shape, ...]
    sizes: tuple[int, ...]
    expected: dict[str, float]
    """The largest exponent that is right, of each stage that is looked at."""


def cubes(kernel: Kernel, sizes: Sequence[int]) -> Sweep:
    """n x n times n x n: n cubed operations, n squared elements to read and to write."""
    shapes = tuple(Shape(rows=n, inner=n, columns=n) for n in sizes)
    expected = {"parse": 2.0, "compute": 3.0, "serialize": 2.0}
    return Sweep(f"cubes {kernel}", "n", kernel, shapes, tuple(sizes), expected)


def study_rows(kernel: Kernel, sizes: Sequence[int]) -> Sweep:
    """The study's rows x 50 times 50 x 20: everything in proportion to the rows."""
    shapes = tuple(Shape(rows=n, inner=50, columns=20) for n in sizes)
    expected = {"parse": 1.0, "compute": 1.0, "serialize": 1.0}
    return Sweep(f"rows {kernel}", "rows", kernel, shapes, tuple(sizes), expected)


def dispatch(sizes: Sequence[int]) -> Sweep:
    """A column of elements with one operation each: a task a row, and nothing to do in it."""
    shapes = tuple(Shape(rows=n, inner=1, columns=1) for n in sizes)
    return Sweep("dispatch", "tasks", "loops", shapes, tuple(sizes), {"compute": 1.0})


@dataclass(frozen=True)
class Plan:
    """What is measured, and how often."""

    choice: Choice
    sweeps: Mapping[ServiceName, tuple[Sweep, ...]]
    """Under `serial`."""
    dispatched: Sweep
    """Under every strategy that the choice leaves of a service's."""
    users: tuple[int, ...]
    """All of them enough to keep a small machine busy: below that the throughput still rises."""
    processes: tuple[int, ...]
    """In a pool of the Python service."""
    rounds: int
    user_rounds: int
    user_s: float
    """Of one load; wrk knows whole seconds."""


_ROWS = (250, 500, 1000, 2000, 4000)
_CUBES = (60, 120, 240, 480)
"""No powers of 2: columns of such rows fall on the same few places of a cache."""
_LOOPS: dict[ServiceName, tuple[int, ...]] = {"java": _CUBES, "python": (30, 60, 120, 240)}
"""Python's triple loop takes 40 ns an operation."""

SWEEPS: dict[ServiceName, tuple[Sweep, ...]] = {
    name: (
        cubes("loops", sizes),
        cubes("native", _CUBES),
        study_rows("loops", _ROWS),
        study_rows("native", _ROWS),
    )
    for name, sizes in _LOOPS.items()
}
SMALLEST = (cubes("native", (8, 16, 32)),)


def plan_of(profile: str, service: str, strategies: str) -> Plan:
    """As the command line says it; an empty text is everything. BadConfiguration."""
    require_known("--profile", profile, (SMOKE, QUICK))
    chosen = choice(service, strategies)
    if profile == SMOKE:
        sweeps = dict.fromkeys(STRATEGIES, SMALLEST)
        return Plan(chosen, sweeps, dispatch((2, 4, 8)), (1, 2, 4), (1, 2, 4), 2, 2, 1.0)
    tasks, users, processes = (25, 50, 100, 200, 400, 800), (4, 8, 16, 32), (1, 2, 4, 8)
    return Plan(chosen, SWEEPS, dispatch(tasks), users, processes, 5, 3, 1.0)
