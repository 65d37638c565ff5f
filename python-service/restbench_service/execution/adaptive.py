"""F1: each request is handled where that is best for it and for those in flight beside it."""

import logging
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

from ..workloads.workload import Sample, Workload
from .calibration import calibrate
from .calibration_file import CalibrationFile
from .clock import StageClock
from .costs import LONG_NS, WORTH_HELPERS_NS, Costs, Place
from .gate import Gate
from .pool.fault import PoolFailedError, WorkerDiedError
from .pool.pool import ProcessPool
from .pool.process import Living
from .pool.requests import Errand, ask
from .strategy import InOrderLoop, compute, parse, serialize

BLOCKS = "blocks"
"""A decision too: idle processes helped with a long request's loops."""

_LOG = logging.getLogger(__name__)


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
        self._in_flight = dict.fromkeys(Place, 0)
        self._decisions = Counter(dict.fromkeys([*(place.value for place in Place), BLOCKS], 0))
        self._costs = file.read()
        self._calibration: Thread | None = None

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        """See Strategy."""
        costs = self._costs
        if costs is None:
            self._calibrating()
            return self._in_process(Place.PROCESS, Errand(workload), body, clock)
        place = self._now(costs.place(workload.kind, len(body), self._not_long()))
        if place is Place.CALLER:
            return self._on_thread(costs, workload, body, clock)
        return self._in_process(place, _errand(costs, workload, place), body, clock)

    def facts(self) -> Mapping[str, Any]:
        """The costs and from where on they decide for what."""
        return {} if self._costs is None else self._costs.facts()

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
        self, costs: Costs, workload: Workload[Any, Any], body: bytes, clock: StageClock
    ) -> bytes:
        """All of it, or, when it turns out to be more than it looked, only its parse."""
        with self._counted(Place.CALLER), self._on_threads.entered(clock):
            others, value = self._not_long() - 1, parse(workload, body, clock)
            operations = workload.operations(value)
            place = self._now(costs.place_parsed(workload.kind, operations, len(body), others))
            if place is Place.CALLER:
                self._decided(place.value)
                result = compute(workload, value, InOrderLoop(), clock)
                return serialize(workload, result, clock)
        errand = _errand(costs, workload, place)._replace(is_parsed=True)
        return self._in_process(place, errand, pickle.dumps(value), clock)

    def _in_process(self, place: Place, errand: Errand, payload: bytes, clock: StageClock) -> bytes:
        self._decided(place.value)
        with (
            self._counted(place),
            self._in_processes.entered(clock),
            self._pool.one(clock) as channel,
        ):
            return ask(channel, errand, payload, clock, self._lend)

    @contextmanager
    def _lend(self) -> Iterator[list[Living]]:
        with self._pool.idle() as helpers:
            if helpers:
                self._decided(BLOCKS)
            yield helpers

    def _now(self, place: Place) -> Place:
        """Rather on its thread than in a queue behind long ones."""
        is_behind = place is Place.PROCESS and self._in_flight[Place.LOW_PRIORITY]
        return Place.CALLER if is_behind and not self._pool.has_idle else place

    def _not_long(self) -> int:
        """How many are in flight that are not long."""
        return self._in_flight[Place.CALLER] + self._in_flight[Place.PROCESS]

    @contextmanager
    def _counted(self, place: Place) -> Iterator[None]:
        with self._guard:
            self._in_flight[place] += 1
        try:
            yield
        finally:
            with self._guard:
                self._in_flight[place] -= 1

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

    def _calibrate(self) -> None:
        """A failure is no fault of a request: all are handled in processes then."""
        try:
            found = calibrate(self._pool, self._samples)
        except (PoolFailedError, WorkerDiedError) as error:
            _LOG.warning("not calibrated, so every request goes to a process: %s", error)
            return
        self._costs = found.costs
        if found.is_steady:
            self._file.write(found.costs)
        else:
            _LOG.info("others were busy during the calibration: it is not kept")


def _errand(costs: Costs, workload: Workload[Any, Any], place: Place) -> Errand:
    return Errand(
        workload,
        is_long=place is Place.LOW_PRIORITY,
        long_from=costs.operations_of(workload.kind, LONG_NS),
        shared_from=costs.operations_of(workload.kind, WORTH_HELPERS_NS),
    )
