"""F1: each request is handled where that is best for it and for those in flight beside it."""

import logging
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any, NamedTuple

from ..workloads.workload import Sample, Workload
from .calibration import calibrate
from .calibration_file import CalibrationFile
from .clock import StageClock
from .costs import (
    CALLER,
    LOW_PRIORITY,
    PROCESS,
    WORTH_A_TRIP_OF_FEW,
    Costs,
    Limits,
    Place,
)
from .gate import Gate
from .in_flight import InFlight
from .pool.fault import PoolFailedError, WorkerDiedError
from .pool.pool import ProcessPool
from .pool.process import Living
from .pool.requests import Errand, ask
from .strategy import InOrderLoop, compute, parse, serialize

BLOCKS = "blocks"
"""A decision too: idle processes helped with a long request's loops."""

MOST_PARSED_BYTES = 64 * 1024
"""Of an input that waits for a process in the place of its body, of which the memory is counted. A
larger one is parsed again: its computing takes far longer, or it would not go to a process."""

_LOG = logging.getLogger(__name__)


class _Rest(NamedTuple):
    place: Place
    errand: Errand
    payload: bytes


class Adaptive:
    """Small requests on their own thread, others in processes, long ones at low priority.

    Until it is calibrated, all go to processes.
    """

    name = "adaptive"
    key = "F1"
    description = (
        "Each request runs where its size and those in flight make it fastest: on its own thread, "
        "in a process or, if it is long, in one of low priority, with idle ones for its loops."
    )

    def __init__(
        self,
        pool: ProcessPool,
        running: int | None,
        samples: Sequence[Sample],
        file: CalibrationFile,
    ) -> None:
        """`running` limits those on threads (by default 1) and those in processes, each.

        The pool is closed with the strategy.
        """
        self._pool, self._samples, self._file = pool, samples, file
        self._on_threads = Gate(running or 1)
        self._in_processes = Gate(min(running or pool.size, pool.size))
        self._guard = Lock()
        self._long, self._not_long = InFlight(), InFlight()
        self._decisions = dict.fromkeys((CALLER, PROCESS, LOW_PRIORITY, BLOCKS), 0)
        self._costs: Costs | None = None
        self._limits: Mapping[str, Limits] = {}
        self._limits_of_few: Mapping[str, Limits] = {}
        kinds = {sample.workload.kind for sample in samples}
        if (kept := file.read(kinds)) is not None:
            self._decide_by(kept)
        self._calibration: Thread | None = None

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        """See Strategy."""
        limits = self._limits_now().get(workload.kind)
        if limits is None:
            if self._costs is None:
                self._calibrating()
            return self._in_process(PROCESS, Errand(workload), body, clock)
        place = limits.place(len(body), self._has_company(self._not_long.now))
        if place == CALLER or (place == PROCESS and self._is_behind_long_ones()):
            outcome = self._on_thread(limits, workload, body, clock)
            return outcome if isinstance(outcome, bytes) else self._in_process(*outcome, clock)
        return self._in_process(place, _errand(limits, workload, place), body, clock)

    def facts(self) -> Mapping[str, Any]:
        """The costs, and from what size on they decide for what."""
        if self._costs is None:
            return {}
        return {
            **self._costs.facts(),
            "limits": _facts(self._limits),
            "limitsOfFew": _facts(self._limits_of_few),
        }

    def decisions(self) -> Mapping[str, int]:
        """Requests by where they were computed, and how often helpers were lent."""
        return self._decisions

    def await_ready(self) -> None:
        """With its calibration, which is best done before anything else runs."""
        self._pool.await_ready()
        if self._costs is None:
            self._calibrating().join()

    def close(self) -> None:
        """End the processes."""
        self._pool.close()

    def _on_thread(
        self, limits: Limits, workload: Workload[Any, Any], body: bytes, clock: StageClock
    ) -> bytes | _Rest:
        """All of it, or, when it turns out to be more than it looked, what is left to do.

        In its own frame, so that the input is not in memory while the rest waits for its turn.
        """
        self._not_long.arrived()
        try:
            with self._on_threads.entered(clock):
                value = parse(workload, body, clock)
                operations = workload.operations(value)
                has_company = self._has_company(self._not_long.now - 1)
                place = limits.place_parsed(operations, len(body), has_company)
                if place == PROCESS and self._is_behind_long_ones():
                    place = CALLER
                if place == CALLER:
                    self._decided(CALLER)
                    result = compute(workload, value, InOrderLoop(), clock)
                    return serialize(workload, result, clock)
        finally:
            self._not_long.left()
        return _rest(place, _errand(limits, workload, place), value, body)

    def _in_process(self, place: Place, errand: Errand, payload: bytes, clock: StageClock) -> bytes:
        in_flight = self._long if place == LOW_PRIORITY else self._not_long
        in_flight.arrived()
        try:
            self._decided(place)
            with self._in_processes.entered(clock), self._pool.one(clock) as channel:
                return ask(channel, errand, payload, clock, self._lend)
        finally:
            in_flight.left()

    @contextmanager
    def _lend(self) -> Iterator[list[Living]]:
        """A process that is idle only until a long one is back would be away when that comes."""
        with self._pool.idle(self._pool.size - self._long.recently) as helpers:
            if helpers:
                self._decided(BLOCKS)
            yield helpers

    def _is_behind_long_ones(self) -> bool:
        """Whether it would have to wait for them if it went to a process."""
        return self._long.now > 0 and not self._pool.has_idle

    def _has_company(self, others: int) -> bool:
        """Whoever computes on a thread of the web process holds the interpreter lock, without which
        another cannot even be sent away: two users would take turns."""
        return others > 0 or self._not_long.recently > 1

    def _limits_now(self) -> Mapping[str, Limits]:
        """While there is a process for each request, smaller ones are worth a trip, too."""
        few = self._not_long.recently <= self._pool.size
        return self._limits_of_few if few else self._limits

    def _decided(self, decision: str) -> None:
        with self._guard:
            self._decisions[decision] += 1

    def _calibrating(self) -> Thread:
        """The thread that does it, which a worker that replaces another starts with a request."""
        with self._guard:
            if self._calibration is None:
                self._calibration = Thread(target=self._calibrate, name="calibration", daemon=True)
                self._calibration.start()
            return self._calibration

    def _decide_by(self, costs: Costs) -> None:
        self._limits_of_few = costs.limits(WORTH_A_TRIP_OF_FEW)
        self._costs, self._limits = costs, costs.limits()

    def _calibrate(self) -> None:
        """A failure is no fault of a request: all are handled in processes then."""
        try:
            found = calibrate(self._pool, self._samples)
        except (PoolFailedError, WorkerDiedError) as error:
            _LOG.warning("not calibrated, so every request goes to a process: %s", error)
            return
        self._decide_by(found.costs)
        if found.is_steady:
            self._file.write(found.costs)
        else:
            _LOG.info("others were busy during the calibration: it is not kept")


def _facts(limits: Mapping[str, Limits]) -> Mapping[str, Any]:
    return {kind: each.facts() for kind, each in limits.items()}


def _errand(limits: Limits, workload: Workload[Any, Any], place: Place) -> Errand:
    return Errand(
        workload,
        is_long=place == LOW_PRIORITY,
        long_from=limits.low_priority_from_operations,
        shared_from=limits.blocks_from_operations,
    )


def _rest(place: Place, errand: Errand, value: Any, body: bytes) -> _Rest:
    parsed = pickle.dumps(value)
    if len(parsed) > MOST_PARSED_BYTES:
        return _Rest(place, errand, body)
    return _Rest(place, errand._replace(is_parsed=True), parsed)
