"""Which services and strategies a command was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from restbench.commands.options import require_known
from restbench.experiment.cell import STRATEGIES, ServiceName

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
    services = [require_known("--service", service, STRATEGIES)] if service else [*STRATEGIES]
    names = tuple(each.strip() for each in strategies.split(",") if each.strip())
    known = dict.fromkeys(name for each in services for name in STRATEGIES[each])
    for each in names:
        require_known("--strategies", each, known)
    return Choice(tuple(services), names)
