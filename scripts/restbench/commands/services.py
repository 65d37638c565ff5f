"""`serve` and `stop`: the services for people with curl."""

from __future__ import annotations

from restbench import serve
from restbench.commands.options import console


def serve_services() -> None:
    """Start both services and print curl lines that work."""
    for service in serve.start_all():
        console.print(f"# {service.name}: {service.base_url}  (docs: {service.base_url}/docs)")
        for line in serve.curl_lines(service):
            console.print(line, markup=False, soft_wrap=True)
    console.print("# 'make stop' ends them")


def stop_services() -> None:
    """End the services that 'serve' left running."""
    stopped = serve.stop_all()
    console.print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")
