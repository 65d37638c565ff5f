"""Whether the client of a request is still there."""

import socket
from typing import Any


def client_waits(environ: dict[str, Any]) -> bool:
    """False once the client has closed its connection; True where the server does not show it.

    A look at what has arrived, which takes nothing away: the end of the stream means that the
    client has gone. One that only closed its sending half counts as gone too.
    """
    connection: socket.socket | None = environ.get("gunicorn.socket")
    if connection is None:
        return True
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
