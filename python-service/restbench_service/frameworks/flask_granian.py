"""The Flask application on Granian: only the server differs from flask.

Granian's WSGI has no raw path, no connection to ask whether the client is gone or to bound its
silence, and its end of a body in chunks is also that of one that was cut off.
"""

import os
from multiprocessing.util import Finalize

from flask import Flask
from granian.constants import Interfaces

from ..core.service import Server
from ..serving import Serving
from ..settings import Settings
from . import NAMELESS, server_of
from .flask import create_app
from .granian_server import begin_worker, on_ending, serve

_FIRST = 100
"""Before the pools' own finalizers, which know nothing of the thread that keeps the pools whole."""


def application() -> Flask:
    """What Granian calls in its worker process."""
    begin_worker()
    settings = Settings.from_environment(os.environ)
    serving = Serving(settings, Server(settings.framework, server_of(settings.framework)))
    on_ending(serving.core.delays.stop)
    Finalize(None, serving.close, exitpriority=_FIRST)  # Granian has no hook for a worker's end
    serving.await_ready()
    return create_app(serving.core, NAMELESS)


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    settings = Settings.from_environment(os.environ)
    serve(f"{__name__}:application", Interfaces.WSGI, settings)
