"""The Flask application on Granian: only the server differs from flask.

Granian's WSGI provides no raw path, and no connection by which to detect that a client is gone or
to limit its silence. A chunked body that was cut off looks complete.
"""

from multiprocessing.util import Finalize

from flask import Flask
from granian.constants import Interfaces

from . import SERVER_HEADER
from .flask import begun, create_app
from .granian_server import begin_worker, on_ending, serve

_FIRST = 100
"""Runs before the finalizers of the pools, which do not stop the thread that replaces pools."""


def application() -> Flask:
    """What Granian calls in its worker process."""
    begin_worker()
    serving = begun()
    on_ending(serving.core.delays.stop)
    Finalize(None, serving.close, exitpriority=_FIRST)  # Granian has no hook for a worker's end
    serving.await_ready()
    return create_app(serving.core, SERVER_HEADER)


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    serve(f"{__name__}:application", Interfaces.WSGI)
