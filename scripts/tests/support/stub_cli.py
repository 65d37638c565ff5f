"""The command line with stubs in the services' place: what the tests of whole runs start.

STUB_RESULTS is the folder of the runs. STUB_SERVICES names the services that are stubs; without it
both are. STUB_CLIENT is a command in the place of the stub of the programs that make calls; empty,
they are the real ones.
STUB_REPOSITORY is where the commits are that `ab` builds.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from restbench import cli
from restbench.deploy import builds, programs, service
from restbench.drive import call_client, generator, monitor, npb_direct
from restbench.experiment.cell import Shape
from restbench.machine import clock
from restbench.machine.clock import read
from restbench.prove import proof
from restbench.store import store

#: An hour back, as a summer that ends.
STEP_NS = -3600 * 1_000_000_000
STUB = Path(__file__).with_name("stub_service.py")
KERNEL = Path(__file__).with_name("stub_kernel.py")
CLIENT = Path(__file__).with_name("stub_call_client.py")


def stub_command(name: str) -> list[str]:
    return [sys.executable, str(STUB), name]


def read_clocks() -> clock.Reading:
    """The wall clock as the stub has set it (`clock` of its faults)."""
    now, stepped = read(), Path(os.environ["STUB_CLOCK"])
    return replace(now, wall_ns=now.wall_ns + STEP_NS) if stepped.exists() else now


if __name__ == "__main__":
    clock.read = read_clocks
    for each in (store.create_run, store.open_run, store.runs, store.require_room):
        each.__defaults__ = (Path(os.environ["STUB_RESULTS"]),)
    stubs = {
        "java": lambda _settings: stub_command("java"),
        "python": lambda _settings: stub_command("python"),
    }
    wanted = os.environ.get("STUB_SERVICES", "java python").split()
    programs.COMMANDS |= {name: stubs[name] for name in wanted}
    npb_direct.PROGRAMS |= {
        name: lambda _settings: [sys.executable, str(KERNEL)] for name in wanted
    }
    if client := shlex.split(os.environ.get("STUB_CLIENT", f"{sys.executable} {CLIENT}")):
        call_client._COMMANDS |= dict.fromkeys(call_client.CLIENTS, lambda _settings: client)
    if '"hang"' in os.environ.get("STUB_FAULTS", ""):
        service.REQUEST_TIMEOUT_S = 3.0  # nobody else is to be given up so soon
    if "STUB_FAULT_OF_OURS" in os.environ:
        monitor.missing_tools = None  # whatever asks for them meets a bug
    generator.JVM_ARGUMENTS = ""  # no test is about speed: the launcher's one compiler is enough
    builds.REPOSITORY = Path(os.environ.get("STUB_REPOSITORY", builds.REPOSITORY))
    small = Shape(rows=2, inner=2, columns=2)
    proof.SHAPES |= {"java": small, "python": small}
    proof.OTHER_SHAPES.clear()
    cli.main()
