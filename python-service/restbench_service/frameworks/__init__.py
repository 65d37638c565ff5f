"""The table of web frameworks, each with the server around it."""

from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

_GUNICORN = ("-m", "gunicorn", "-c", str(Path(__file__).parents[2] / "gunicorn.conf.py"))

SERVER_HEADER = {"Server": "restbench"}
"""For servers that add their own name to an answer without a Server header."""


class Framework(NamedTuple):
    """A web framework: how it is started, and the server around it."""

    command: tuple[str, ...]
    """Arguments of the interpreter."""
    server: str
    """The package that parses HTTP."""
    packages: tuple[str, ...]
    """The packages that are imported; if one is missing, the framework is not installed."""
    is_asynchronous: bool
    """Whether requests are received in an event loop; RESTBENCH_HANDOFF says where they run."""
    has_workers: bool = False
    """Whether the server can have several processes that serve (RESTBENCH_WORKERS)."""


def _own(module: str) -> tuple[str, str, str]:
    return ("-m", __name__, module)


FRAMEWORKS = {
    "flask": Framework(_GUNICORN, "gunicorn", ("flask", "gunicorn"), False, has_workers=True),
    "flask-granian": Framework(
        _own("flask_granian"), "granian", ("flask", "granian", "uvloop"), False, has_workers=True
    ),
    "fastapi": Framework(
        _own("fastapi"), "uvicorn", ("fastapi", "uvicorn", "uvloop", "httptools"), True
    ),
    "fastapi-gunicorn": Framework(
        _GUNICORN, "gunicorn", ("fastapi", "gunicorn", "uvloop"), True, has_workers=True
    ),
    "aiohttp": Framework(_own("aiohttp"), "aiohttp", ("aiohttp", "uvloop"), True),
    "rsgi": Framework(_own("rsgi"), "granian", ("granian", "uvloop"), True, has_workers=True),
}
"""The frameworks by their names in RESTBENCH_FRAMEWORK."""


def server_of(name: str) -> str:
    """Name and version of the package that parses HTTP under a framework."""
    server = FRAMEWORKS[name].server
    return f"{server} {version(server)}"
