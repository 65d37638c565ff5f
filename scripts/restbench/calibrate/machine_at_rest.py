"""Quiet machine: was anything else at work while the other checks were made?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from restbench.analyse.audit import FOREIGN_LIMIT_PCT
from restbench.experiment.records import CalibrationCheck


def judge(foreign_pct: Sequence[float]) -> CalibrationCheck:
    """The check's record, from what others used just before each measurement, percent of the
    machine. Where it fails, a failure of any other check may be theirs."""
    usual, most = median(foreign_pct), max(foreign_pct)
    return CalibrationCheck(
        name="quiet machine",
        question="Was anything else at work meanwhile?",
        measured=f"others used {usual:.1f} % of the machine before half of {len(foreign_pct)} "
        f"measurements, {most:.1f} % at most",
        limit=f"half of them at most {FOREIGN_LIMIT_PCT:.0f} %",
        passed=usual <= FOREIGN_LIMIT_PCT,
        values={"median_foreign_pct": usual, "largest_foreign_pct": most},
    )
