"""gunicorn's settings: python -m gunicorn -c gunicorn.conf.py, in this folder."""

import os
import sys
from typing import Any

from restbench_service.settings import BLAS_THREAD_VARIABLES, InvalidSettingError, Settings

try:
    _settings = Settings.from_environment(os.environ)
except InvalidSettingError as error:
    print(error, file=sys.stderr)
    sys.exit(2)

# Before numpy is imported anywhere: it reads them once, and the pools' processes inherit them.
os.environ.update(dict.fromkeys(BLAS_THREAD_VARIABLES, str(_settings.blas_threads)))

wsgi_app = "restbench_service.main:application()"
_address = f"[{_settings.host}]" if ":" in _settings.host else _settings.host
bind = f"{_address}:{_settings.port}"

# One worker, so that `serial` is one process. A thread for each request in flight, and some to
# refuse the request that is one too many and to answer /health meanwhile; made when needed.
worker_class = "gthread"
workers = 1
threads = _settings.max_in_flight + 16
worker_connections = threads + 1000
backlog = 1024
preload_app = False
max_requests = 0

# A user keeps his connection for a whole run (gunicorn's default of 2 s breaks keep-alive).
keepalive = 300
# The worker shows it lives even while threads compute; only a machine at a standstill is this slow.
timeout = 120
graceful_timeout = 30
control_socket_disable = True
accesslog = None


def worker_exit(_server: Any, worker: Any) -> None:
    """End the pools' processes when the worker ends in order."""
    app = getattr(worker.app, "callable", None)
    if app is not None:
        from restbench_service.main import close  # noqa: PLC0415 - numpy, after the lines above

        close(app)
