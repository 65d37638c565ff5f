"""What became of a run's cells, as the exit code tells it."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse import steady
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.analyse.npb_results import NpbRow
from restbench.analyse.open_results import WalkResult
from restbench.experiment.profile import Profile
from restbench.experiment.records import Window
from restbench.failures import CellsFailed, Failure, NotSteady, WrongAnswers

#: The rule's bins are a second wide, and so many are needed (method, rule 3; `steady`): a load that
#: is shorter is flagged all the same, but does not decide how the run has ended.
JUDGED_FROM_S = steady.FEWEST_BINS * steady.MOST_BIN_MS / 1000


def judge(rows: Sequence[Row], profile: Profile) -> None:
    """Raise what a run of closed load has to end with; nothing where all cells were measured, and
    those were steady whose loads, with this profile's warm-up, are long enough to tell."""
    wrong = _with("wrong-answers", rows)
    absent = _with("not-offered", rows)
    failed = [each for each in _with("failed", rows) if each not in (*wrong, *absent)]
    _end(wrong, failed, unsteady(rows, profile))


def judge_walks(results: Sequence[WalkResult]) -> None:
    """The same of an open load. A walk is not called unsteady: it looks at a rate again, and notes
    where its looks do not agree (`not-settled`)."""
    wrong = [each.cell.id for each in results if "wrong-answers" in each.walk.flags]
    failed = [each.cell.id for each in results if each.walk.status == "failed"]
    _end(wrong, [each for each in failed if each not in wrong], [])


def judge_kernels(rows: Sequence[NpbRow]) -> None:
    """The same of NAS kernels. A class that the service has no memory for is no failure: the table
    says so."""
    wrong = [row.cell.id for row in rows if "wrong-answers" in row.flags]
    failed = [row.cell.id for row in rows if "failed" in row.flags]
    _end(wrong, [each for each in failed if each not in wrong], [])


def _end(wrong: Sequence[str], failed: Sequence[str], not_steady: Sequence[str]) -> None:
    """WrongAnswers before CellsFailed before NotSteady; the line names the cells of every kind."""
    found: list[tuple[type[Failure], str, Sequence[str]]] = [
        (WrongAnswers, f"wrong answers in {len(wrong)} cells", wrong),
        (CellsFailed, f"{len(failed)} cells failed", failed),
        (NotSteady, f"{len(not_steady)} cells not steady", not_steady),
    ]
    raised = [(kind, f"{what}: {', '.join(cells)}") for kind, what, cells in found if cells]
    if raised:
        raise raised[0][0]("; ".join(told for _, told in raised))


def unsteady(rows: Sequence[Row], profile: Profile) -> list[str]:
    """The cells that were not steady in most of those of their blocks that are long enough: a
    steady load is flagged now and then by chance, and a run has hundreds."""
    return [
        row.cell.id
        for row in rows
        if _are_unsteady([each for each in row.measured if _is_judged(each.window, profile)])
    ]


def _is_judged(window: Window | None, profile: Profile) -> bool:
    """Whether a load is long enough to be called steady or not. Its warm-up lasted as planned, or
    longer; its window, whose two ends are of a clock that is adjusted, at least as planned."""
    window_s = max(window.seconds, profile.window_min_s) if window else 0.0
    return profile.warmup_s + window_s >= JUDGED_FROM_S


def _are_unsteady(blocks: Sequence[Measurement]) -> bool:
    flagged = sum("not-steady" in each.flags for each in blocks)
    return flagged > len(blocks) / 2


def _with(flag: str, rows: Sequence[Row]) -> list[str]:
    return [row.cell.id for row in rows if flag in row.flags]
