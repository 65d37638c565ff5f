"""The command line with stubs in the services' place: what the tests of whole runs start.

STUB_RESULTS is the folder of the runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from restbench import cli, proof, service, store
from restbench.cell import Shape

STUB = Path(__file__).with_name("stub_service.py")


def stub_command(name: str) -> list[str]:
    return [sys.executable, str(STUB), name]


if __name__ == "__main__":
    for each in (store.create_run, store.open_run):
        each.__defaults__ = (Path(os.environ["STUB_RESULTS"]),)
    service.COMMANDS |= {
        "java": lambda: stub_command("java"),
        "python": lambda: stub_command("python"),
    }
    service.REQUEST_TIMEOUT_S = 2.0
    service.ATTACH_TIMEOUT_S = 1.0
    small = Shape(rows=2, inner=2, columns=2)
    proof.SHAPES |= {"java": small, "python": small}
    proof.OTHER_SHAPES.clear()
    cli.main()
