"""Whether the client of a request is still there."""

from typing import Any


def client_waits(environ: dict[str, Any]) -> bool:
    """False once the client has closed its connection; True where the server does not show it."""
    connection = environ.get("gunicorn.socket")
    return connection is None or bool(connection.has_peer())
