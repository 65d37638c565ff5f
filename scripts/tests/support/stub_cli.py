"""The command line with stubs in the services' place: what the tests of whole runs start.

STUB_RESULTS is the folder of the runs. STUB_SERVICES names the services that are stubs; without it
both are. STUB_CLIENT is a command in the place of the stub of the programs that make calls; empty,
they are the real ones.
STUB_REPOSITORY is where the commits are that `ab` builds.
"""

from __future__ import annotations

import operator
import os
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from restbench import cli
from restbench.deploy import builds, programs
from restbench.drive import call_client, generator, monitor, npb_runs
from restbench.experiment.cell import Shape
from restbench.machine import machine
from restbench.prove import proof
from restbench.schedule import closed_load, preparation, windows
from restbench.show.charts import theme
from restbench.store import store

STUB = Path(__file__).with_name("stub_service.py")
KERNEL = Path(__file__).with_name("stub_kernel.py")
CLIENT = Path(__file__).with_name("stub_call_client.py")
SMALL = Shape(rows=2, inner=2, columns=2)


def stub_command(name: str) -> list[str]:
    return [sys.executable, str(STUB), name]


def no_library() -> str:
    """In the place of a page's chart library, which takes seconds of CPU time to bundle."""
    return "/* no charts */"


def put_stubs(patch: Any) -> None:
    """As the environment says. `patch` is like pytest's `MonkeyPatch`, which takes it all back."""
    results = Path(os.environ["STUB_RESULTS"])
    for each in (store.create_run, store.open_run, store.runs, store.require_room):
        patch.setattr(each, "__defaults__", (results,))
    for name in os.environ.get("STUB_SERVICES", "java python").split():
        command = stub_command(name)
        patch.setitem(programs.COMMANDS, name, lambda _settings, command=command: command)
        patch.setitem(npb_runs.PROGRAMS, name, lambda _settings: [sys.executable, str(KERNEL)])
    if client := shlex.split(os.environ.get("STUB_CLIENT", f"{sys.executable} {CLIENT}")):
        for name in call_client._COMMANDS:
            patch.setitem(call_client._COMMANDS, name, lambda _settings: client)
    if "STUB_FAULT_OF_OURS" in os.environ:
        patch.setattr(monitor, "require_tools", None)  # whatever asks for them meets a bug
    if repository := os.environ.get("STUB_REPOSITORY"):
        patch.setattr(builds, "REPOSITORY", Path(repository))
    # No test is about speed: one compiler, short loads before the trials and one look are enough.
    patch.setattr(generator, "JVM_ARGUMENTS", "")
    patch.setattr(preparation, "WARMING_S", 0.1)
    patch.setattr(closed_load, "PILOT_S", 0.1)
    patch.setattr(windows, "FIRST_WARM_S", 0.0)
    patch.setattr(machine, "PART_S", 0.03)
    patch.setattr(proof, "SECOND_LOOKS", 0)
    patch.setattr(proof, "SHAPES", dict.fromkeys(("java", "python"), SMALL))
    patch.setattr(proof, "OTHER_SHAPES", {})
    patch.setattr(theme, "library", no_library)


if __name__ == "__main__":
    put_stubs(SimpleNamespace(setattr=setattr, setitem=operator.setitem))
    cli.main()
