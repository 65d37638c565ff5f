"""Which services and strategies a command was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from restbench.experiment.cell import STRATEGIES, ServiceName
from restbench.failures import BadConfiguration

#: What every service offers, and every other strategy is held against.
IN_ORDER = "serial"

OnlyServiceOption = Annotated[
    str, typer.Option("--service", metavar="NAME", help="Only java, or only python.")
]
OnlyStrategiesOption = Annotated[
    str,
    typer.Option("--strategies", metavar="NAMES", help="Only these next to serial, with commas."),
]


@dataclass(frozen=True)
class Choice:
    """Services, and of their strategies only some, where there are any."""

    services: tuple[ServiceName, ...]
    strategies: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return len(self.services) == len(STRATEGIES) and not self.strategies

    def of(self, offered: Sequence[str]) -> list[str]:
        """Of what a service offers that which is wanted; doing it in order always is."""
        wanted = (IN_ORDER, *self.strategies) if self.strategies else tuple(offered)
        return [each for each in offered if each in wanted]


def choice(service: str, strategies: str) -> Choice:
    """As a command line says it; an empty text is everything. BadConfiguration."""
    services: list[ServiceName] = [each for each in STRATEGIES if service in ("", each)]
    if not services:
        require("--service", [service], STRATEGIES)
    names = tuple(each.strip() for each in strategies.split(",") if each.strip())
    known = dict.fromkeys(name for each in services for name in STRATEGIES[each])
    require("--strategies", names, known)
    return Choice(tuple(services), names)


def require(option: str, given: Iterable[str], known: Iterable[str]) -> None:
    """BadConfiguration, with what there is, where something given is not known."""
    names = list(known)
    for each in given:
        if each not in names:
            raise BadConfiguration(f"{option}: '{each}' is not one of {', '.join(names)}")
