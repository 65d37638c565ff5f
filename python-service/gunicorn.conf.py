"""gunicorn's settings: python -m gunicorn -c gunicorn.conf.py, in this folder."""

import os
import signal
import sys
from importlib import import_module
from typing import Any

from restbench_service.environment import InvalidSettingError
from restbench_service.process import allow_descriptors, die_with_parent
from restbench_service.settings import BLAS_THREAD_VARIABLES, Settings

try:
    _settings = Settings.from_environment(os.environ)
except InvalidSettingError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
if not allow_descriptors(_settings.descriptors):
    print(
        f"{_settings.descriptors} open files are needed for RESTBENCH_MAX_CONNECTIONS="
        f"{_settings.max_connections}, the limit (ulimit -Hn) is lower",
        file=sys.stderr,
    )
    sys.exit(2)

# Before numpy is imported anywhere: it reads them once, and the pools' processes inherit them.
os.environ.update(dict.fromkeys(BLAS_THREAD_VARIABLES, str(_settings.blas_threads)))

wsgi_app = "restbench_service.main:application()"
_address = f"[{_settings.host}]" if ":" in _settings.host else _settings.host
bind = f"{_address}:{_settings.port}"

# One worker, so that `serial` is one process. A thread for each request in flight, and some to
# refuse the request that is one too many and to answer /health meanwhile; made when needed.
worker_class = "restbench_service.server.worker.BoundedWorker"
workers = 1
threads = _settings.threads
backlog = 1024
preload_app = False
max_requests = 0

timeout = _settings.stuck_timeout_seconds
graceful_timeout = _settings.stop_timeout_seconds
control_socket_disable = True
accesslog = None


def when_ready(server: Any) -> None:
    """What a worker needs is loaded before the first one is forked, so that the next starts soon.

    Modules only: the app has threads, which would not survive a fork. And Ctrl-C means to gunicorn
    what TERM does, where it would cut requests off.
    """
    import_module("restbench_service.main")
    signal.signal(signal.SIGINT, lambda _, frame: server.signal(signal.SIGTERM, frame))


def post_fork(server: Any, _worker: Any) -> None:
    """The kernel ends the worker with the master, in whatever way that ends."""
    die_with_parent(server.pid)


def post_worker_init(worker: Any) -> None:
    """The app learns what only the server knows; the first worker serves when its pools are ready.

    One that replaces another serves at once, and only requests for a pool wait for it.
    """
    main = import_module("restbench_service.main")
    main.show_server(worker.wsgi, worker)
    if worker.age == 1:
        main.await_pools(worker.wsgi)


def worker_exit(_server: Any, worker: Any) -> None:
    """End the pools' processes when the worker ends in order."""
    app = getattr(worker.app, "callable", None)
    if app is not None:
        import_module("restbench_service.main").close(app)
