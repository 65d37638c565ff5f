"""Ends what a harness started once the harness is gone, however it ended: `kill -9` included.

`watch` starts the guardian as a program of its own, in a session of its own:

    python -I -S guardian.py MARK < PIPE

The harness holds the other end of the pipe until it ends. All its descendants, except those that
are meant to outlive it, carry MARK in their environment. After the end of the pipe, the guardian
kills every process that still carries MARK.
Processes of nginx and PostgreSQL overwrite their environment with a title: those that work in a
folder to be removed are killed, too. Then the guardian obeys the orders that came through the pipe,
one per line, its parts separated by tabs:

    remove  PATH                   remove a file or a folder
    unless  FOLDER  PATTERN ...    remove a folder that has no entry matching a pattern
    tidy    FOLDER                 remove the harness's half-written files in it
    netns   NAME                   remove a network namespace
    link    NAME                   remove a network interface
    unmount PATH                   unmount a file system, and remove the folder
    over                           nothing: the harness ends in order, and starts nothing more

The guardian loads only the standard library, since it waits while measurements are made.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path

#: The variable that carries the mark.
VARIABLE = "RESTBENCH_HARNESS"
ENDS_IN_ORDER = "over"
#: No marked process must be found for so long. A forked child carries the mark only after its exec,
#: which may be late on a busy machine. A harness that ends in order is not starting any.
QUIET_S = 3.0
LOOK_EVERY_S = 0.05
#: A process in an uninterruptible system call cannot be killed before the call ends.
GIVE_UP_S = 30.0


def marks() -> dict[int, str]:
    """The mark of every process that carries one and that we may look at, by process id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (mark := _mark_of(entry.name)):
            found[int(entry.name)] = mark
    return found


def _mark_of(pid: str) -> str:
    """The mark of a process; empty if it has none, is another user's, a zombie, or gone."""
    try:
        environment = Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return ""
    start = f"{VARIABLE}=".encode()
    line = next((each for each in environment.split(b"\0") if each.startswith(start)), start)
    return line[len(start) :].decode(errors="replace")


def unmarked_in(folders: Collection[str]) -> list[int]:
    """The processes whose working directory is one of these folders and whose environment has no
    variable, so that their mark is lost. (A user's shell in the folder has variables.)"""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone, or another user's
            is_in_one = str((entry / "cwd").readlink()) in folders
            if is_in_one and b"=" not in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def end(mark: str, quiet_s: float = 0.0, folders: Collection[str] = ()) -> list[int]:
    """Kill every process that carries the mark, or has lost it and works in one of the folders,
    until none is found for `quiet_s`; returns those that could not be ended. A process that comes
    to the folders after the call belongs to the next harness, and is left alone."""
    unmarked = unmarked_in(folders)
    begun = quiet_since = time.monotonic()
    left: list[int] = []
    while time.monotonic() < begun + GIVE_UP_S:
        left = [pid for pid, carried in marks().items() if carried == mark]
        left += [pid for pid in unmarked_in(folders) if pid in unmarked]
        if left:
            quiet_since = time.monotonic()
            kill(left)
        elif time.monotonic() >= quiet_since + quiet_s:
            return []
        time.sleep(LOOK_EVERY_S)
    return left


def kill(pids: Iterable[int], how: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to each process; those that are gone, or another user's, are left out."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, how)


def half_written(folder: Path, pid: int) -> list[Path]:
    """The files that a process had not completed when it ended (storage.temporary)."""
    return list(folder.rglob(f".*.{pid}.tmp"))


def remove(path: Path) -> None:
    """Remove a file, or a folder with all its content, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def remove_network(kind: str, name: str) -> None:
    """Remove a namespace (`netns`) or an interface (`link`), if there; its other end goes too."""
    subprocess.run(["ip", kind, "delete", name], capture_output=True, check=False)


def unmount(path: Path) -> None:
    """Unmount what is mounted at a folder, if anything is, even in use, and remove the folder."""
    subprocess.run(["umount", "--lazy", path], capture_output=True, check=False)
    remove(path)


def _obey(order: str, harness: int) -> None:
    match order.split("\t"):
        case ["remove", path]:
            remove(Path(path))
        case ["unless", folder, *patterns]:
            if not any(any(Path(folder).glob(each)) for each in patterns):
                remove(Path(folder))
        case ["tidy", folder]:
            for each in half_written(Path(folder), harness):
                remove(each)
        case ["netns" | "link" as kind, name]:
            remove_network(kind, name)
        case ["unmount", path]:
            unmount(Path(path))


def _main(mark: str) -> None:
    orders = sys.stdin.read().splitlines()
    folders = {each.removeprefix("remove\t") for each in orders if each.startswith("remove\t")}
    end(mark, 0.0 if ENDS_IN_ORDER in orders else QUIET_S, folders)
    for order in orders:
        with contextlib.suppress(OSError):  # a disk may be read-only by now: the others are obeyed
            _obey(order, int(mark.partition("-")[0]))


if __name__ == "__main__":
    _main(sys.argv[1])
