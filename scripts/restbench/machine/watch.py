"""Nothing outlives the harness: all that it starts carries its mark, and a guardian waits
to end what is left (`guardian`). What earlier harnesses left where theirs was killed too is found
by its mark."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from restbench.machine import guardian
from restbench.machine.guardian import VARIABLE

PREFIX = "restbench-"
#: Another name is another machine: for tests, which measure nothing. It has its own lock
#: (`machine_lock`), and leftovers of its own.
MACHINE = "RESTBENCH_LOCK"
#: The guardian's own variable, so that it is known for what it is.
GUARDS = "RESTBENCH_GUARDS"
#: Signals that ask for an end: meant for the harness.
POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
END_TIMEOUT_S = guardian.GIVE_UP_S + 5
#: One that is killed at its work has another in its place; who kills that too does it on purpose.
GUARDIANS_AT_THE_END = 2
Order: TypeAlias = Literal["remove", "unless", "tidy", "netns", "link", "unmount"]


@dataclass
class Watch:
    """A harness under guard: this process."""

    mark: str
    orders: list[str] = field(default_factory=list)
    """What the guardian knows, and the next one gets should it be killed."""
    process: subprocess.Popen[bytes] | None = None

    def ensure(self) -> None:
        """Have a guardian that lives."""
        if self.process is not None and self.process.poll() is None:
            return
        # It inherits the mask, from its first moment on: only our end ends it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, POLITE)
        try:
            self.process = _guardian(self.mark)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for order in self.orders:
            self._tell(order)

    def order(self, order: str) -> None:
        """Something to do once this process is gone."""
        if order not in self.orders:
            self.orders.append(order)
            self.ensure()
            self._tell(order)

    def _tell(self, order: str) -> None:
        # A guardian that was killed just now is replaced, and informed, before anything starts; one
        # that is still at its work when we end knows everything.
        if self.process and self.process.stdin and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write(f"{order}\n".encode())
                self.process.stdin.flush()

    def end(self) -> None:
        """Return when nothing carries the mark any more, and what was to be removed is."""
        for _ in range(GUARDIANS_AT_THE_END):
            self.ensure()
            if self._release():
                return

    def _release(self) -> bool:
        """Let the guardian do its work; whether it came to its end: it may be killed meanwhile."""
        assert self.process is not None and self.process.stdin is not None  # noqa: S101 - ensured
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._tell(guardian.OVER)
            self.process.stdin.close()
            self.process.wait(END_TIMEOUT_S)
        return self.process.returncode == 0


def _guardian(mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", guardian.__file__, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Without a mark: it must outlive a harness that was itself started by a harness.
        env={GUARDS: mark},
        cwd="/",
    )


_watches: dict[int, Watch] = {}
"""Of this process, by its id: a fork begins without."""


def begin() -> Path:
    """Be under guard from here on; returns the folder for temporary files, which goes at the end.

    To be called before anything is started, as often as one likes.
    """
    watch = _watches.get(os.getpid()) or _begin()
    watch.ensure()
    return _folder(watch.mark)


def mark() -> str:
    """What all that is ours carries: for names of files that tell whose they are."""
    begin()
    return _watches[os.getpid()].mark


def _begin() -> Watch:
    watch = Watch(_new_mark())
    _watches[os.getpid()] = watch
    os.environ[VARIABLE] = watch.mark
    watch.order(f"remove\t{_folder(watch.mark)}")
    _folder(watch.mark).mkdir(mode=0o700)
    atexit.register(watch.end)
    return watch


def at_end(what: Order, subject: Path | str, *patterns: str) -> None:
    """What happens when we end, however that is. `remove`: a file or folder goes; `unless`: a
    folder, where nothing in it is called like one of the patterns by then (`manifest.json`);
    `tidy`: what is half-written in a folder; `netns`, `link`: a network namespace, an interface;
    `unmount`: what is mounted on a folder, and that."""
    begin()
    name = str(subject.absolute()) if isinstance(subject, Path) else subject
    _watches[os.getpid()].order("\t".join([what, name, *patterns]))


def sweep(folder: Path) -> None:
    """Remove files in this folder that processes which are gone have left half-written, where their
    guardian was killed as well. To be called by who alone works in it: another namespace's
    processes look as if they were gone."""
    for path in folder.rglob(".*.tmp"):
        pid = path.name.split(".")[-2]
        if pid.isdigit() and not born(int(pid)):
            guardian.remove(path)


def environment() -> dict[str, str]:
    """Ours, without what somebody chose for another program: which code and cache sizes OpenBLAS
    takes is for it to find out (wrong ones cost half of its speed)."""
    return {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}


def unmarked() -> dict[str, str]:
    """The environment for what is meant to outlive us."""
    return {name: value for name, value in environment().items() if name != VARIABLE}


def _folder(mark: str) -> Path:
    return Path(tempfile.gettempdir(), PREFIX + mark)


def _new_mark() -> str:
    """Who the harness is, for as long as the machine runs: `PID-BORN-NAMESPACE-RANDOM`."""
    pid = os.getpid()
    return f"{pid}-{born(pid)}-{_namespace()}-{secrets.token_hex(4)}"


def born(pid: int) -> str:
    """When a process began, in clock ticks since the machine did; empty when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _namespace() -> str:
    """Process ids are told apart by it: a container has its own. So has a machine of a name."""
    name = os.environ.get(MACHINE)
    ours = "" if name is None else f".{zlib.crc32(name.encode()):08x}"
    return f"{Path('/proc/self/ns/pid').stat().st_ino}{ours}"


def is_over(mark: str) -> bool:
    """Whether a mark's harness is gone. Of another namespace's nothing can be said, nor of a mark
    that somebody else has made up, for a variable or for a folder that all may write to."""
    parts = mark.split("-")
    is_one = len(parts) == 4 and parts[0].isdecimal() and parts[2] == _namespace()
    return is_one and born(int(parts[0])) != parts[1]


def end_leftovers() -> list[str]:
    """End what harnesses that are gone have left running, and remove their temporary files.

    Returns a line for each process: `sadc (pid 123)`, and what could not be ended.
    """
    lines = []
    carried = guardian.marks()
    for mark in {mark for mark in carried.values() if is_over(mark)}:
        names = {pid: _name(pid) for pid, each in carried.items() if each == mark}
        left = guardian.end(mark)
        lines += [
            f"{name} (pid {pid})" + (" could not be ended" if pid in left else "")
            for pid, name in names.items()
        ]
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*-*-*"):
        if is_over(folder.name.removeprefix(PREFIX)):
            guardian.remove(folder)
    return lines


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "a process"
