"""The database's tables, functions and rights: numbered files, each applied once.

Services have no right to apply them, so the harness does, as the owner.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import psycopg
from psycopg import sql

from restbench import ROOT
from restbench.deploy.postgres import package_folder
from restbench.failures import EnvironmentProblem, first_line

CONTRACT = ROOT / "contract" / "database"
Role = Literal["owner", "service", "monitor"]
#: The name of each role in PostgreSQL. The owner of a server that others run has another name.
ROLES: dict[Role, str] = {
    "owner": "restbench_owner",
    "service": "restbench_service",
    "monitor": "restbench_monitor",
}
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
#: Key of an advisory lock: "restbnch". A second process waits, and finds everything applied.
LOCK = int.from_bytes(b"restbnch")
APPLIED = """
CREATE SCHEMA IF NOT EXISTS restbench;
CREATE TABLE IF NOT EXISTS restbench.migration (
  name text PRIMARY KEY, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())
"""


def files() -> dict[str, str]:
    """The SQL texts by name, in the order in which they are applied; V2 is the SQL of pgmq."""
    found = {path.name: path.read_text("utf-8") for path in CONTRACT.glob("migrations/V*.sql")}
    if (pgmq := package_folder("pgmq")) is None:
        raise EnvironmentProblem(
            "the package pgmq, which contains the SQL of pgmq, is missing: make setup"
        )
    found["V2__pgmq.sql"] = (pgmq / "sql" / "pgmq.sql").read_text("utf-8")
    return dict(sorted(found.items(), key=lambda each: int(each[0][1:].split("_")[0])))


def apply(owner: Connection, passwords: Mapping[Role, str]) -> list[str]:
    """Make the roles with their passwords and apply what is not applied yet, all in one
    transaction; returns the names of what was applied. Several processes may call it at once.

    EnvironmentProblem where a file was changed after it was applied, or the owner lacks a right.
    """
    try:
        with owner.transaction():
            owner.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            for role, password in passwords.items():
                _make_role(owner, ROLES[role], password)
            owner.execute(APPLIED)
            return [name for name, text in files().items() if _apply(owner, name, text)]
    except psycopg.Error as error:
        said = error.diag.message_primary or first_line(str(error))
        raise EnvironmentProblem(f"the database's tables cannot be made: {said}") from error


def _apply(owner: Connection, name: str, text: str) -> bool:
    """Apply a file unless it is applied already; returns whether it was applied now."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    known = owner.execute("SELECT sha256 FROM restbench.migration WHERE name = %s", [name])
    if (row := known.fetchone()) is None:
        owner.execute(text)
        owner.execute("INSERT INTO restbench.migration VALUES (%s, %s)", [name, digest])
    elif row[0] != digest:
        raise EnvironmentProblem(
            f"{name} was changed after it was applied to this database: undo the change, or use "
            "a new database"
        )
    return row is None


def _make_role(owner: Connection, name: str, password: str) -> None:
    """Make a role, or set its password. Only the verifier that PostgreSQL stores is sent: the
    password itself never reaches the server, nor its log or statistics."""
    known = owner.execute("SELECT FROM pg_roles WHERE rolname = %s", [name]).fetchone()
    verifier = owner.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256")
    verb, role = sql.SQL("CREATE" if known is None else "ALTER"), sql.Identifier(name)
    statement = sql.SQL("{} ROLE {} LOGIN PASSWORD {}")
    owner.execute(statement.format(verb, role, verifier.decode()))
