"""The database of the workload `messages`: our own PostgreSQL, or one at a URL that others run."""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import make_conninfo

from restbench.deploy import migrations, postgres
from restbench.deploy.migrations import CONTRACT, ROLES, Connection, Role
from restbench.deploy.postgres import Server
from restbench.failures import BadConfiguration, EnvironmentProblem, first_line
from restbench.machine import guardian, ports, watch

NAME = "restbench"
#: What is killed: one backend of a service, the postmaster alone, or every process.
Victim = Literal["backend", "postmaster", "all"]
CONNECT_TIMEOUT_S = 5
#: The form that services accept, too: with a port, and without parameters.
URL = re.compile(r"postgresql://[A-Za-z0-9_-]+@[A-Za-z0-9.-]+:[0-9]{1,5}/[A-Za-z0-9_-]+")
#: With one of these off, a commit that was answered may be lost.
DURABILITY = ("fsync", "full_page_writes", "synchronous_commit")


@dataclass
class Database(Server):
    """A PostgreSQL server with its database; it is not started by the constructor.

    With `own_url` it is a server that others run: `start` only checks that it answers, `stop` does
    nothing, and `pids` is empty. A cluster whose server ends with us is removed when we end.
    """

    own_url: str | None = None
    """`postgresql://OWNER@HOST:PORT/DATABASE`, without a password."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Settings of PostgreSQL that replace those of the contract: the factors `postgres.NAME`."""
    port: int = 0
    """Port on 127.0.0.1; 0: a free one, chosen at the first start and kept at later ones."""

    def __post_init__(self) -> None:
        """Raises BadConfiguration for a URL that is malformed, or that has a password."""
        self.folder = self.folder.resolve()
        if self.own_url is not None:
            if ":" in self.own_url.partition("://")[2].rpartition("@")[0]:
                raise BadConfiguration(
                    "the URL of a database must not contain the password, as every user would "
                    "see it: put it into ~/.pgpass, or name a file by PGPASSFILE"
                )
            if not URL.fullmatch(self.own_url):
                raise BadConfiguration(  # it is not repeated: there may be a password in it
                    "the URL of a database must be like postgresql://OWNER@HOST:5432/DATABASE, "
                    "with nothing more"
                )

    # --- lifecycle ------------------------------------------------------------------------------
    def start(self) -> None:
        """Make the cluster where there is none, end what a killed harness left of it, start the
        server, wait until it answers, make the database. A server of ours that runs is kept.

        EnvironmentProblem, with the fix, where it cannot start, BadConfiguration where the folder
        has files of others; no process is left then.
        """
        if self.own_url is not None:
            self.connect().close()
        elif not (self.child and self.alive()):
            self.take_folder()
            self.end_leftovers()
            if not self.data.exists():
                self.make(ROLES["owner"], self._password("owner") or "")
            if not self.outlives_us:
                watch.at_end("remove", self.data)
            self.port = self.port or ports.reserve_stable_port()
            self.launch(self.settings | self._place(), self._answers)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server; returns when none of its processes is left. SIGINT is a fast shutdown;
        after SIGQUIT the next start recovers, as after a crash."""
        if self.own_url is None:
            self.end(how)

    def kill(self, victim: Victim, how: signal.Signals = signal.SIGKILL) -> tuple[int, ...]:
        """Send a signal to a backend of a service (one that works, if any does), to the postmaster,
        or to all processes; returns their ids. SIGSTOP to all pauses the server, SIGCONT resumes
        it.

        After a backend was killed, the server recovers by itself. After other kills, `restart` it.
        EnvironmentProblem where no server of ours runs.
        """
        running = self.postmaster()
        if running is None:
            raise EnvironmentProblem(f"no database runs in {self.folder} that could be killed")
        match victim:
            case "all":
                victims = self.pids()
            case "postmaster":
                victims = (running.pid,)
            case "backend":
                query = (
                    "SELECT pid FROM pg_stat_activity WHERE usename = %s "
                    "ORDER BY state = 'active' DESC, random() LIMIT 1"
                )
                with self.connect() as owner:
                    rows = owner.execute(query, [ROLES["service"]])
                    victims = tuple(pid for (pid,) in rows)
        guardian.kill(victims, how)
        return victims

    def restart(self) -> None:
        """Stop what is left of the server, killed or not, and start it again on the same port."""
        self.stop()
        self.start()

    def alive(self) -> bool:
        """Whether the postmaster runs."""
        return self.postmaster() is not None

    def migrate(self) -> list[str]:
        """Make roles, tables, functions and rights, once each; returns the names of the files that
        were applied now. Several processes may call it at once."""
        others: tuple[Role, ...] = ("service", "monitor")
        with self.connect() as owner:
            return migrations.apply(owner, {role: self._password(role) or "" for role in others})

    # --- access for clients ---------------------------------------------------------------------
    def connect(self, role: Role = "owner", database: str | None = None) -> Connection:
        """A connection in autocommit mode; EnvironmentProblem where it cannot be made."""
        url = self.url(role)
        try:
            return psycopg.connect(
                make_conninfo(url, dbname=database) if database else url,
                autocommit=True,
                application_name=NAME,
                connect_timeout=CONNECT_TIMEOUT_S,
                password=self._password(role),
            )
        except psycopg.OperationalError as error:
            said = first_line(str(error).strip())
            raise EnvironmentProblem(f"the database at {url} does not answer: {said}") from error

    def url(self, role: Role) -> str:
        """Such as `postgresql://restbench_service@127.0.0.1:PORT/restbench`, without a password."""
        if self.own_url is None:
            return f"postgresql://{ROLES[role]}@{ports.HOST}:{self.port}/{NAME}"
        if role == "owner":
            return self.own_url
        parts = urlsplit(self.own_url)
        return parts._replace(netloc=f"{ROLES[role]}@{parts.netloc.partition('@')[2]}").geturl()

    def password_file(self, role: Role) -> Path:
        """The path of a file of mode 0600 that contains only the role's password."""
        return self.folder / f"{role}.password"

    def environment(self) -> dict[str, str]:
        """The variables by which a service finds the database and, if it is ours, its disk."""
        self._password("service")
        disk = {"RESTBENCH_DATABASE_FREE_PATH": str(self.data)}
        return {
            "RESTBENCH_DATABASE_URL": self.url("service"),
            "RESTBENCH_DATABASE_PASSWORD_FILE": str(self.password_file("service")),
        } | (disk if self.own_url is None else {})

    def client_environment(self, role: Role) -> dict[str, str]:
        """Variables by which psql and pgbench, called with `url(role)`, find the password."""
        if (word := self._password(role)) is None:
            return {}
        path = self.folder / f"{role}.pgpass"
        postgres.write_secret(path, f"*:*:*:{ROLES[role]}:{word}\n")
        return {"PGPASSFILE": str(path)}

    # --- facts ----------------------------------------------------------------------------------
    @property
    def settings(self) -> dict[str, str]:
        """The contract's settings and the overrides, as they are given to the server."""
        text = (CONTRACT / "postgresql.conf").read_text("utf-8")
        return dict(re.findall(r"^([a-z_.]+) = (.+)$", text, re.MULTILINE)) | dict(self.overrides)

    @property
    def durable(self) -> bool:
        """Whether a commit is on the disk when it returns, by the settings of the server."""
        with self.connect() as owner:
            rows = owner.execute("SELECT current_setting(unnest(%s::text[]))", [list(DURABILITY)])
            return all(setting != "off" for (setting,) in rows)

    def described(self) -> dict[str, Any]:
        """Version, and settings that are not PostgreSQL's defaults: for `run.json`."""
        with self.connect() as owner:
            version = owner.execute("SELECT version()").fetchall()[0][0]
            rows = owner.execute(
                "SELECT name, current_setting(name) FROM pg_settings "
                "WHERE source NOT IN ('default', 'client', 'override', 'session') "
                "AND name <> ALL(%s) ORDER BY name",
                [list(self._place())],
            )
            return {"version": version, "settings": dict(rows.fetchall())}

    def fdatasync_us(self) -> float:
        """How long an fdatasync of 8 KiB takes on the cluster's disk, in µs, by `pg_test_fsync`.
        The measurement takes 3 s and needs a quiet machine."""
        ask = ["-s", "1", "-f", str(self.data / "pg_test_fsync.out")]
        line = [*self.ordinary_user(), self.program("pg_test_fsync"), *ask]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as asked:
            said = re.compile(r"\sfdatasync\s.*?([\d.]+) usecs/op")
            found = next((it for each in asked.stdout or () if (it := said.search(each))), None)
            asked.terminate()  # the methods that it tests next are not used
        if found is None:
            raise EnvironmentProblem("pg_test_fsync reports no time of fdatasync")
        return float(found[1])

    # --- internals ------------------------------------------------------------------------------
    def _place(self) -> dict[str, str]:
        """Settings of the server's addresses. The socket is in the data directory, by a relative
        path: the path of a socket has at most 107 bytes."""
        return {
            "port": str(self.port),
            "listen_addresses": ports.HOST,
            "unix_socket_directories": ".",
        }

    def _answers(self) -> bool:
        """Whether the server answers. If so, the database NAME exists on return, and only the owner
        may connect to the other databases. EnvironmentProblem where there is no room for it."""
        try:
            made = self.connect(database="postgres")
        except EnvironmentProblem:
            return False
        with answering(), made as owner:
            found = owner.execute("SELECT FROM pg_database WHERE datname = %s", [NAME])
            if found.fetchone() is None:
                owner.execute(f"CREATE DATABASE {NAME}")
            owner.execute("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC")
        return True

    def _password(self, role: Role) -> str | None:
        """A role's password, made at the first call; None for the owner on a server of others."""
        path = self.password_file(role)
        with contextlib.suppress(FileNotFoundError):
            return path.read_text("utf-8").strip()
        if self.own_url is not None and role == "owner":
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        word = secrets.token_hex(24)
        postgres.write_secret(path, word)
        return word


@contextmanager
def answering() -> Iterator[None]:
    """EnvironmentProblem where the database does not answer, or refuses, within the context."""
    try:
        yield
    except psycopg.Error as error:
        raise EnvironmentProblem(f"the database: {first_line(str(error).strip())}") from error


@contextmanager
def fresh(database: Database) -> Iterator[Database]:
    """Run a database with its tables while the context lasts; then remove its data. Data that a run
    left, which was killed with its guardian, are removed before: queue names and keys repeat."""
    database.end_leftovers()
    shutil.rmtree(database.data, ignore_errors=True)
    try:
        database.start()
        database.migrate()
        yield database
    finally:
        database.stop(signal.SIGQUIT)
        shutil.rmtree(database.data, ignore_errors=True)


def attached(folder: Path, programs: Path | None = None) -> Database:
    """The server that another process started in a folder; EnvironmentProblem where none runs."""
    database = Database(folder, programs, outlives_us=True)
    if (found := database.postmaster()) is None:
        raise EnvironmentProblem(
            f"no database runs in {folder}: 'restbench database start' starts one"
        )
    database.port = found.port
    return database
