"""Runs of a kernel: without HTTP, by a program of the service itself; by calls of a service; and by
clients in two languages, over REST and SOAP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from restbench.deploy import programs
from restbench.deploy.service import Service
from restbench.drive import call_client
from restbench.drive.call_client import Batch, CallClient, CallLine
from restbench.experiment.calls import Client
from restbench.experiment.cell import Cell, ServiceName
from restbench.experiment.npb import ClientName, Work, body, request
from restbench.failures import (
    BadConfiguration,
    EnvironmentProblem,
    NotOffered,
    Refused,
    WrongAnswers,
)
from restbench.machine import process

#: Exit code of both programs when they cannot do what was asked for.
NOT_POSSIBLE = 2
#: Part of their last line where a class needs too much memory, as in the message of error 010.
TOO_LITTLE_MEMORY = " MiB of memory, the limit is "
#: Time for the start of the process, in addition to its runs.
START_S = 60.0


class KernelRun(BaseModel):
    """The result of a kernel, the same with a service and without one (contract, NpbResult)."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore"
    )
    kernel: str
    npb_class: str = Field(alias="class")
    verified: bool
    value: float | tuple[tuple[float, float], ...]
    reference: float | tuple[tuple[float, float], ...]
    iterations: int
    kernel_seconds: float = Field(gt=0)
    """NPB's timed region, by the kernel's own clock."""
    total_seconds: float = Field(gt=0)
    """The timed region and the generation of the kernel's input."""
    mops: float
    """Millions of operations per second of the timed region, as NPB counts them."""


@dataclass(frozen=True)
class Program:
    """One process that runs a kernel: which one, how often, on which cores."""

    service: ServiceName
    strategy: str
    work: Work
    runs: int
    cores: str | None = None
    """Cores as `taskset -c` takes them."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, as the service has them."""

    @property
    def command(self) -> list[str]:
        """The command line of a process that ends with the harness."""
        line = PROGRAMS[self.service](self.settings)
        line = [*line, self.work.kernel, self.work.npb_class, "--strategy", self.strategy]
        return process.bound_to_us([*line, "--repetitions", str(self.runs)], self.cores)


#: The services' own programs: the same jar, JVM and flags; the same modules and environment.
PROGRAMS: dict[ServiceName, Callable[[Mapping[str, str]], list[str]]] = {
    "java": lambda settings: [*programs.java_command(settings), "npb"],
    "python": lambda _settings: programs.python_program("-m", "restbench_service.direct"),
}


def run(program: Program, log: Path, run_max_s: float) -> tuple[KernelRun, ...]:
    """Start the process, wait for its end, and read its answers, which `log` keeps.

    WrongAnswers where an answer is not verified; EnvironmentProblem where the process fails, or
    takes longer than `run_max_s` a run; Refused where the class does not fit into its memory;
    BadConfiguration where the process cannot do what was asked for.
    """
    log.unlink(missing_ok=True)
    max_s = START_S + program.runs * run_max_s
    code = process.finished(program.command, log, max_s, dict(program.settings))
    # Read however the process ended: a second attempt must not hide a wrong answer of this one.
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    # The last line is incomplete where the process was stopped while writing.
    complete = (each for each in lines if each.startswith('{"requestId"') and each.endswith("\n"))
    answers = tuple(read_answer(each, program.work) for each in complete)
    if code == 0 and len(answers) == program.runs:
        return answers
    name = f"{program.service} {program.strategy} {program.work.level} without HTTP"
    if code is None:
        raise EnvironmentProblem(f"{name}: not finished after {program.runs} times {run_max_s:g} s")
    log_end = process.tail(log)
    if code == NOT_POSSIBLE:
        why = log_end.splitlines()[-1] if log_end else str(code)
        raise (Refused if TOO_LITTLE_MEMORY in why else BadConfiguration)(f"{name}: {why}")
    raise EnvironmentProblem(
        f"{name}: ended with {code} after {len(answers)} of {program.runs} runs; "
        f"its log ends:\n{log_end}"
    )


def read_answer(text: str | bytes, work: Work) -> KernelRun:
    """The answer to `work`. WrongAnswers where its form is not the contract's, or not verified."""
    try:
        answer = KernelRun.model_validate_json(text)
    except ValidationError as error:
        raise WrongAnswers(f"{work.level}: not an answer of a kernel: {text[:100]!r}") from error
    if (answer.kernel, answer.npb_class) != (work.kernel, work.npb_class):
        raise WrongAnswers(f"{work.level}: the answer is for {answer.kernel}-{answer.npb_class}")
    if not answer.verified:
        raise WrongAnswers(
            f"{work.level}: not verified: {answer.value}, the reference is {answer.reference}"
        )
    return answer


@dataclass(frozen=True)
class ServiceCall:
    """One call of the service."""

    answer: KernelRun
    client_seconds: float
    """From before the request is sent until the whole answer is there."""

    @property
    def overhead_seconds(self) -> float:
        """What the call cost beyond the kernel and its input."""
        return self.client_seconds - self.answer.total_seconds


def calls(
    service: Service, cell: Cell, work: Work, runs: int, run_max_s: float
) -> Iterator[ServiceCall]:
    """Make so many calls on one kept connection, each after the answer to the one before.

    Refused, NotOffered, EnvironmentProblem or WrongAnswers where a call has no valid answer.
    """
    url = f"{service.base_url}{path_of(work, cell.strategy)}"
    built = service.client.build_request(
        "POST",
        url,
        content=body(work.level),
        headers={"Content-Type": "application/json"},
        timeout=run_max_s,
    )
    for _ in range(runs):
        began = time.perf_counter()
        try:
            answer = service.client.send(built)
        except httpx.HTTPError as error:
            log_end = f"; its log ends:\n{process.tail(service.log)}" if service.log else ""
            why = f"{cell.id}: no answer: {error or type(error).__name__}{log_end}"
            raise EnvironmentProblem(why) from error
        seconds = time.perf_counter() - began
        _require_success(answer, cell)
        yield ServiceCall(answer=read_answer(answer.content, work), client_seconds=seconds)


def path_of(work: Work, strategy: str, *, is_soap: bool = False) -> str:
    """The path of calls on a service. With SOAP the message names the kernel, not the path."""
    return f"/soap/npb/{strategy}" if is_soap else f"/npb-{work.kernel.lower()}/{strategy}"


def _require_success(answer: httpx.Response, cell: Cell) -> None:
    if answer.status_code == httpx.codes.OK:
        return
    refusal = f"{cell.id}: {answer.status_code} {answer.text[:300]}"
    if answer.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        raise Refused(refusal)
    if answer.status_code == httpx.codes.NOT_FOUND:
        raise NotOffered(refusal)
    raise EnvironmentProblem(refusal)


#: Program and transport of each client. For SOAP it is a proxy of CXF, or zeep, as is usual.
CLIENTS: dict[ClientName, tuple[Client, str]] = {
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
CLIENT_SETTINGS = {"JAVA_OPTIONS": "-Xms64m -Xmx256m"}


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
        program, transport = CLIENTS[name]
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
def clients_running(names: Sequence[ClientName], log: Path, cores: str) -> Iterator[NpbClients]:
    """The programs that these clients need; they end with the context. To be entered in the main
    thread. EnvironmentProblem where one does not start or lacks a transport."""
    with ExitStack() as started:
        programs: dict[Client, CallClient] = {}
        for name in names:
            program, transport = CLIENTS[name]
            if program not in programs:
                output = log.with_name(f"{program}-{log.name}")
                making = call_client.running(program, output, cores, CLIENT_SETTINGS)
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
    answer = read_answer(json.dumps({**result, "value": value, "reference": value}), work)
    seconds = sum(each or 0.0 for each in (line.s_ms, line.c_ms, line.d_ms)) / 1000
    return ServiceCall(answer, seconds)


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [value]
