"""What a process reads from the kernel about itself and its peers, and what it sets for itself."""

import ctypes
import os
import resource
import shutil
import signal
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any, NoReturn

BLAS_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
DROPPED = ("OPENBLAS_", "GUNICORN_CMD_ARGS", "prometheus_multiproc_dir")
"""Beginnings of variables that are dropped: some make numpy's library run code for another
processor, which can take twice as long; others override the settings and the metrics' folder."""
MALLOC_VARIABLES = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
}
"""Let the next request reuse the pages that the last one freed. By default glibc returns arrays of
a few hundred KiB to the kernel, and each request pays for the page faults again: half of the time
of parsing 2000 rows. The trim threshold keeps the memory of a request of 1000 x 1000; glibc allows
no higher mmap threshold; one arena is enough where one thread computes at a time."""

WARNING_FILTERS, NO_TRACKER_WARNING = "PYTHONWARNINGS", "ignore:resource_tracker"
"""multiprocessing's resource tracker removes the named semaphores that a killed process has left.
It would also warn of them in the log, as of a leak."""

METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder in which the workers of a service keep their metrics, so that each can report
all. prometheus_client reads it when it is imported, so this module must not import that."""
_METRICS_PREFIX = "restbench-metrics-"

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - docker gives it to every container, at most 64 MiB

SOCKET_MODE = 0o666
"""Open to all users, as a proxy may be another user; the socket's folder limits the access."""

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15  # linux/prctl.h


def allowed_cores() -> list[int]:
    """Numbers of the cores that taskset, a cpuset or a container left the calling thread."""
    return sorted(os.sched_getaffinity(0))


def set_name(name: str) -> None:
    """Set the calling thread's name, which /proc and ps show; at most 15 characters."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Be killed when the thread that started this process ends, in whatever way that ends.

    Exits if the process `parent` has ended already.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the service ended before this process began")


def become(arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this program by another program of this interpreter. Ctrl-C waits until that calls
    end_at_interrupt(), as it would be a traceback before that program's first line.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.execve(sys.executable, [sys.executable, *arguments], environment)  # noqa: S606


def end_at_interrupt() -> None:
    """Let Ctrl-C end this process with code 130 and no traceback, until a server handles it. The
    kernel's default action would not end the first process of a container."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def on_ending(action: Callable[[], object]) -> None:
    """Start `action` when TERM or Ctrl-C asks this process to end, then call the server's handler.

    To be called in the main thread, after the server has set its handlers; a signal without a
    handler is left as it is.
    """
    for ending in (signal.SIGTERM, signal.SIGINT):
        theirs = signal.getsignal(ending)
        if callable(theirs):

            def end(number: int, frame: FrameType | None, then: Any = theirs) -> None:
                # On another thread: the signal may have interrupted this one while it holds a lock.
                Thread(target=action, name="ending", daemon=True).start()
                then(number, frame)

            signal.signal(ending, end)
            signal.siginterrupt(ending, False)


def worker_pids() -> list[int]:
    """This process and the others that its parent has started: the workers of one server."""
    found: list[int] = []
    for path in Path(f"/proc/{os.getppid()}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            found += map(int, path.read_text().split())
    return sorted(found)


def is_worker(pid: int) -> bool:
    """Whether a process is running and is a worker. `worker_pids()` may miss a worker if another
    one ends while the kernel writes the list.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    state, parent = status.rpartition(")")[2].split()[:2]
    return state != "Z" and int(parent) == os.getppid()


def free_address(host: str, port: int) -> str:
    """The numeric address of a host. Raises OSError if the port is taken there: gunicorn would try
    it again for seconds, and Granian would share it with a service of the same user.
    """
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.create_server(address, family=family):
        return str(address[0])


def free_socket(path: str) -> str:
    """Remove the socket that a dead process has left at a path. Returns what occupies the path if
    that cannot be removed (another process's socket, or no socket), or "" if the path is free.
    """
    try:
        mode = Path(path).lstat().st_mode
    except FileNotFoundError:
        return ""
    if not stat.S_ISSOCK(mode):
        return "what is no socket"
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
            return ""
        except PermissionError:
            return "another user"
        except OSError:  # its backlog is full, or it is a socket of another kind
            return "another process"
        peer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, *_ = struct.unpack("3i", peer)
    name = Path(f"/proc/{pid}/comm")
    return f"{name.read_text().strip() if name.exists() else 'a process'} (pid {pid})"


def allow_descriptors(count: int) -> bool:
    """Raise the limit of open files to `count` if it is lower; False where that is not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft in range(count):
        if hard in range(count):
            return False
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    return True


def find_temporary_folder() -> str | None:
    """The folder for temporary files: the pools' sockets, and the file by which gunicorn sees that
    a worker is alive. If there is none, as in a container with a read-only file system and no /tmp,
    sets SHARED_MEMORY for this process and its children; None if that is not writable either.
    """
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        if not os.access(SHARED_MEMORY, os.W_OK | os.X_OK):
            return None
    print(f"there is no writable /tmp: temporary files are in {SHARED_MEMORY}", file=sys.stderr)
    os.environ["TMPDIR"] = tempfile.tempdir = SHARED_MEMORY
    return SHARED_MEMORY


def environment_of(variables: Mapping[str, str], blas_threads: int) -> dict[str, str]:
    """The variables of a process that computes; malloc's variables are kept if they are set."""
    kept = {n: value for n, value in variables.items() if not n.startswith(DROPPED)}
    filters = kept.get(WARNING_FILTERS, "").split(",")
    kept[WARNING_FILTERS] = ",".join(dict.fromkeys([*filter(None, filters), NO_TRACKER_WARNING]))
    threads = dict.fromkeys(BLAS_THREAD_VARIABLES, str(blas_threads))
    return {**MALLOC_VARIABLES, **kept, **threads}


def ensure_environment(blas_threads: int) -> None:
    """Restart this program with the environment it needs, unless it has that already. Then Ctrl-C
    ends it: see end_at_interrupt().

    glibc and numpy's library read their variables once, when the process starts.
    """
    wanted = environment_of(os.environ, blas_threads)
    if wanted != dict(os.environ):
        become(sys.orig_argv[1:], wanted)
    end_at_interrupt()


def name_metrics_folder(workers: int) -> None:
    """Create the metrics' folder, named in the environment, which children and an exec inherit.

    A single worker needs no folder. Folders of services that were killed are removed.
    """
    if workers == 1:
        os.environ.pop(METRICS_VARIABLE, None)
        return
    ours = f"{_METRICS_PREFIX}{os.getpid()}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{_METRICS_PREFIX}*"):
        pid = folder.name.removeprefix(_METRICS_PREFIX).partition("-")[0]
        if not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
    if not Path(os.environ.get(METRICS_VARIABLE, "")).name.startswith(ours):
        os.environ[METRICS_VARIABLE] = tempfile.mkdtemp(prefix=ours)


def remove_metrics_folder() -> None:
    """Remove the folder; called by the process that created it, after its workers have ended."""
    folder = os.environ.get(METRICS_VARIABLE)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
