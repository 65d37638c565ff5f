"""`serve` and `stop`: the services for people with curl; `command`: how one is started."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from restbench.commands.options import console
from restbench.deploy import programs, serve
from restbench.experiment.cell import Front, ServiceName
from restbench.machine import jvm


def serve_services(
    front: Annotated[Front, typer.Option(help="The reverse proxy before each service.")] = "none",
) -> None:
    """Start both services and print curl lines that work."""
    for service in serve.start_all(front):
        health = service.health()
        runs_on = [health.get("framework"), health.get("runtime")]
        runs_on += [jvm.java()] if service.name == "java" else []
        console.print(f"# {service.name}: {service.base_url}  (docs: {service.base_url}/docs)")
        console.print(f"#   {', '.join(each for each in runs_on if each)}", soft_wrap=True)
        for line in serve.curl_lines(service):
            console.print(line, markup=False, soft_wrap=True)
    console.print("# 'make stop' ends them")


def stop_services() -> None:
    """End the services that 'serve' left running."""
    stopped = serve.stop_all()
    console.print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")


def show_command(
    name: Annotated[ServiceName, typer.Argument(metavar="SERVICE", help="java or python.")],
) -> None:
    """Print a service's command line as JSON, for 'ab'."""
    argv = programs.COMMANDS[name](programs.NO_SETTINGS)
    print(json.dumps({"argv": argv}))  # for programs: whatever its length
