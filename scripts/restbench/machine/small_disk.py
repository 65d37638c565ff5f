"""A disk of a few hundred MiB, in memory, that can be filled."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from restbench.failures import EnvironmentProblem
from restbench.machine import guardian, watch


@contextmanager
def mounted(mib: int) -> Iterator[Path]:
    """A new disk of so many MiB, which every user may pass through. It is removed with the context,
    or when this process ends. EnvironmentProblem where we may not mount."""
    folder = Path(tempfile.mkdtemp(prefix="restbench-disk-"))
    watch.at_end("unmount", folder)
    line = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=711", "restbench", str(folder)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().partition("\n")[0]
            raise EnvironmentProblem(f"a small disk needs the right to mount (root's): {said}")
        yield folder
    finally:
        guardian.unmount(folder)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Fill the disk, as long as the context lasts."""
    filler = disk / "filler"
    try:
        with filler.open("wb") as file:
            # Another process may take some of the last bytes meanwhile: each step is tried alone.
            for step in (1 << 20, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, step)
        yield
    finally:
        filler.unlink(missing_ok=True)
