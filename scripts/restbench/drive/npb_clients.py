"""Kernels called by clients in two languages, over REST and SOAP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from restbench.deploy.service import Service
from restbench.drive import call_client, npb_runs
from restbench.drive.call_client import Batch, CallClient, CallLine
from restbench.drive.npb_runs import ServiceCall, path_of
from restbench.experiment.calls import Client
from restbench.experiment.cell import Cell
from restbench.experiment.npb import ClientName, Work, request
from restbench.failures import EnvironmentProblem

#: Program and transport of each client. For SOAP it is a proxy of CXF, or zeep, as is usual.
PROGRAMS: dict[ClientName, tuple[Client, str]] = {
    "java-rest": ("java", "rest"),
    "java-soap": ("java", "cxf"),
    "python-rest": ("python", "rest"),
    "python-soap": ("python", "zeep"),
}
#: Warm-up calls, of IS with class S, the quickest kernel. The service was just started: its part of
#: a SOAP call takes 10 ms at first, 5 ms after 400 calls, 3 ms after 800.
WARM_CALLS = 400
#: Then warm-up calls of the kernel itself with class S, on the connection of the measured calls.
FIRST_CALLS = 5
#: Heap of a client, which makes one call at a time.
SETTINGS = {"JAVA_OPTIONS": "-Xms64m -Xmx256m"}


@dataclass
class NpbClients:
    """The client programs of a block."""

    programs: dict[Client, CallClient]
    folder: Path

    def calls(
        self,
        names: Sequence[ClientName],
        service: Service,
        cell: Cell,
        works: Sequence[Work],
        max_s: float,
    ) -> dict[ClientName, Sequence[ServiceCall]]:
        """The calls that each client has made: one for each of `works`, which are of one kernel,
        one after the other on one connection, once all clients and the service are warm.

        A program that has ended is started again. EnvironmentProblem or WrongAnswers where a call
        has no valid answer.
        """
        for program in self.programs.values():
            program.renew_if_dead()
        for name in names:
            self._made(name, service, cell, [Work("IS", "S")] * WARM_CALLS, max_s)
        first = [Work(works[0].kernel, "S")] * FIRST_CALLS
        return {
            name: self._made(name, service, cell, [*first, *works], max_s)[FIRST_CALLS:]
            for name in names
        }

    def _made(
        self, name: ClientName, service: Service, cell: Cell, works: Sequence[Work], max_s: float
    ) -> list[ServiceCall]:
        program, transport = PROGRAMS[name]
        log, inputs = (self.folder / f"{cell.id}-{name}.{kind}" for kind in ("jsonl", "json"))
        log.unlink(missing_ok=True)
        bodies = [{"kernel": each.kernel, **request(each.level)} for each in works]
        path = path_of(works[0], cell.strategy, is_soap=transport != "rest")
        batch = Batch(
            f"{service.base_url}{path}",
            len(works),
            call_client.write_inputs(inputs, bodies),
            transport=transport,
            workload="npb",
            per_call_s=max_s,
            log=log,
        )
        ended: EnvironmentProblem | None = None
        try:
            self.programs[program].batch(batch)
        except EnvironmentProblem as error:
            ended = error
        known = call_client.read_log(log) if log.exists() else ()
        lines = sorted(known, key=lambda line: line.index)
        done = [each for each in lines if each.outcome == "done" and each.result is not None]
        # Checked before any failure: a second attempt must not hide a wrong answer of this one.
        served = [_served(each, works[each.index]) for each in done]
        if ended:
            raise ended
        if failed := next((each for each in lines if each not in done), None):
            level = works[failed.index].level
            raise EnvironmentProblem(f"{name} {level}: call {failed.index} {failed.failure}")
        if [each.index for each in done] != [*range(len(works))]:
            raise EnvironmentProblem(f"{name}: {len(done)} of {len(works)} calls in {log}")
        return served


@contextmanager
def running(names: Sequence[ClientName], log: Path, cores: str) -> Iterator[NpbClients]:
    """The programs that these clients need; they end with the context. To be entered in the main
    thread. EnvironmentProblem where one does not start or lacks a transport."""
    with ExitStack() as started:
        programs: dict[Client, CallClient] = {}
        for name in names:
            program, transport = PROGRAMS[name]
            if program not in programs:
                output = log.with_name(f"{program}-{log.name}")
                making = call_client.running(program, output, cores, SETTINGS)
                programs[program] = started.enter_context(making)
            offered = programs[program].hello().transports
            if transport not in offered:
                raise EnvironmentProblem(f"{name}: its program supports only {', '.join(offered)}")
        yield NpbClients(programs, log.parent)


def _served(line: CallLine, work: Work) -> ServiceCall:
    result = line.result or {}
    # SOAP has a list of numbers for a value: pairs for FT, else one number.
    numbers, value = _numbers(result.get("value")), result.get("value")
    if work.kernel == "FT":
        value = list(zip(numbers[::2], numbers[1::2], strict=True))
    elif len(numbers) == 1:
        value = numbers[0]
    answer = npb_runs.read_answer(json.dumps({**result, "value": value, "reference": value}), work)
    seconds = sum(each or 0.0 for each in (line.s_ms, line.c_ms, line.d_ms)) / 1000
    return ServiceCall(answer, seconds)


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [value]
