"""The Flask application on Granian: only the server differs from flask.

Granian's WSGI has no raw path, no connection to ask whether the client is gone or to bound its
silence, and its end of a body in chunks is also that of one that was cut off.
"""

from multiprocessing.util import Finalize

from flask import Flask
from granian.constants import Interfaces

from . import NAMELESS
from .flask import begun, create_app
from .granian_server import begin_worker, on_ending, serve

_FIRST = 100
"""Before the pools' own finalizers, which know nothing of the thread that keeps the pools whole."""


def application() -> Flask:
    """What Granian calls in its worker process."""
    begin_worker()
    serving = begun()
    on_ending(serving.core.delays.stop)
    Finalize(None, serving.close, exitpriority=_FIRST)  # Granian has no hook for a worker's end
    serving.await_ready()
    return create_app(serving.core, NAMELESS)


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    serve(f"{__name__}:application", Interfaces.WSGI)
