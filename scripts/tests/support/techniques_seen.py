"""Whether a service's strategy does what its name says, looked at with patience."""

from __future__ import annotations

import time

from fixture_run import cell
from waiting import PATIENCE_S

from restbench.deploy import service
from restbench.experiment.records import Proof
from restbench.machine import placement
from restbench.prove import proof


def seen_to_do(live: service.Service, strategy: str) -> Proof:
    """Looked at until it is seen: what else runs can hide what a strategy does, for a while; one
    that does not do it has nothing to show, however often one looks."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = proof.prove(live, cell(f"{live.name} {strategy} low 1"), placement.allowed_cores())
        if found.does or time.monotonic() > deadline:
            return found
