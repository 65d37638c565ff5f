"""Rows of NAS kernels (`schedule.npb`): the meaning of their metrics, and ratios of two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import sub
from typing import get_args

from restbench.analyse.comparison import Comparison, combine, paired, series
from restbench.analyse.measures import Row
from restbench.experiment.npb import ClientName, Work, work_of

#: The extras of a block by name: their heading, and what they are.
COLUMNS: dict[str, tuple[str, str]] = {
    "fresh_s": ("Fresh s", "the kernel's own time in a process that has just begun"),
    "warm_s": (
        "Warm s",
        "the kernel's own time in that process, after as many runs as the service had calls",
    ),
    "service_s": ("In service s", "the kernel's own time in the warm service"),
    "client_s": (
        "At client s",
        "the response time of the call, including the generation of the input",
    ),
    "warm_total_s": (
        "Warm total s",
        "the time of the process including the generation of the input, to compare with At client",
    ),
    "service_total_s": (
        "Service total s",
        "the service's own time including the generation of the input",
    ),
    "overhead_ms": (
        "Call ms",
        "the cost of the call beyond the kernel and its input: At client minus Service total",
    ),
    "mops": ("Mop/s", "millions of operations per second in the service, as NPB counts them"),
    "fresh_mops": ("Fresh Mop/s", "millions of operations per second in the fresh process"),
}
CLIENTS: tuple[ClientName, ...] = get_args(ClientName)
for _client in CLIENTS:
    _name, _words = _client.replace("-", "_"), _client.replace("-", " ")
    COLUMNS |= {
        f"{_name}_s": (f"By {_words} s", f"In service s, called by the client {_client}"),
        f"{_name}_call_ms": (f"{_words} call ms", f"Call ms of the client {_client}"),
    }
COLUMNS |= {
    "clients_asked": ("Clients", "clients that have called the service for the kernel"),
    "clients_same": (
        "Same value",
        "those of them that got its value, exact to the last bit, each time",
    ),
}
#: The ratios that are shown of each cell, as numerator and denominator.
RATIOS: dict[str, tuple[str, str]] = {
    "service/fresh": ("service_s", "fresh_s"),
    "service/warm": ("service_s", "warm_s"),
    "client/warm": ("client_s", "warm_total_s"),
    "warm/fresh": ("warm_s", "fresh_s"),
}


def work(row: Row) -> Work:
    """The kernel and the class that a row's cell computes."""
    return work_of(row.cell.complexity)


def ranked(rows: Iterable[Row]) -> list[Row]:
    """The rows by service, technique, kernel and class."""
    return sorted(rows, key=lambda row: (row.cell.service, row.cell.strategy, work(row).rank))


def ratio(row: Row, name: str) -> Comparison:
    """One of RATIOS, paired over the blocks."""
    numerator, denominator = RATIOS[name]
    return paired(series(row, numerator), series(row, denominator))


def soap_ms(row: Row, language: str) -> float | None:
    """How much longer a client's call takes with SOAP than with REST: the blocks' median."""
    rest, soap = (series(row, f"{language}_{each}_call_ms") for each in ("rest", "soap"))
    return combine(soap, rest, sub).median


def verified(row: Row) -> str:
    """Whether the row's answers were verified: NO where any was not, yes, or why there is none."""
    if "wrong-answers" in row.flags:
        return "NO"
    return "yes" if row.measured else _lack(row.flags)


def _lack(flags: Sequence[str]) -> str:
    """Why a cell or block has no trial."""
    known = ("wrong-answers", "refused", "not-offered", "failed")
    return next((each for each in known if each in flags), "not measured")


def failures(rows: Sequence[Row]) -> list[str]:
    """Each block without a result, with the first line of the reason."""
    return [
        f"{row.cell.id}, block {each.block}: {_lack(each.flags)}: {each.reason.splitlines()[0]}"
        for row in rows
        for each in row.measurements
        if each.reason
    ]
