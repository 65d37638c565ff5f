"""Runs of a kernel: without HTTP, by a program of the service itself, and by calls of a service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from restbench.deploy import programs
from restbench.deploy.service import Service
from restbench.experiment.cell import Cell, ServiceName
from restbench.experiment.npb import Work, body
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
    request = service.client.build_request(
        "POST",
        url,
        content=body(work.level),
        headers={"Content-Type": "application/json"},
        timeout=run_max_s,
    )
    for _ in range(runs):
        began = time.perf_counter()
        try:
            answer = service.client.send(request)
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
