"""From the options of `plan` and `run` to an order."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence

from restbench.commands.options import RESUME
from restbench.deploy import programs
from restbench.experiment import claim_file, experiment, plan
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, STRATEGIES, ServiceName
from restbench.experiment.order import Order
from restbench.experiment.records import PlannedCell
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration
from restbench.store import store

#: What can be attached to: JMeter is given host and port, so there is nothing behind them.
ADDRESS = re.compile(r"http://(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?/?")


def order_for(
    name: str, profile: str, cells: str, attach: list[str], minutes: float = 0.0
) -> Order:
    """What the options of `run` and `plan` ask for; BadConfiguration where they are wrong."""
    path = store.experiment_file(name)
    loaded = experiment.load(path)
    selection = plan.parse_filter(cells, loaded)
    chosen = loaded.profile(profile)
    if minutes:
        chosen = chosen.lasting(minutes)
    planned = plan.plan(loaded, chosen, selection)
    others = attached(attach)
    _require_frameworks([each for each in planned if each.cell.service not in others], selection)
    claims_text = None
    if loaded.claims is not None:
        # As the file is now: a run is held against what was fixed before it. That it is wrong is
        # better known now than after the run.
        claims = store.sibling(path, loaded.claims)
        claims_text = claim_file.checked_text(claims, loaded.levels)
    return Order(
        experiment=loaded,
        experiment_text=path.read_text(encoding="utf-8"),
        profile_name=profile,
        profile=chosen,
        plan=planned,
        command=command_line(),
        claims_text=claims_text,
        attached=others,
    )


def _require_frameworks(planned: Sequence[PlannedCell], selection: Where) -> None:
    """BadConfiguration where the environment chooses a framework, which is a factor in a run, or
    one that was selected by its name cannot be had here."""
    for name in dict.fromkeys(each.cell.service for each in planned):
        variable = f"{name.upper()}_FRAMEWORK"
        if (value := os.environ.get(variable)) not in (None, "", DEFAULT_FRAMEWORKS[name]):
            raise BadConfiguration(
                f"{variable}={value}: the framework is a factor of a run's cells: write "
                f'framework = "{value}" into [[cells]] of an experiment\'s file, or take '
                f"EXPERIMENT=frameworks with --cells 'framework={value}'"
            )
    for name, framework in {(each.cell.service, each.cell.framework) for each in planned}:
        named = framework in (selection.framework or ())
        if named and (lack := programs.lacking(name, framework)):
            raise BadConfiguration(f"CELLS: framework: {lack}")


def command_line() -> str:
    """As it was typed, without RESUME: a run is the same whether it was interrupted or not."""
    return shlex.join(["restbench", *(each for each in sys.argv[1:] if each != RESUME)])


def attached(pairs: list[str]) -> dict[ServiceName, str]:
    """What `--attach` gives, service by service; BadConfiguration where it is wrong."""
    found: dict[ServiceName, str] = {}
    for pair in pairs:
        name, _, url = pair.partition("=")
        if name not in STRATEGIES or ADDRESS.fullmatch(url) is None:
            raise BadConfiguration(
                f"--attach {pair}: give SERVICE=http://HOST:PORT; services are "
                + ", ".join(STRATEGIES)
            )
        service: ServiceName = "java" if name == "java" else "python"
        if service in found:
            raise BadConfiguration(f"--attach {pair}: {service} is attached twice")
        found[service] = url
    return found
