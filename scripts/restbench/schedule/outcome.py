"""What became of a run's cells, as the exit code tells it."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.measures import Row
from restbench.analyse.npb_results import NpbRow
from restbench.failures import CellsFailed, Failure, WrongAnswers


def judge(rows: Sequence[Row]) -> None:
    """Raise what a run of trials has to end with; nothing where all cells were measured that
    there was time for."""
    wrong = _with("wrong-answers", rows)
    absent = _with("not-offered", rows)
    failed = [each for each in _with("failed", rows) if each not in (*wrong, *absent)]
    _end(wrong, failed)


def judge_kernels(rows: Sequence[NpbRow]) -> None:
    """The same of NAS kernels. A class that the service has no memory for is no failure: the table
    says so."""
    wrong = [row.cell.id for row in rows if "wrong-answers" in row.flags]
    failed = [row.cell.id for row in rows if "failed" in row.flags]
    _end(wrong, [each for each in failed if each not in wrong])


def _end(wrong: Sequence[str], failed: Sequence[str]) -> None:
    """WrongAnswers before CellsFailed; the line names the cells of both kinds."""
    found: list[tuple[type[Failure], str, Sequence[str]]] = [
        (WrongAnswers, f"wrong answers in {len(wrong)} cells", wrong),
        (CellsFailed, f"{len(failed)} cells failed", failed),
    ]
    raised = [(kind, f"{what}: {', '.join(cells)}") for kind, what, cells in found if cells]
    if raised:
        raise raised[0][0]("; ".join(told for _, told in raised))


def _with(flag: str, rows: Sequence[Row]) -> list[str]:
    return [row.cell.id for row in rows if flag in row.flags]
