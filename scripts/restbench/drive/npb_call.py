"""Calls of a service for a kernel, one after the other: what it answers, and when."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from restbench.deploy.service import Service
from restbench.drive import npb_direct
from restbench.drive.npb_direct import KernelRun
from restbench.experiment.cell import Cell
from restbench.experiment.npb import Work, body
from restbench.failures import EnvironmentProblem, NotOffered

_TOO_LARGE = httpx.codes.REQUEST_ENTITY_TOO_LARGE


@dataclass(frozen=True)
class ServedRun:
    """One call of the service."""

    answer: KernelRun
    client_seconds: float
    """From before the request is sent until the whole answer is there."""

    @property
    def overhead_seconds(self) -> float:
        """What the call cost beyond the kernel and its input."""
        return self.client_seconds - self.answer.total_seconds


class Refused(EnvironmentProblem):
    """The class needs more memory than the service may take (error 010); the message is its own."""


def calls(
    service: Service, cell: Cell, work: Work, runs: int, run_max_s: float
) -> Iterator[ServedRun]:
    """The answers to so many calls on one kept connection, none before the last one is there.

    Refused, NotOffered, EnvironmentProblem or WrongAnswers where one has none that counts.
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
        answer = service.client.send(request)
        seconds = time.perf_counter() - began
        _require_success(answer, cell)
        yield ServedRun(answer=npb_direct.read_answer(answer.content, work), client_seconds=seconds)


def path_of(work: Work, strategy: str, *, is_soap: bool = False) -> str:
    """Where calls go, on a service; of SOAP the message says which kernel."""
    return f"/soap/npb/{strategy}" if is_soap else f"/npb-{work.kernel.lower()}/{strategy}"


def _require_success(answer: httpx.Response, cell: Cell) -> None:
    if answer.status_code == httpx.codes.OK:
        return
    refusal = f"{cell.id}: {answer.status_code} {answer.text[:300]}"
    if answer.status_code == _TOO_LARGE:
        raise Refused(refusal)
    if answer.status_code == httpx.codes.NOT_FOUND:
        raise NotOffered(refusal)
    raise EnvironmentProblem(refusal)
