"""gunicorn's settings: `python -m restbench_service`, or `python -m gunicorn` in this folder."""

import signal
from importlib import import_module
from typing import Any

from restbench_service.frameworks import FRAMEWORKS
from restbench_service.main import prepared_settings
from restbench_service.metrics_folder import remove_folder
from restbench_service.process import die_with_parent

_settings = prepared_settings()

_MODULE = f"restbench_service.frameworks.{_settings.framework.removesuffix('-gunicorn')}"
wsgi_app = f"{_MODULE}:application()"
_address = f"[{_settings.host}]" if ":" in _settings.host else _settings.host
bind = _settings.host if _settings.socket_path else f"{_address}:{_settings.port}"

# By default one, so that `serial` is one process.
workers = _settings.workers
if FRAMEWORKS[_settings.framework].is_asynchronous:
    worker_class = "asgi"
    # The one in C takes some long bodies for cut-off ones. The worker then closes the connection
    # after its answer without a word, and the next request on it has none.
    http_parser = "python"
    asgi_loop = "uvloop"
    asgi_lifespan = "on"
else:
    # A thread for each request in flight, and some to refuse the request that is one too many and
    # to answer /health meanwhile; made when needed.
    worker_class = "gthread"
    threads = _settings.threads
# No header of a client is a proxy's word on the path or the scheme: by default gunicorn believes
# who comes over loopback or a Unix socket, and fails where they contradict themselves.
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
worker_connections = _settings.connections
keepalive = _settings.keep_alive_seconds
backlog = 1024
limit_request_line = 8190  # the most it lets one set

timeout = _settings.stuck_timeout_seconds
graceful_timeout = _settings.stop_timeout_seconds
control_socket_disable = True
accesslog = None
loglevel = "error"  # its warnings have what clients sent in them


def when_ready(server: Any) -> None:
    """What a worker needs is loaded before the first one is forked, so that the next starts soon.

    Modules only: the app has threads, which would not survive a fork. And Ctrl-C means to gunicorn
    what TERM does, where it would cut requests off.
    """
    import_module(_MODULE)
    signal.signal(signal.SIGINT, lambda _, frame: server.signal(signal.SIGTERM, frame))


def post_fork(server: Any, _worker: Any) -> None:
    """The kernel ends the worker with the master, in whatever way that ends."""
    die_with_parent(server.pid)


def post_worker_init(worker: Any) -> None:
    """The first workers serve when their pools are ready.

    One that replaces another serves at once, and only requests for a pool wait for it; one with a
    lifespan has that wait. Ctrl-C reaches the whole process group: it must not cut requests off.
    """
    if worker_class == "asgi":
        worker.loop.add_signal_handler(signal.SIGINT, lambda: None)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if worker.age <= _settings.workers:
        _serving(worker).await_ready()


def worker_exit(_server: Any, worker: Any) -> None:
    """End the pools' processes when the worker ends in order; a lifespan has done so."""
    if worker_class != "asgi" and getattr(worker.app, "callable", None) is not None:
        _serving(worker).close()


def on_exit(_server: Any) -> None:
    """Of the master, after its workers."""
    remove_folder()


def _serving(worker: Any) -> Any:
    return worker.wsgi.extensions[import_module(_MODULE).SERVING]
