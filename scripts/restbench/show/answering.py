"""The first screen of a run in words, whatever kind of experiment it is: a sentence, where it
holds, and why to believe it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench.analyse import factorial
from restbench.analyse import frameworks as costs
from restbench.analyse import instances as arranged
from restbench.analyse.exported import rows_of
from restbench.analyse.limits import Limit
from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.experiment.cell import users_text
from restbench.experiment.columns import readable
from restbench.experiment.experiment import Experiment
from restbench.experiment.open_load import OpenLoad
from restbench.failures import CellsFailed
from restbench.judge import answer, regret, trust
from restbench.judge.regret import Share
from restbench.show import (
    builds,
    calls,
    effects,
    faults,
    frameworks,
    instances,
    limits,
    messages,
    npb,
    workers,
)
from restbench.show import trace as traces
from restbench.store.exported import Exported
from restbench.store.quoted import AnswerEntry


def of(run: Exported) -> AnswerEntry:
    """The words of a run that has all else: its own kind's sentence before the general one."""
    rows = rows_of(run)
    definition = experiment.parse(run.experiment.toml, Path(run.run, "experiment.toml"))
    general = answer.answer(rows)
    two = builds.of(definition, rows, run.manifest)
    several = arranged.loads(rows)
    special = [
        two.sentence if two else "",
        _limits(run, definition.open),
        traces.sentence(run, rows),
        _kernels(run, definition),
        calls.sentence(rows) if definition.calls else "",
        faults.sentence(rows) if definition.faults else "",
        _factorial(definition, rows),
        messages.sentence(rows) if "messages" in definition.views else "",
        frameworks.sentence(costs.loads(rows)) if "frameworks" in definition.views else "",
        instances.sentence(several),
        *(workers.sentences(each)[0] for each in workers.grids_of(run, rows)),
        _choosing(rows),
    ]
    sure = general.sure
    if two is not None:
        sure = two.sure
    if definition.open is not None:
        sure = limits.sure(limits.of(run))
    if "frameworks" in definition.views:
        sure = frameworks.sure(costs.loads(rows))
    if several:
        sure = instances.sure(several)
    if run.traces:
        sure = "Each trace is one: what another hour would show is not known."
    if definition.npb is not None:
        sure = npb.sure(npb.findings(run))
    if definition.calls is not None:
        sure = calls.sure(rows)
    if definition.faults is not None:
        sure = faults.sure(rows)
    if "messages" in definition.views:
        sure = messages.sure(rows)
    is_special = not definition.sends_load or "messages" in definition.views
    return AnswerEntry(
        sentence=next(filter(None, special), general.sentence),
        places=() if is_special else general.places,
        reasons=trust.reasons(sure, rows, run.proofs, run.again, run.calibration),
    )


def _limits(run: Exported, load: OpenLoad | None) -> str:
    """`Requests per second with p95 <= 200 ms: at low java serial 940 [900, 980], then ...`"""
    if load is None:
        return ""
    known = [each for each in limits.of(run) if each.limit_per_s]
    groups: dict[str, list[Limit]] = {}
    for each in sorted(known, key=lambda each: -(each.limit_per_s or 0.0)):
        groups.setdefault(each.cell.complexity, []).append(each)
    parts = [f"at {level} {', then '.join(map(_limit, group))}" for level, group in groups.items()]
    if not parts:
        return f"No technique met {load.objective} at any rate that was offered."
    return f"Requests per second with {load.objective}: {'; '.join(parts)}."


def _limit(each: Limit) -> str:
    ends = (
        f" [{readable(each.interval.low)}, {readable(each.interval.high)}]" if each.interval else ""
    )
    return f"{each.cell.service} {each.cell.strategy} {readable(each.limit_per_s)}{ends}"


def _kernels(run: Exported, definition: Experiment) -> str:
    return "" if definition.npb is None else npb.sentence(npb.findings(run))


def _choosing(rows: Sequence[Row]) -> str:
    """What choosing per request costs next to the best fixed technique, by service."""
    shares = [each for each in regret.choosing(rows).regrets if each.metric == "throughput_per_s"]
    services: dict[str, list[Share]] = {}
    for each in shares:
        services.setdefault(each.cell.service, []).append(each)
    parts = "; ".join(f"in {name.capitalize()} {_kept(of)}" for name, of in services.items())
    least = f"{1 - regret.TOLERANCE:.0%}"
    if not parts:
        return ""
    return f"Choosing a technique per request reaches {least} of the best fixed one {parts}."


def _kept(shares: Sequence[Share]) -> str:
    kept = sum(each.verdict == "reproduced" for each in shares)
    known = [each for each in shares if each.regret is not None]
    text = f"in {kept} of {len(shares)} cells"
    if not known:
        return text
    worst = max(known, key=lambda each: each.regret or 0.0)
    where = f"{worst.cell.complexity}, {users_text(worst.cell.users)}"
    return f"{text}, and loses at most {100 * (worst.regret or 0.0):.1f} % ({where})"


def _factorial(definition: Experiment, rows: Sequence[Row]) -> str:
    try:
        found = factorial.of_run(definition, rows)
    except CellsFailed:  # its section says so
        return ""
    return effects.sentence(found).replace("`", "") if found else ""
