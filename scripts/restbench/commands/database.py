"""`database`: the PostgreSQL of the workload `messages`, alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from restbench.commands.options import DatabaseUrlOption, PostgresBinOption, console
from restbench.deploy import database, serve
from restbench.deploy.database import Database
from restbench.deploy.migrations import Role

Action = Literal["start", "stop", "status", "migrate", "psql"]


def manage_database(  # noqa: PLR0913, PLR0917 - an option each
    action: Annotated[Action, typer.Argument(help="start, stop, status, migrate or psql.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of psql, after '--': -- -c 'SELECT 1'.")
    ] = None,
    postgres_bin: PostgresBinOption = None,
    database_url: DatabaseUrlOption = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the cluster, log and ROLE.password, which is made, empty, or of an "
            "earlier start. Default: .cache/serve/database; for a URL other-database next to it.",
        ),
    ] = None,
    role: Annotated[Role, typer.Option(help="The role that psql connects as.")] = "owner",
) -> None:
    """Start, stop and use a PostgreSQL server."""
    place = folder or serve.database_folder(database_url)
    match action:
        case "start":
            server = Database(place, postgres_bin, own_url=database_url, outlives_us=True)
            server.start()
            server.migrate()
            password = server.password_file("service")
            console.print(f"{server.url('service')}  (password: {password})", soft_wrap=True)
        case "stop":
            server = Database(place, postgres_bin)
            if server.alive():
                server.stop()
                console.print("stopped: database")
            else:
                console.print("nothing was running")
        case _:
            others = Database(place, postgres_bin, own_url=database_url) if database_url else None
            server = others or database.attached(place, postgres_bin)
            _ask(action, server, role, arguments or [])


def _ask(action: Action, server: Database, role: Role, arguments: list[str]) -> None:
    match action:
        case "status":
            version = server.described()["version"]
            console.print(f"{server.url('owner')}: {version}", soft_wrap=True)
        case "migrate":
            applied = server.migrate()
            console.print(f"applied: {', '.join(applied) or 'nothing, all were applied before'}")
        case _:
            program = server.program("psql")
            line = [program, "--no-psqlrc", server.url(role), *arguments]
            os.execve(program, line, os.environ | server.client_environment(role))  # noqa: S606
