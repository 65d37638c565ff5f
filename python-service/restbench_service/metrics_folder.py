"""Where the workers of one service keep what they count, so that each can answer for all.

This module must not import prometheus_client, which reads the variable when it is imported.
"""

import os
import shutil
import tempfile
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_PREFIX = "restbench-metrics-"


def name_folder(workers: int) -> None:
    """In the environment of this process, of what it becomes and of what it starts.

    One worker alone needs none. Folders of services that were killed are removed.
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
    """To be called by the process that has named it, when its workers have ended."""
    folder = os.environ.get(VARIABLE)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
