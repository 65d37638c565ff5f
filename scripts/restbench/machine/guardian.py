"""Ends what a harness started once the harness is gone, however it went: `kill -9` included.

Started by `watch` as a program of its own, in a session of its own:

    python -I -S guardian.py MARK < PIPE

The harness holds the other end of the pipe and lets go of it only by ending. Everything that it
starts carries MARK in its environment, however deep below it, so whatever still carries it then is
killed. Processes of nginx and PostgreSQL write their titles over it: those that work in a folder
that goes are killed, too. What the pipe said before is removed, a line for each, its parts
separated by tabs:

    remove  PATH                   a file or a folder
    unless  FOLDER  PATTERN ...    a folder, where nothing in it is called like any of these
    tidy    FOLDER                 half-written files of the harness in it
    netns   NAME                   a network namespace
    link    NAME                   a network interface
    unmount PATH                   a file system that was mounted there, and the folder
    over                           nothing: the harness ends in order, and starts nothing more

The standard library is all it loads: it waits
next to measurements.
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
OVER = "over"
#: A child that was just being started carries its mark only when it has become its program, which
#: may be late on a busy machine. A harness that ends in order is starting none.
QUIET_S = 3.0
LOOK_EVERY_S = 0.05
#: A process in the kernel's hands cannot be killed before they let go of it.
GIVE_UP_S = 30.0


def marks() -> dict[int, str]:
    """Every process that carries a mark and that we may look at: its id and its mark."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (mark := _mark_of(entry.name)):
            found[int(entry.name)] = mark
    return found


def _mark_of(pid: str) -> str:
    """Empty for one without a mark, of another user, a zombie, or gone."""
    try:
        environment = Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return ""
    start = f"{VARIABLE}=".encode()
    line = next((each for each in environment.split(b"\0") if each.startswith(start)), start)
    return line[len(start) :].decode(errors="replace")


def marked(mark: str) -> list[int]:
    """The processes that carry this mark."""
    return [pid for pid, carried in marks().items() if carried == mark]


def unmarked_in(folders: Collection[str]) -> list[int]:
    """The processes that work in one of these folders and have no variable left to tell whose they
    are. (A shell that somebody has there has variables.)"""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone, or another user's
            is_in_one = str((entry / "cwd").readlink()) in folders
            if is_in_one and b"=" not in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def end(mark: str, quiet_s: float = 0.0, folders: Collection[str] = ()) -> list[int]:
    """Kill everything that carries the mark, or has lost it and works in one of the folders, until
    for so long there is nothing; returns what could not be ended. Who comes to these folders later
    is of the next harness."""
    unmarked = unmarked_in(folders)
    begun = quiet_since = time.monotonic()
    left: list[int] = []
    while time.monotonic() < begun + GIVE_UP_S:
        left = marked(mark) + [pid for pid in unmarked_in(folders) if pid in unmarked]
        if left:
            quiet_since = time.monotonic()
            kill(left)
        elif time.monotonic() >= quiet_since + quiet_s:
            return []
        time.sleep(LOOK_EVERY_S)
    return left


def kill(pids: Iterable[int], how: signal.Signals = signal.SIGKILL) -> None:
    """Signal each; those that are gone meanwhile, or are another user's, are left out."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, how)


def half_written(folder: Path, pid: int) -> list[Path]:
    """What a process had not yet given its name when it ended (storage.temporary)."""
    return list(folder.rglob(f".*.{pid}.tmp"))


def remove(path: Path) -> None:
    """A file, or a folder with all that is in it; nothing where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def remove_network(kind: str, name: str) -> None:
    """A namespace (`netns`) or an interface (`link`), which both take the other ends of their links
    along; nothing where there is none."""
    subprocess.run(["ip", kind, "delete", name], capture_output=True, check=False)


def unmount(path: Path) -> None:
    """What is mounted there, though something still uses it, and the folder; nothing where there is
    none."""
    subprocess.run(["umount", "--lazy", path], capture_output=True, check=False)
    remove(path)


def _has_any(folder: Path, patterns: Iterable[str]) -> bool:
    return any(True for pattern in patterns for _ in folder.glob(pattern))


def _obey(order: str, harness: int) -> None:
    match order.split("\t"):
        case ["remove", path]:
            remove(Path(path))
        case ["unless", folder, *patterns] if not _has_any(Path(folder), patterns):
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
    end(mark, 0.0 if OVER in orders else QUIET_S, folders)
    for order in orders:
        _obey(order, int(mark.partition("-")[0]))


if __name__ == "__main__":
    _main(sys.argv[1])
