"""What gunicorn calls in its worker process: everything put together."""

import logging
import os
from typing import Any

from flask import Flask

from . import catalogue
from .execution.strategies import Start, start_strategies
from .memory import keep_freed_memory
from .settings import Settings
from .web import METRICS, create_app

PRELOADED = (catalogue.__name__,)
STRATEGIES = "restbench-strategies"


def application() -> Flask:
    """The app with its pools starting: after the fork, which their threads would not survive."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    keep_freed_memory()
    settings = Settings.from_environment(os.environ)
    strategies = start_strategies(_start(settings))
    app = create_app(settings, strategies)
    app.extensions[STRATEGIES] = strategies
    return app


def _start(settings: Settings) -> Start:
    return Start(settings.processes, settings.running, PRELOADED)


def await_pools(app: Flask) -> None:
    """Return when every strategy can run. Raises PoolFailedError."""
    for strategy in app.extensions[STRATEGIES].values():
        strategy.await_ready()


def show_server(app: Flask, worker: Any) -> None:
    """Add what the server alone knows to the app's metrics; `worker` is a BoundedWorker."""
    metrics = app.extensions[METRICS]
    metrics.show("restbench_connections", "Connections open.", lambda: worker.nr_conns)
    metrics.show(
        "restbench_refused_by_server",
        "Requests and connections refused before they were counted: a limit, or not HTTP.",
        lambda: worker.refused,
    )


def close(app: Flask) -> None:
    """End what application() started."""
    for strategy in app.extensions[STRATEGIES].values():
        strategy.close()
