"""The first screen of a run in words, whatever kind of experiment it is: a sentence, where it
holds, and why to believe it."""

from __future__ import annotations

from pathlib import Path

from restbench.judge import answer, trust
from restbench.show import findings, views
from restbench.store.exported import Exported
from restbench.store.quoted import AnswerEntry
from restbench.store.store import Run


def of(run: Exported) -> AnswerEntry:
    """The words of a run that has all else: its own kind's sentence before the general one."""
    found = findings.of(run, Run(Path(run.run)))
    general = answer.answer(found.rows)
    said = (view.words(found) for view in views.of(found))
    sentence, sure = next((each for each in said if each[0]), ("", ""))
    is_special = not found.definition.sends_load or "messages" in found.definition.views
    return AnswerEntry(
        sentence=sentence or general.sentence,
        places=() if is_special else general.places,
        reasons=trust.reasons(
            sure or general.sure, found.rows, run.proofs, run.again, run.calibration
        ),
    )
