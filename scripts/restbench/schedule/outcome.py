"""What became of a run's cells, as the exit code tells it."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.measures import Row
from restbench.failures import CellsFailed, Failure, WrongAnswers


def judge(rows: Sequence[Row]) -> None:
    """Raise what a run of trials has to end with; nothing where all cells were measured that there
    was time for. WrongAnswers before CellsFailed; the line names the cells of both kinds."""
    wrong = _with("wrong-answers", rows)
    absent = _with("not-offered", rows)
    failed = [each for each in _with("failed", rows) if each not in (*wrong, *absent)]
    found: list[tuple[type[Failure], str, Sequence[str]]] = [
        (WrongAnswers, f"wrong answers in {len(wrong)} cells", wrong),
        (CellsFailed, f"{len(failed)} cells failed", failed),
    ]
    raised = [(kind, f"{what}: {', '.join(cells)}") for kind, what, cells in found if cells]
    if raised:
        raise raised[0][0]("; ".join(text for _, text in raised))


def _with(flag: str, rows: Sequence[Row]) -> list[str]:
    return [row.cell.id for row in rows if flag in row.flags]
