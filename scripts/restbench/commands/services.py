"""`serve` and `stop`: the services for people with curl; `command`: how one is started; `database`:
the PostgreSQL of the workload `messages`, alone."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from restbench.commands.options import DatabaseUrlOption, PostgresBinOption, console
from restbench.deploy import database, programs, serve
from restbench.deploy.database import Database
from restbench.deploy.migrations import Role
from restbench.experiment.cell import Front, ServiceName
from restbench.failures import Failure, first_line
from restbench.machine import jvm, storage

Action = Literal["start", "stop", "status", "migrate", "psql"]


def serve_services(
    front: Annotated[
        Front, typer.Option(help="The reverse proxy in front of each service.")
    ] = "none",
    postgres_bin: PostgresBinOption = None,
    database_url: DatabaseUrlOption = None,
    with_database: Annotated[
        bool,
        typer.Option(
            "--database/--no-database", help="Whether to serve 'messages', which needs a database."
        ),
    ] = True,
) -> None:
    """Start services and database, print curl lines."""
    serve.require_frameworks()
    folder = serve.database_folder(database_url)
    server = Database(folder, postgres_bin, own_url=database_url, outlives_us=True)
    try:
        settings = _started(server) if with_database else programs.NO_SETTINGS
        services = serve.start_all(front, settings)
    except BaseException:
        if server.child:  # it was started just now
            server.stop()
        raise
    for service in services:
        health = service.health()
        runs_on = [health.get("framework"), health.get("runtime")]
        runs_on += [jvm.java()] if service.name == "java" else []
        console.print(f"# {service.name}: {service.base_url}  (docs: {service.base_url}/docs)")
        console.print(f"#   {', '.join(each for each in runs_on if each)}", soft_wrap=True)
        lines = serve.messages_lines(service) if settings else []
        for line in serve.curl_lines(service) + lines:
            console.print(line, soft_wrap=True)
    console.print("# 'make stop' ends them")


def _started(server: Database) -> Mapping[str, str]:
    """Start the database; returns the environment by which services find it. Where that fails, no
    database is left and the environment is empty: the services run without 'messages'."""
    try:
        with storage.writing(server.folder):
            serve.start_database(server)
    except Failure as problem:
        if server.child:  # it was started, and its tables cannot be made
            server.stop()
        reason = first_line(str(problem))
        console.print(f"# without 'messages': {reason}", soft_wrap=True)
        return programs.NO_SETTINGS
    return server.environment()


def stop_services() -> None:
    """End the services and the database that 'serve' left running."""
    stopped = serve.stop_all()
    console.print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")


def show_command(
    name: Annotated[ServiceName, typer.Argument(metavar="SERVICE", help="java or python.")],
) -> None:
    """Print a service's command line as JSON, for 'ab'."""
    argv = programs.COMMANDS[name](programs.NO_SETTINGS)
    print(json.dumps({"argv": argv}))  # for programs: never wrapped


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
