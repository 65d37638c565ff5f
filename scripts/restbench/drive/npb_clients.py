"""Kernels called by clients in two languages, over REST and SOAP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from restbench.deploy.service import Service
from restbench.drive import call_client, npb_direct
from restbench.drive.call_client import Batch, CallClient, CallLine
from restbench.drive.npb_call import ServedRun, path_of
from restbench.experiment.cell import Cell
from restbench.experiment.npb import ClientName, Work, request, work_of
from restbench.failures import EnvironmentProblem

#: The program of each client, and how that talks to the service: SOAP as a user of the language
#: does, by a proxy of CXF and by zeep.
PROGRAMS: dict[ClientName, tuple[call_client.ClientName, str]] = {
    "java-rest": ("java", "rest"),
    "java-soap": ("java", "cxf"),
    "python-rest": ("python", "rest"),
    "python-soap": ("python", "zeep"),
}
#: Nobody measures a client's first calls: its JVM compiles meanwhile, proxies are made.
WARM_UP = work_of("IS-S")
WARM_CALLS = 50
#: For clients that make one call at a time.
SETTINGS = {"JAVA_OPTIONS": "-Xms64m -Xmx256m"}


@dataclass
class NpbClients:
    """The programs of a block."""

    programs: dict[call_client.ClientName, CallClient]
    folder: Path
    warm: set[ClientName] = field(default_factory=set)

    def calls(  # noqa: PLR0913, PLR0917 - what a call is made of
        self,
        name: ClientName,
        service: Service,
        cell: Cell,
        work: Work,
        kept: int,
        run_max_s: float,
    ) -> Sequence[ServedRun]:
        """So many calls, one after the other, on a connection that is open where there are several.

        EnvironmentProblem or WrongAnswers where one has no answer that counts.
        """
        if name not in self.warm:
            self._made(name, service, cell, WARM_UP, WARM_CALLS, run_max_s)
            self.warm.add(name)
        more = kept > 1  # the first one connects
        return self._made(name, service, cell, work, kept + more, run_max_s)[more:]

    def _made(  # noqa: PLR0913, PLR0917 - the same
        self, name: ClientName, service: Service, cell: Cell, work: Work, calls: int, max_s: float
    ) -> list[ServedRun]:
        program, transport = PROGRAMS[name]
        inputs = self.folder / f"{work.level}.json"
        call_client.write_inputs(inputs, [{"kernel": work.kernel, **request(work.level)}])
        log = self.folder / f"{cell.id}-{name}.jsonl"
        log.unlink(missing_ok=True)
        path = path_of(work, cell.strategy, is_soap=transport != "rest")
        batch = Batch(
            f"{service.base_url}{path}",
            calls,
            inputs,
            transport=transport,
            workload="npb",
            per_call_s=max_s,
            log=log,
        )
        self.programs[program].batch(batch)
        made = [_served(line, name, work) for line in call_client.read_log(log)]
        if len(made) != calls:
            raise EnvironmentProblem(f"{name}: {len(made)} of {calls} calls of {work.level}")
        return made


@contextmanager
def running(names: Sequence[ClientName], log: Path, cores: str) -> Iterator[NpbClients]:
    """The programs that these clients need, in the main thread. EnvironmentProblem where one does
    not start or lacks a transport."""
    with ExitStack() as started:
        programs: dict[call_client.ClientName, CallClient] = {}
        for name in names:
            program, transport = PROGRAMS[name]
            if program not in programs:
                output = log.with_name(f"{program}-{log.name}")
                making = call_client.running(program, output, cores, SETTINGS)
                programs[program] = started.enter_context(making)
            offered = programs[program].hello().transports
            if transport not in offered:
                raise EnvironmentProblem(f"{name}: its program has {', '.join(offered)} only")
        yield NpbClients(programs, log.parent)


def _served(line: CallLine, name: ClientName, work: Work) -> ServedRun:
    if line.outcome != "done" or line.result is None:
        raise EnvironmentProblem(f"{name} {work.level}: call {line.index} {line.failure}")
    value = _as_rest(line.result.get("value"), work)
    answer = npb_direct.read_answer(
        json.dumps({**line.result, "value": value, "reference": value}), work
    )
    seconds = sum(each or 0.0 for each in (line.s_ms, line.c_ms, line.d_ms)) / 1000
    return ServedRun(answer, seconds)


def _as_rest(value: Any, work: Work) -> Any:
    """SOAP has a list of numbers: of FT they are pairs, of the others it is one."""
    numbers = _numbers(value)
    if work.kernel == "FT":
        return list(zip(numbers[::2], numbers[1::2], strict=True))
    return numbers[0] if len(numbers) == 1 else value


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [value]
