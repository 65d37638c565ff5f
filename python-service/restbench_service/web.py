"""The routes: one for each workload under each strategy, and those of the service itself."""

import json
import platform
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from flask import Flask, Request, Response
from flask.globals import request_ctx

from . import VERSION
from .admission import Admission
from .affinity import allowed_cores
from .answer import JSON, Answer
from .catalogue import Service, services
from .client import client_waits
from .documentation import add_documentation
from .errors import FaultError, RefusedError, handle_errors
from .execution.clock import StageClock
from .execution.faults import AbandonedError
from .execution.job import Job, Limits
from .execution.strategy import Strategy
from .memory_budget import Hold, MemoryBudget
from .metrics import Metrics
from .request_body import RequestBody
from .sessions import NoSessions
from .settings import Settings
from .workloads.native_library import native_library
from .workloads.workload import InvalidRequestError

METRICS = "restbench-metrics"
"""Where in the app's extensions the server finds the metrics, to add what it alone knows."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def create_app(settings: Settings, strategies: dict[str, Strategy]) -> Flask:
    """The WSGI application; `strategies` by name, running."""
    app = Flask(__name__, static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # OPTIONS is not part of the contract
    app.session_interface = NoSessions()
    service = _Service(settings, strategies)
    for workload, offered in service.workloads.items():
        for strategy in strategies:
            service.add_route(app, workload, offered, strategy)
    app.add_url_rule("/health", view_func=service.health)
    app.add_url_rule("/strategies", "strategies", service.list_strategies)
    app.add_url_rule("/metrics", "metrics", service.show_metrics)
    app.extensions[METRICS] = service.metrics
    add_documentation(app)
    handle_errors(app)
    return app


class _Service:
    def __init__(self, settings: Settings, strategies: dict[str, Strategy]) -> None:
        self._settings = settings
        self._strategies = strategies
        self.workloads = services(settings.most_product_elements, settings.cached_bytes_a_process)
        self._limits = limits_of(settings)
        self._admission = Admission(settings.max_in_flight)
        self._budget = MemoryBudget(settings.memory_budget_bytes, "RESTBENCH_MEMORY_BUDGET_BYTES")
        self._working = MemoryBudget(settings.most_working_bytes, "RESTBENCH_WORKING_MEMORY_BYTES")
        self.metrics = Metrics()
        for name, (value, text) in self._measured().items():
            self.metrics.show(name, text, value)
        for name, strategy in strategies.items():
            self.metrics.show_decisions(name, strategy.decisions)

    def _measured(self) -> dict[str, tuple[Callable[[], float], str]]:
        """What is limited: how much of it there is now."""
        return {
            "restbench_requests_in_flight": (
                lambda: self._admission.in_flight,
                "Requests admitted and not yet answered.",
            ),
            "restbench_memory_held_bytes": (
                lambda: self._budget.held_bytes,
                "Bodies and answers in memory, of RESTBENCH_MEMORY_BUDGET_BYTES.",
            ),
            "restbench_working_memory_held_bytes": (
                lambda: self._working.held_bytes,
                "What computing needs now, of RESTBENCH_WORKING_MEMORY_BYTES without the cache.",
            ),
        }

    def add_route(self, app: Flask, workload: str, offered: Service, strategy: str) -> None:
        """POST /{workload}/{strategy}; a route each, so that an unknown name is an unknown path."""

        def view() -> Response:
            response = app.make_response(self._answer(app, offered, self._strategies[strategy]))
            self.metrics.count(workload, strategy, response.status_code)
            return response

        app.add_url_rule(
            f"/{workload}/{strategy}", f"{workload}/{strategy}", view, methods=["POST"]
        )

    def health(self) -> Response:
        """Ready, and on what."""
        runtime = f"{platform.python_implementation()} {platform.python_version()}"
        facts = {"status": "ok", "service": "python", "version": VERSION, "runtime": runtime}
        settings = {**_shown(self._settings), "nativeKernel": native_library()}
        learnt = {name: s.facts() for name, s in self._strategies.items() if s.facts()}
        return _json({**facts, "cores": allowed_cores(), "settings": settings, **learnt})

    def list_strategies(self) -> Response:
        """The techniques in the table's order."""
        names = list(self.workloads)
        rows = [
            {"name": s.name, "key": s.key, "description": s.description, "workloads": names}
            for s in self._strategies.values()
        ]
        return _json({"service": "python", "strategies": rows})

    def show_metrics(self) -> Response:
        """Prometheus text."""
        return Response(self.metrics.text(), content_type=METRICS_TYPE)

    def _answer(self, app: Flask, offered: Service, strategy: Strategy) -> Any:
        """Errors become responses here rather than in Flask, so that they are counted by status."""
        try:
            return self._compute(offered, strategy)
        except (InvalidRequestError, RefusedError, FaultError) as error:
            return app.handle_user_exception(error)

    def _compute(self, offered: Service, strategy: Strategy) -> Response:
        request = request_ctx.request
        if not _is_json(request):
            raise RefusedError("009", "Content-Type must be application/json", 415)
        hold = self._budget.hold()
        try:
            response = self._held(hold, request, offered, strategy)
        except BaseException:
            hold.let_go()
            raise
        response.call_on_close(hold.let_go)
        return response

    def _held(self, hold: Hold, request: Request, offered: Service, strategy: Strategy) -> Response:
        """The response, for which and for whose body memory is held."""
        body = RequestBody(request, self._settings.max_body_bytes, hold)
        # Whether a body of unknown length is too large (007) goes before the limit in flight.
        early = body.read() if body.declared_bytes is None else None
        with self._admission:
            received = body.read() if early is None else early
            with self._working.hold() as working:
                job = Job(
                    *offered,
                    received,
                    request.query_string.decode("latin-1"),
                    self._limits,
                    reserve=working.resize,
                    is_wanted=partial(client_waits, request.environ),
                )
                answer, clock = _execute(job, strategy)
        hold.resize(len(received) + len(answer))
        return Answer(answer, clock.server_timing())


def limits_of(settings: Settings) -> Limits:
    """What the settings allow a request of any workload."""
    return Limits(settings.most_working_bytes)


def _is_json(request: Request) -> bool:
    """The usual header is not taken apart."""
    return request.environ.get("CONTENT_TYPE") == JSON or request.mimetype == JSON


def _execute(job: Job, strategy: Strategy) -> tuple[bytes, StageClock]:
    try:
        return strategy.execute(job).result(), job.clock
    except (InvalidRequestError, RefusedError):
        raise
    except AbandonedError as error:
        raise RefusedError("008", "the client went away before its turn came") from error
    except Exception as error:
        raise FaultError(job.codec.request_id(job.body)) from error


def _shown(settings: Settings) -> dict[str, Any]:
    """The settings under camel-case names, as everything in this service's JSON is named."""
    words = {name: name.split("_") for name in asdict(settings)}
    return {
        words[name][0] + "".join(word.title() for word in words[name][1:]): value
        for name, value in asdict(settings).items()
    }


def _json(value: Any) -> Response:
    return Response(json.dumps(value), content_type=JSON)
