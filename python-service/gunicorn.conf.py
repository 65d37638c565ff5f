"""gunicorn's settings, for `python -m restbench_service` or `python -m gunicorn` in this folder."""

import logging
import signal
from importlib import import_module
from typing import Any

from restbench_service.frameworks import FRAMEWORKS
from restbench_service.main import prepared_settings
from restbench_service.process import die_with_parent, remove_metrics_folder

_settings = prepared_settings()

_MODULE = f"restbench_service.frameworks.{_settings.framework.removesuffix('-gunicorn')}"
wsgi_app = f"{_MODULE}:application()"
_address = f"[{_settings.host}]" if ":" in _settings.host else _settings.host
bind = _settings.host if _settings.socket_path else f"{_address}:{_settings.port}"

# By default one, so that `serial` is one process.
workers = _settings.workers
if FRAMEWORKS[_settings.framework].is_asynchronous:
    worker_class = "asgi"
    # The parser in C takes some long bodies for cut-off ones. The worker then closes the connection
    # after its answer without notice, and the next request on the connection gets no answer.
    http_parser = "python"
    asgi_loop = "uvloop"
    asgi_lifespan = "on"
else:
    # A thread for each request in flight, and some to refuse further requests and to answer
    # /health meanwhile; started when needed.
    worker_class = "gthread"
    threads = _settings.threads
# No client header sets the path or the scheme, as a proxy's header would: by default gunicorn
# trusts clients over loopback or a Unix socket, and fails if their headers contradict each other.
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
worker_connections = _settings.connections
keepalive = _settings.keep_alive_seconds
backlog = 1024
limit_request_line = 8190  # the highest value that gunicorn allows

timeout = _settings.stuck_timeout_seconds
graceful_timeout = _settings.stop_timeout_seconds
control_socket_disable = True
accesslog = None
loglevel = "error"  # warnings contain what clients sent


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether to log a record. A client that falls silent, does not read its answer or resets its
    connection is no fault of the service, and would be a traceback."""
    error = record.exc_info and record.exc_info[1]
    is_reset = str(error) == "negative file descriptor"  # of a connection that uvloop has closed
    return not (is_reset or isinstance(error, BlockingIOError | TimeoutError))


logging.getLogger("gunicorn.error").addFilter(_is_ours)


def when_ready(server: Any) -> None:
    """Import what workers need before the first fork, so that a replacement worker starts fast.

    The application itself is not created: its threads would not survive a fork. Ctrl-C is handled
    like TERM, as gunicorn would otherwise cut requests off.
    """
    import_module(_MODULE)
    signal.signal(signal.SIGINT, lambda _, frame: server.signal(signal.SIGTERM, frame))


def post_fork(server: Any, _worker: Any) -> None:
    """The kernel ends the worker with the master, in whatever way that ends."""
    die_with_parent(server.pid)


def post_worker_init(worker: Any) -> None:
    """Let the first workers serve only when their pools are ready.

    A replacement worker serves at once, and only requests for a pool wait for that pool; an ASGI
    worker always waits in its lifespan. Ctrl-C is ignored: it reaches the whole process group and
    must not cut requests off.
    """
    if worker_class == "asgi":
        worker.loop.add_signal_handler(signal.SIGINT, lambda: None)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if worker.age <= _settings.workers:
        _serving(worker).await_ready()


def worker_exit(_server: Any, worker: Any) -> None:
    """End the pools' processes when a worker ends in order; an ASGI lifespan has done so."""
    if worker_class != "asgi" and getattr(worker.app, "callable", None) is not None:
        _serving(worker).close()


def on_exit(_server: Any) -> None:
    """Called in the master after its workers have ended."""
    remove_metrics_folder()


def _serving(worker: Any) -> Any:
    return worker.wsgi.extensions[import_module(_MODULE).SERVING]
