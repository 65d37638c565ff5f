"""Nothing outlives the harness: all processes that it starts carry its mark, and a guardian waits
to end those that are left (`guardian`). If the guardian is killed too, later harnesses find what is
left by the mark."""

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
#: The variable with the machine's name. Tests, which measure nothing, set another name: it counts
#: as another machine, with its own lock (`machine_lock`) and its own leftovers.
MACHINE = "RESTBENCH_LOCK"
#: A variable in the guardian's environment, by which a guardian can be recognised.
GUARDIAN_VARIABLE = "RESTBENCH_GUARDS"
#: Signals that ask for an end: they are meant for the harness, not for its guardian.
POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
END_TIMEOUT_S = guardian.GIVE_UP_S + 5
#: A guardian that is killed at its work is replaced once; a second kill is taken as intended.
GUARDIANS_AT_THE_END = 2
Order: TypeAlias = Literal["remove", "unless", "tidy", "netns", "link", "unmount"]


@dataclass
class Watch:
    """A harness, which is this process, and its guardian."""

    mark: str
    orders: list[str] = field(default_factory=list)
    """The orders of the guardian; if it is killed, the next one gets them again."""
    process: subprocess.Popen[bytes] | None = None

    def ensure(self) -> None:
        """Start a guardian, unless one is running."""
        if self.process is not None and self.process.poll() is None:
            return
        # The guardian inherits the mask from its first moment on: only our end ends it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, POLITE)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian.__file__, self.mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                # Without a mark: it must survive if our harness was itself started by a harness.
                env={GUARDIAN_VARIABLE: self.mark},
                cwd="/",
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for order in self.orders:
            self._tell(order)

    def order(self, order: str) -> None:
        """Give the guardian an order for when this process is gone."""
        if order not in self.orders:
            self.orders.append(order)
            self.ensure()
            self._tell(order)

    def _tell(self, order: str) -> None:
        # A broken pipe is ignored: the guardian was killed, and the next one gets all orders.
        if self.process and self.process.stdin and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write(f"{order}\n".encode())
                self.process.stdin.flush()

    def end(self) -> None:
        """Return when no process carries the mark, and all that was to be removed is removed."""
        for _ in range(GUARDIANS_AT_THE_END):
            self.ensure()
            if self._release():
                return

    def _release(self) -> bool:
        """Let the guardian do its work; returns whether it finished, and was not killed."""
        assert self.process is not None and self.process.stdin is not None  # noqa: S101 - ensured
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._tell(guardian.ENDS_IN_ORDER)
            self.process.stdin.close()
            self.process.wait(END_TIMEOUT_S)
        return self.process.returncode == 0


_watches: dict[int, Watch] = {}
"""The watch of this process, by process id: after a fork, the child has none."""


def begin() -> Path:
    """Start a guardian if none runs; returns the folder for temporary files, removed at our end.

    To be called before anything is started; more calls do no harm.
    """
    if (watch := _watches.get(os.getpid())) is None:
        watch = _watches[os.getpid()] = Watch(_new_mark())
        os.environ[VARIABLE] = watch.mark
        watch.order(f"remove\t{_folder(watch.mark)}")
        _folder(watch.mark).mkdir(mode=0o700)
        atexit.register(watch.end)
    watch.ensure()
    return _folder(watch.mark)


def mark() -> str:
    """The mark of this harness, for names of files that show which harness they belong to."""
    begin()
    return _watches[os.getpid()].mark


def at_end(what: Order, subject: Path | str, *patterns: str) -> None:
    """Order what the guardian removes when we end, however we end (the orders of `guardian`)."""
    begin()
    name = str(subject.absolute()) if isinstance(subject, Path) else subject
    _watches[os.getpid()].order("\t".join([what, name, *patterns]))


def sweep(folder: Path) -> None:
    """Remove the half-written files in this folder of processes that are gone, and whose guardian
    was killed too. The caller must be the only one to use the folder: a process of another PID
    namespace looks as if it were gone."""
    for path in folder.rglob(".*.tmp"):
        pid = path.name.split(".")[-2]
        if pid.isdigit() and not born(int(pid)):
            guardian.remove(path)


def environment() -> dict[str, str]:
    """Our environment without the variables of OpenBLAS, which a user may have set for another
    program: it must find code and cache sizes by itself (wrong ones cost half of its speed)."""
    return {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}


def unmarked() -> dict[str, str]:
    """The environment of processes that are meant to outlive us: without our mark."""
    return {name: value for name, value in environment().items() if name != VARIABLE}


def _folder(mark: str) -> Path:
    return Path(tempfile.gettempdir(), PREFIX + mark)


def _new_mark() -> str:
    """A mark that is unique while the machine runs: `PID-BORN-NAMESPACE-RANDOM`."""
    pid = os.getpid()
    return f"{pid}-{born(pid)}-{_namespace()}-{secrets.token_hex(4)}"


def born(pid: int) -> str:
    """When a process began, in clock ticks since the boot; empty for a zombie or if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _namespace() -> str:
    """The PID namespace, such as that of a container, and a hash of the machine's name if set."""
    name = os.environ.get(MACHINE)
    ours = "" if name is None else f".{zlib.crc32(name.encode()):08x}"
    return f"{Path('/proc/self/ns/pid').stat().st_ino}{ours}"


def is_over(mark: str) -> bool:
    """Whether the harness of a mark is gone. False for a mark of another namespace, which cannot be
    checked, and for a text that is no mark: anybody can set the variable, or make such a folder."""
    parts = mark.split("-")
    is_one = len(parts) == 4 and parts[0].isdecimal() and parts[2] == _namespace()
    return is_one and born(int(parts[0])) != parts[1]


def end_leftovers() -> list[str]:
    """End the processes left by harnesses that are gone, and remove their temporary files.

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
