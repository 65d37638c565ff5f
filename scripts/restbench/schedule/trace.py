"""The driver of traces: one long uninterrupted load on each cell, recorded second by second, with
what the service and the database did meanwhile."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from restbench.analyse import trace as analysis
from restbench.analyse.limits import LATE_MS
from restbench.deploy.database import Database
from restbench.drive.generator import ERROR, STAGES, WRONG, LoadResult
from restbench.experiment import open_load
from restbench.experiment.cell import Cell
from restbench.experiment.level import Messages
from restbench.experiment.open_load import Phases
from restbench.experiment.trace import Trace, TraceRun
from restbench.failures import EnvironmentProblem
from restbench.observe import database as monitor
from restbench.observe import incidents
from restbench.observe.incidents import Incident
from restbench.schedule import messages, under_load
from restbench.schedule.block_run import BlockOrder, Driver, LoadRun
from restbench.schedule.pace import PlannedTrial
from restbench.schedule.preparation import renewed
from restbench.schedule.reduction import loaded
from restbench.store.traces import Course, FullTrace
from restbench.store.trials import Trial
from restbench.store.writing import write_model, write_text

#: Seconds that an open load goes on after the trace, so that the trace's last requests meet the
#: same load as the others.
TAIL_S = 1.0
TRACE, SAMPLES = "trace.json", "database.jsonl"


def opened(wanted: BlockOrder) -> AbstractContextManager[Driver]:
    """The driver of a block, with databases where its cells are of messages."""
    if any(wanted.order.experiment.size(cell.complexity, Messages) for cell in wanted.cells):
        return messages.opened(TraceDriver, wanted)
    return under_load.opened(TraceDriver, LoadRun, wanted)


@dataclass
class TraceDriver:
    """Traces in one block (Driver)."""

    here: LoadRun

    def pilot(self) -> None:
        """Nothing to find out: the experiment's file says how long a trace is (LoadDriver)."""

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:  # noqa: ARG002 - no stop rule
        """Every cell once, whatever time that takes."""
        cells = self.here.cells
        self.here.progress.planned = len(cells)
        for number, cell in enumerate(cells, start=1):
            yield [PlannedTrial(number, cell)]

    def trial(self, planned: PlannedTrial) -> Trial:
        """Take one trace; its file is written before the trial is returned. A service that ended in
        an earlier trace is replaced first. Raises EnvironmentProblem without a correct answer."""
        here, cell = self.here, planned.cell
        if lack := renewed(here, cell):
            raise EnvironmentProblem(lack)
        asked = here.order.experiment.table(Trace).run_of(cell)
        seconds = round(asked.duration_s[here.order.profile_name])
        folder = here.run.trace(here.block, cell.id)
        folder.mkdir(parents=True, exist_ok=True)
        here.before(cell, asked.warm_s)
        sent, trial, faults = self._loaded(planned, asked, seconds, folder)
        if not trial.completions and not trial.wrong:
            raise EnvironmentProblem(sent.first_error or "no correct answer in a whole trace")
        file = folder / SAMPLES
        lines = file.read_text("utf-8").splitlines() if file.exists() else ()
        samples = [json.loads(line) for line in lines]
        happened = [*self._incidents(cell, sent, samples), *faults]
        began_ms = sent.opened.epoch_ms
        level = here.order.experiment.size(cell.complexity, Messages)
        traced = FullTrace(
            cell=cell.id,
            block=here.block,
            began_ms=began_ms,
            seconds=seconds,
            rate_per_s=asked.rate_per_s,
            keeps_population=level is None or level.load == "paired",
            errors=dict(Counter(each for each in codes(sent.measured).tolist() if each)),
            courses=_courses(sent, seconds),
            samples=tuple(samples),
            incidents=tuple(analysis.entries_of(happened, began_ms, seconds)),
        )
        write_model(folder / TRACE, traced)
        if not asked.rate_per_s:
            return trial
        late = float((sent.measured["late_ms"] > LATE_MS).mean())
        its = {"rate_per_s": asked.rate_per_s, "late_share": late}
        return replace(trial, extras={**trial.extras, **its})

    def again(self, cell: Cell, why: str) -> str | None:  # noqa: ARG002 - never a second attempt
        """Always the reason: a second attempt would be another trace (Driver)."""
        return why

    def _loaded(
        self, planned: PlannedTrial, asked: TraceRun, seconds: int, folder: Path
    ) -> tuple[LoadResult, Trial, list[Incident]]:
        here, held = self.here, list[tuple[float, float]]()
        schedule = None
        if asked.rate_per_s:
            seed = (here.order.experiment.seed, here.block)
            phases = Phases(asked.warm_s, seconds, TAIL_S)
            schedule = folder / "arrivals.txt"
            offsets = open_load.schedule(asked.arrivals, asked.rate_per_s, phases, seed)
            write_text(schedule, open_load.as_text(offsets))
        database, fault = self._database(planned.cell), asked.fault
        with ExitStack() as meanwhile:
            if database is not None:
                connect = partial(database.connect, "monitor")
                meanwhile.enter_context(monitor.sampled(connect, folder / SAMPLES))
                if fault:
                    begin, end = (
                        asked.warm_s + seconds * each for each in (fault.begin, fault.end)
                    )
                    holding = monitor.holding_a_snapshot(connect, begin, end, held)
                    meanwhile.enter_context(holding)
            sent, found = loaded(here, planned, asked.warm_s, seconds, schedule)
        if fault and not held:
            raise EnvironmentProblem(f"{fault.kind}: there was no database for this fault")
        return sent, found, [Incident("fault", *span, fault.kind) for span in held if fault]

    def _database(self, cell: Cell) -> Database | None:
        here = self.here
        if not isinstance(here, messages.MessagesRun) or cell.technique == "memory":
            return None
        return here.stores[cell.postgres].database

    def _incidents(
        self, cell: Cell, sent: LoadResult, samples: Sequence[dict[str, Any]]
    ) -> list[Incident]:
        """The incidents in the logs of service and database, and in the monitor's samples."""
        found = incidents.of_backends(samples, sent.opened.epoch_ms / 1000)
        for each in self.here.running(cell).service.each():
            if each.log:
                found += incidents.of_jvm(each.log.read_text("utf-8", "replace"))
        database = self._database(cell)
        if database is not None and database.own_url is None:
            zone = next((each["zone"] for each in samples if "zone" in each), None)
            log = database.log.read_text("utf-8", "replace")
            found += incidents.of_postgres(log, ZoneInfo(zone) if zone else UTC)
        return found


def _courses(sent: LoadResult, seconds: int) -> tuple[Course, ...]:
    records = sent.records
    ends_us = records["start_us"] + records["elapsed_us"] - round(sent.opened.nanos / 1000)
    stages = {name: records["stages_ms"][:, place] for place, name in enumerate(STAGES)}
    found = analysis.courses(ends_us, records["elapsed_us"], codes(records), stages, seconds)
    return tuple(found)


def codes(records: npt.NDArray[Any]) -> npt.NDArray[np.str_]:
    """For each request that failed its error code, or its HTTP status where it has no code; `wrong`
    for a wrong answer, `none` for no answer, and an empty text for a correct one."""
    found = np.zeros(records.size, "<U5")
    is_error = records["outcome"] == ERROR
    found[records["outcome"] == WRONG] = "wrong"
    found[is_error] = [
        f"{each['code']:03}" if each["code"] else str(each["status"] or "none")
        for each in records[is_error]
    ]
    return found
