"""`serve` and `stop`: the services for people with curl; `command`: how one is started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from restbench.commands.options import DatabaseUrlOption, PostgresBinOption, console
from restbench.deploy import programs, serve
from restbench.deploy.database import Database
from restbench.experiment.cell import Front, ServiceName
from restbench.failures import EnvironmentProblem, StorageProblem, first_line
from restbench.machine import jvm


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
    database = Database(folder, postgres_bin, own_url=database_url, outlives_us=True)
    try:
        settings = _started(database) if with_database else programs.NO_SETTINGS
        services = serve.start_all(front, settings)
    except BaseException:
        if database.child:  # it was started just now
            database.stop()
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


def _started(database: Database) -> Mapping[str, str]:
    """Start the database; returns the environment by which services find it. Where that fails, no
    database is left and the environment is empty: the services run without 'messages'."""
    try:
        serve.start_database(database)
    except (EnvironmentProblem, StorageProblem) as problem:
        if database.child:  # it was started, and its tables cannot be made
            database.stop()
        reason = first_line(str(problem))
        console.print(f"# without 'messages': {reason}", soft_wrap=True)
        return programs.NO_SETTINGS
    return database.environment()


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
