"""The table of web frameworks, each with the server around it."""

from typing import NamedTuple


class Framework(NamedTuple):
    """How one is started: arguments of the interpreter, in the folder of the service."""

    command: tuple[str, ...]
    packages: tuple[str, ...]
    """What is imported; where one is missing, the framework is not installed."""
    is_asynchronous: bool = False
    """Whether requests are handled in an event loop, so that computing must be handed off."""


FRAMEWORKS = {
    "flask": Framework(("-m", "gunicorn", "-c", "gunicorn.conf.py"), ("flask", "gunicorn")),
    "fastapi": Framework(
        ("-m", "restbench_service.frameworks.fastapi"),
        ("fastapi", "uvicorn", "uvloop", "httptools"),
        is_asynchronous=True,
    ),
}
"""By the name in RESTBENCH_FRAMEWORK."""
