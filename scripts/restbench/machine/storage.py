"""The place where results are written: the meaning of write errors, and the free space; and a disk
of a few hundred MiB, in memory, that can be filled."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.machine import guardian, watch

MIB = 1 << 20
#: Free space that a run needs when it begins: an hour's trials, its tables and its page. A disk
#: that fills up later ends the run, which keeps what was measured.
ROOM_BYTES = 32 * MIB
#: Size of the file that tries whether anything can be written: more than a single free block.
TRIAL_BYTES = 64 * 1024

#: Errors of the file system, with their fix.
_OF_THE_PLACE = {
    errno.ENOSPC: "free some space on that disk",
    errno.EDQUOT: "your disk quota is used up: free some space, or have it raised",
    errno.EFBIG: "a file may not be larger here: raise the limit with 'ulimit -f unlimited'",
    errno.EROFS: "mount it writable, or use a checkout that lies elsewhere",
    errno.EIO: "the disk has errors: 'dmesg' shows them",
}
#: The variable, set by docker-compose.yml, with the path on the host of the folder of runs.
ON_HOST = "BENCH_RESULTS_ON_HOST"
#: Errors that may have other causes, unless something was being written, with their fix.
_WHEN_WRITING = {
    errno.EACCES: "give yourself the right to write there",
    errno.EPERM: "give yourself the right to write there",
    errno.EEXIST: "a file stands where a folder is needed: move it away",
    errno.ENOTDIR: "a file stands where a folder is needed: move it away",
    errno.EISDIR: "a folder stands where a file is needed: move it away",
    errno.ELOOP: "its symbolic links form a loop: repair them",
}


def problem(error: BaseException, path: Path | None = None) -> StorageProblem | None:
    """The failure to report where an error means that a place cannot be written to; else None.

    `path` is what was to be written, where it is known.
    """
    if not isinstance(error, OSError) or error.errno is None:
        return None
    known = _OF_THE_PLACE if path is None else _OF_THE_PLACE | _WHEN_WRITING
    mend = known.get(error.errno)
    if mend is None:
        return None
    on_host = os.environ.get(ON_HOST)
    if on_host and error.errno in (errno.EACCES, errno.EPERM):
        mend = (
            f"on the host it is {on_host}, and user {os.getuid()}:{os.getgid()} may not write "
            "there: start with its owner, BENCH_USER=$(id -u):$(id -g) docker compose ..."
        )
    place = path or error.filename or "a file"
    return StorageProblem(f"{place}: cannot be written: {os.strerror(error.errno)}: {mend}")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Context for code that writes to `path`: StorageProblem, with the fix, where that fails."""
    try:
        yield
    except OSError as error:
        raise problem(error, path) or error from error


def temporary(path: Path) -> Path:
    """The path of a file until it is complete. It has our pid, so that leftovers can be found."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def require_room(folder: Path) -> None:
    """StorageProblem where a folder cannot be written to, or its disk has no room for a run."""
    trial = temporary(folder / "trial")
    with writing(folder):
        try:
            _write_through(trial)
        finally:
            trial.unlink(missing_ok=True)
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if free < ROOM_BYTES:
        raise StorageProblem(
            f"{folder}: {free / MIB:,.0f} MiB are free, a run needs {ROOM_BYTES // MIB} MiB: free "
            "some space on that disk"
        )


def _write_through(path: Path) -> None:
    with path.open("wb") as output:
        output.write(b"\0" * TRIAL_BYTES)
        output.flush()
        os.fsync(output.fileno())


def fsync_path(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk itself (fsync)."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


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
