"""Child processes that never outlive the harness, and the CPU time and memory of processes."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from restbench.machine import clock, watch

STOP_TIMEOUT_S = 15.0
CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
#: User and system time in `/proc/<pid>/stat`, behind the name; then those of ended children.
_OWN, _FAMILY = slice(11, 13), slice(11, 15)
_MOST_BYTES = 1 << 16
PROC = Path("/proc")


def start(  # noqa: PLR0913 - each is said by its name
    command: list[str],
    log: Path,
    environment: dict[str, str] | None = None,
    *,
    outlives_us: bool = False,
    is_asked: bool = False,
    user: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, its output appended to `log`. With `is_asked`
    standard input and output are pipes, and only standard error goes to `log`.

    It ends with the harness at the latest, as do all processes that it starts, unless it
    `outlives_us`. Root may run it as another `user`, by number.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE if is_asked else subprocess.DEVNULL,
            stdout=subprocess.PIPE if is_asked else output,
            stderr=output,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            env=(watch.unmarked() if outlives_us else child_environment()) | (environment or {}),
        )


def child_environment() -> dict[str, str]:
    """The environment of processes that end with us: our mark, and a folder for temporary files
    that is removed when we end, since a process that is killed removes none of its own."""
    folder = watch.begin()
    # A JVM ignores TMPDIR, and keeps counters for `jstat` in a file elsewhere.
    jvm = f"-Djava.io.tmpdir={folder} -XX:-UsePerfData"
    given = os.environ.get("JDK_JAVA_OPTIONS", "")
    return watch.environment() | {
        "TMPDIR": str(folder),
        "JDK_JAVA_OPTIONS": f"{jvm} {given}".strip(),
    }


def bound_to_us(command: list[str], cores: str | None = None) -> list[str]:
    """The command line, changed so that it dies with the harness, and runs on `cores` if given.

    `setpriv --pdeathsig` makes the kernel kill it when the harness dies, however it dies. The
    signal follows the THREAD that starts it: start such a command from the main thread only. The
    guardian (`watch`) ends what the command starts in turn.
    """
    bound = ["taskset", "-c", cores] if cores else []
    return ["setpriv", "--pdeathsig", "KILL", "--", *bound, *command]


def stop(
    process: subprocess.Popen[bytes],
    first: signal.Signals = signal.SIGTERM,
    timeout_s: float = STOP_TIMEOUT_S,
    *,
    to_group: bool = False,
) -> None:
    """Send the signal `first`, wait, then kill all that is left of the process group and its
    descendants.

    The signal goes to the process alone or, with `to_group`, to its whole group, as from a
    terminal. Returns when all of them are gone: their ports are free then.
    """
    everyone = family(process.pid)
    if process.poll() is None:
        if to_group:
            os.killpg(process.pid, first)  # not reaped, so the number is still ours
        else:
            process.send_signal(first)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout_s)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for each in everyone:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    clock.wait_until(lambda: not any(map(is_alive, everyone)), STOP_TIMEOUT_S)


def finished(
    command: list[str], log: Path, timeout_s: float, environment: dict[str, str] | None = None
) -> int | None:
    """Run a command; returns its exit code, None after `timeout_s`. No process of it is left."""
    started = start(command, log, environment)
    try:
        return started.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        stop(started)


def output(
    command: list[str],
    environment: Mapping[str, str] | None = None,
    *,
    stderr: int = subprocess.STDOUT,
) -> str:
    """Output of a command, by default with its errors (`stderr`); empty if it is not installed."""
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=stderr,
        check=False,
        text=True,
        env=environment,
    ).stdout.strip()


def is_alive(each: psutil.Process) -> bool:
    """False for a zombie, which has released everything and disappears when its parent waits."""
    try:
        return each.is_running() and each.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def tree(pid: int) -> tuple[int, ...]:
    """The process and all its descendants, sorted; empty when it is gone."""
    return tuple(sorted(each.pid for each in family(pid)))


def family(pid: int) -> list[psutil.Process]:
    """The process and all its descendants; children that end meanwhile are left out."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_ms(pids: Iterable[int], *, with_ended_children: bool = False) -> float:
    """User + system time that the processes have used, including threads that ended; milliseconds.

    From `/proc/<pid>/stat`, so in steps of one clock tick (10 ms). Gone processes count as 0.
    """
    what = _FAMILY if with_ended_children else _OWN
    ticks = sum(_name_and_ticks(f"/proc/{pid}/stat", what)[1] for pid in pids)
    return ticks * 1000 / CLOCK_TICKS_PER_S


def children_cpu_ms() -> float:
    """The same for our own children that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def threads_cpu_ms(pids: tuple[int, ...], names: tuple[str, ...]) -> float:
    """The same for the threads whose name begins with one of `names` and that have not ended."""
    stats = (f"{task}/stat" for pid in pids for task in Path(f"/proc/{pid}/task").glob("*"))
    ticks = sum(ticks for name, ticks in map(_name_and_ticks, stats) if name.startswith(names))
    return ticks * 1000 / CLOCK_TICKS_PER_S


def off_cores_share(given: Iterable[tuple[Iterable[int], Collection[int]]]) -> float:
    """The share (0 to 1) of the CPU time of running threads that is used by threads which the
    kernel may run on other cores than they were given. `given` has pids with their cores."""
    ticks = {False: 0, True: 0}
    for pids, cores in given:
        for task in (each for pid in pids for each in Path(f"/proc/{pid}/task").glob("*")):
            with contextlib.suppress(ProcessLookupError):
                is_on_them = os.sched_getaffinity(int(task.name)) <= set(cores)
                ticks[is_on_them] += _name_and_ticks(f"{task}/stat")[1]
    whole = sum(ticks.values())
    return ticks[False] / whole if whole else 0.0


def _name_and_ticks(stat: str, what: slice = _OWN) -> tuple[str, int]:
    """Name and clock ticks of a process or a thread; a name may contain anything, brackets too."""
    try:
        start, _, rest = read(stat).rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return "", 0
    return start.partition("(")[2], sum(map(int, rest.split()[what]))


def read(file: str) -> str:
    """The text of a small file of `/proc`. A database has up to two hundred processes, which are
    read while a load is measured: `Path.read_text` would take four times the CPU time."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return os.read(descriptor, _MOST_BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)


def field_sums(pids: Sequence[int], file: str, fields: Sequence[str]) -> list[int] | None:
    """The sums of these fields (`NAME: NUMBER`) of a file in `/proc/PID`; processes that are gone
    are left out. None where no file can be read."""
    texts = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            try:
                texts.append(read(f"{PROC}/{pid}/{file}"))
            except PermissionError:
                return None
    if not texts:
        return None
    whole = "\n".join(texts)
    return [sum(map(int, re.findall(rf"^{name}:\s+(\d+)", whole, re.MULTILINE))) for name in fields]


def resident_mib(pid: int) -> float:
    """Resident memory of a process; 0 where it is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return float(psutil.Process(pid).memory_info().rss) / 2**20
    return 0.0


def tail(log: Path, lines: int = 12) -> str:
    """The last lines of a log, for an error message."""
    if not log.exists():
        return "(no log)"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
