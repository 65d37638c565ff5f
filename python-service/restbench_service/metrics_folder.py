"""The folder in which the workers of a service keep their metrics, so that each can report all.

This module must not import prometheus_client, which reads the variable when it is imported.
"""

import os
import shutil
import tempfile
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_PREFIX = "restbench-metrics-"


def name_folder(workers: int) -> None:
    """Create the folder and name it in the environment, which children and an exec inherit.

    A single worker needs no folder. Folders of services that were killed are removed.
    """
    if workers == 1:
        os.environ.pop(VARIABLE, None)
        return
    ours = f"{_PREFIX}{os.getpid()}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
    if not Path(os.environ.get(VARIABLE, "")).name.startswith(ours):
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix=ours)


def remove_folder() -> None:
    """Remove the folder; called by the process that created it, after its workers have ended."""
    folder = os.environ.get(VARIABLE)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
