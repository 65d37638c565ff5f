"""How rows, cells and values are named wherever a run is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from restbench.analyse.comparison import Comparison
from restbench.analyse.measures import Row
from restbench.analyse.workers import Fitted, Scaling
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.judge import study


def with_ends(value: float | None, low: float | None, high: float | None) -> str:
    """`1.92 [1.85, 1.99]`; the value alone without ends, an empty text without a value."""
    ends = f" [{readable(low)}, {readable(high)}]" if low is not None and high is not None else ""
    return "" if value is None else f"{readable(value)}{ends}"


def rounded(value: float | None, digits: int = 4) -> float | None:
    """A value for programs, rounded to this number of significant digits."""
    return None if value is None else float(f"{value:.{digits}g}")


def rounded_record(of: Mapping[str, Any], digits: int = 4) -> dict[str, Any]:
    """A record whose values with fractions are rounded to this number of significant digits."""
    return {
        name: rounded(value, digits) if isinstance(value, float) else value
        for name, value in of.items()
    }


def mean(row: Row, metric: str) -> str:
    """A cell's mean over blocks with its interval, as `with_ends` writes it."""
    return with_ends(row.value(metric), *row.ends(metric))


def fields(name: str, found: Comparison) -> dict[str, float | None]:
    """A ratio in a table for programs: the estimate under its name, the ends of its interval."""
    low, high = found.ends or (None, None)
    return {name: found.estimate, f"{name}_low": low, f"{name}_high": high}


def plain(value: object) -> str:
    """A fact about machine or versions: a list separated by commas, a table as its names, each with
    its value."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(each)}" for name, each in value.items()) or "none"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def cell_name(cell: Cell) -> str:
    """Such as `PR process-per-request, low, 10 users`."""
    return f"{study.technique(cell)}, {cell.complexity}, {users_text(cell.users)}"


def panel_name(cell: Cell) -> str:
    """Such as `Java, bound to core 0, low`."""
    return ", ".join((cell.service.capitalize(), *placed(cell), cell.complexity))


def strategy_name(cell: Cell) -> str:
    """Such as `Java serial`."""
    return f"{cell.service.capitalize()} {cell.strategy}"


def service_name(row: Row) -> str:
    """Such as `Java`."""
    return row.cell.service.capitalize()


def laws(fit: Callable[..., Fitted], over: str) -> str:
    """Both laws of growth over `users` or `instances` with their parameters, or why one was not
    fitted. `fit` has the argument `amdahl`: whether to fit Amdahl's law."""
    return "; ".join(_law(fit(amdahl=each), over, amdahl=each) for each in (False, True))


def _law(found: Fitted, over: str, *, amdahl: bool) -> str:
    if isinstance(found, str):
        return found
    named = zip("λσκ", found, strict=True)
    values = [f"{of} {readable(each.mean)} ± {readable(each.half_width)}" for of, each in named]
    if amdahl:
        return f"Amdahl's law over {over} has {', '.join(values[:2])}"
    peak = Scaling(*(each.mean for each in found)).peak
    return f"the Universal Scalability Law has {', '.join(values)}, its peak at {peak:.1f} {over}"


def remarks(row: Row) -> str:
    """A row's warnings and notes, separated by commas."""
    return ", ".join(study.warnings_and_notes(row).values())


def placed(cell: Cell) -> tuple[str, ...]:
    """Where a cell's service runs, such as `bound to core 0`; nothing where it runs unbound."""
    words = {"unbound": (), "core0": ("bound to core 0",), "per-core": ("a core each",)}
    return words[cell.placement]


def placement(cell: Cell) -> str:
    """The level of a cell's placement in words: `bound to core 0`, or `unbound`."""
    return ", ".join(placed(cell)) or "unbound"
