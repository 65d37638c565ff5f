"""A request from its head to its reply, for any server, which pushes each part into the core.

    opened = core.open(head)      # an Exchange; a Reply for a page or a refused request
    reply = opened.take(piece)    # for each piece of the body; a Reply if it is refused, else None
    reply = opened.cut_off()      # if the body is incomplete; otherwise:
    delay = opened.delayed()      # the delay to wait for, or None
    answered = opened.run()       # after the delay; a Reply or a Future of one
    reply.sent()                  # once the reply is sent: releases the request's memory

The server calls exactly one of cut_off(), refused(), out_of_memory() and run(), unless take()
refused the body. No client error raises. Errors have the contract's order: 404, 405, 415, 007, 008,
002, then those of the strategy. As 007 precedes 008, a body of unknown length is admitted when
complete.
"""

import json
import os
import platform
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from threading import Thread
from typing import NamedTuple

from .. import VERSION
from ..codec.codec import requested_delay_ms
from ..coded_workloads import CodedWorkload
from ..execution.faults import AbandonedError, PoolClosedError, PoolFailedError
from ..execution.job import Job, WorkLimits
from ..execution.strategies import TECHNIQUES
from ..execution.strategy import Strategy
from ..process import allowed_cores, worker_pids
from ..settings import Settings
from ..workloads.native_library import native_library
from ..workloads.workload import InvalidRequestError
from . import reply
from .admission import Admission, Hold, MemoryBudget
from .delays import Delay, Delays
from .documentation import documents, openapi
from .metrics import Metrics, OwnMetrics, SharedMetrics
from .reply import JSON, NO_PATH, NO_WORKER, STOPPING, Reply, RequestRefused, log_fault
from .routes import Route, Routes

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SENT_AT_ONCE_BYTES = 64 * 1024
"""The kernel takes an answer up to this size at once, unless the client has stopped reading."""
MOST_READ_AT_ONCE_BYTES = 256 * 1024
"""Up to this size a failed request's body is parsed for its id on the delivering thread."""
UNKNOWN = -1
"""The declared length of a body that comes in chunks."""


class Head(NamedTuple):
    """What is known of a request before its body comes; path and query as they were sent."""

    method: str
    raw_path: str
    raw_query: str = ""
    content_type: str | None = None
    declared_bytes: int = 0
    is_wanted: Callable[[], bool] = lambda: True
    """Whether the client still waits; called from any thread."""


@dataclass(frozen=True)
class Server:
    """The framework and the HTTP server around the core, as GET /health shows them."""

    framework: str
    server: str
    """Name and version of the package that parses HTTP."""
    handoff: str | None = None
    """Where an asynchronous framework runs a request, `thread` or `loop`; None under WSGI."""


class Core:
    """The routes of every workload under every strategy, and of the service itself."""

    def __init__(
        self,
        settings: Settings,
        workloads: dict[str, CodedWorkload],
        strategies: dict[str, Strategy],
        server: Server,
    ) -> None:
        """`strategies`, which are started, and `workloads` by name."""
        self.settings = settings
        self._server, self._workloads, self._strategies = server, workloads, strategies
        self.sends_in_threads = server.handoff is None
        self.admission = Admission(settings.in_flight_a_worker)
        self.delays = Delays(settings.in_flight_a_worker)
        self.budget = MemoryBudget(settings.request_memory_bytes)
        operations = dict.fromkeys(("matrix loops", "logs"), settings.max_loop_operations)
        operations["matrix native"] = settings.max_operations
        memory_bytes, tasks = settings.request_memory_bytes, settings.max_request_tasks
        self.limits = WorkLimits(memory_bytes, operations, tasks)
        self.metrics: Metrics = SharedMetrics() if settings.workers > 1 else OwnMetrics()
        self.admission.changed = self.metrics.show(
            "restbench_requests_in_flight",
            "Requests that are admitted and not yet answered.",
            lambda: self.admission.in_flight,
        )
        self.delays.changed = self.metrics.show(
            "restbench_requests_delayed",
            "Requests in flight that wait for the delay that they have asked for.",
            lambda: self.delays.waiting,
        )
        self.budget.changed = self.metrics.show(
            "restbench_memory_held_bytes",
            "Memory that is held now, of RESTBENCH_MEMORY_BUDGET_BYTES.",
            lambda: self.budget.held_bytes,
        )
        deciding = {name: it for name, it in strategies.items() if it.decisions()}
        self.metrics.show_counts(
            "restbench_decisions",
            "Requests of a strategy that chooses, by where it has run them.",
            ("strategy", "decision"),
            lambda: {
                (name, decision): count
                for name, strategy in deciding.items()
                for decision, count in strategy.decisions().items()
            },
        )
        for coded in workloads.values():
            coded.workload.keep_within(Hold(self.budget).resize)
            for name, (text, value) in coded.workload.counts().items():
                self.metrics.show_counts(f"restbench_{name}", text, (), value)
        self._routes = Routes(workloads, strategies)
        self._pages: dict[str, Callable[[], Reply]] = {
            "/health": self._health,
            "/strategies": self._list_strategies,
            "/metrics": lambda: reply.page(self.metrics.text(), METRICS_TYPE),
            "/openapi.json": openapi,
            **documents(),
        }

    @property
    def paths(self) -> Collection[str]:
        """The paths of the compute operations, except those with a variable part."""
        return self._routes.whole

    def open(self, head: Head) -> "Reply | Exchange":
        """The immediate reply to a request's head, or the exchange that receives its body."""
        routes = self._routes.at(head.raw_path)
        if not routes:
            return self._page(head)
        if head.method not in routes:
            refused, first = reply.wrong_method(*routes), next(iter(routes.values()))
            self.metrics.count(first.workload.name, first.name, refused.status)
            return refused
        return Exchange.opened(self, routes[head.method], head)

    def _page(self, head: Head) -> Reply:
        make = self._pages.get(head.raw_path)
        if make is None:
            return reply.error("009", NO_PATH, status=404)
        if head.method not in ("GET", "HEAD"):  # the contract does not define HEAD
            return reply.wrong_method("GET")
        try:
            page = make()
            if self.sends_in_threads and len(page.body) > SENT_AT_ONCE_BYTES:
                self.admission.enter()  # like a computed request: see Exchange._end
                page = page._replace(sent=self.admission.leave)
            return page
        except RequestRefused as error:
            return reply.refusal(error)
        except Exception as error:
            log_fault(None, error)
            return reply.unforeseen(error)

    def _health(self) -> Reply:
        """GET /health: version, runtime, server, settings, facts of strategies and workloads."""
        runtime = f"{platform.python_implementation()} {platform.python_version()}"
        facts = {"status": "ok", "service": "python", "version": VERSION, "runtime": runtime}
        settings = {**self.settings.shown(), **native_library()}
        learnt = {name: s.facts() for name, s in self._strategies.items() if s.facts()}
        for coded in self._workloads.values():
            learnt.update(coded.workload.facts())
        workers = self.settings.workers
        pids = worker_pids() if workers > 1 else [os.getpid()]
        on = {"workers": workers, "pids": pids, "cores": allowed_cores(), "settings": settings}
        return reply.page(json.dumps({**facts, **asdict(self._server), **on, **learnt}).encode())

    def _list_strategies(self) -> Reply:
        """GET /strategies: the strategies in the order of TECHNIQUES."""
        rows = [
            {
                "name": name,
                "key": TECHNIQUES[name].key,
                "description": TECHNIQUES[name].description,
                "permits": strategy.permits,
                "workloads": [
                    path for path, each in self._workloads.items() if each.is_offered_under(name)
                ],
            }
            for name, strategy in self._strategies.items()
        ]
        return reply.page(json.dumps({"service": "python", "strategies": rows}).encode())


class Exchange:
    """One request after its head. One thread at a time uses it; it is counted when answered."""

    def __init__(self, core: Core, route: Route, head: Head) -> None:
        self._core, self._route, self._head = core, route, head
        self._hold = Hold(core.budget)
        self._is_admitted = False
        self.is_blocking = route.workload.is_blocking
        self._pieces: list[bytes] = []
        self._delay: Delay | None = None
        self._refusal: RequestRefused | None = None

    @classmethod
    def opened(cls, core: Core, route: Route, head: Head) -> "Reply | Exchange":
        """The exchange of a request, or the reply that refuses it before its body is read."""
        exchange = cls(core, route, head)
        try:
            if head.method == "POST" and not _is_json(head.content_type):
                raise RequestRefused("009", f"Content-Type must be {JSON}", 415)
            exchange._check_size(head.declared_bytes)
            if head.declared_bytes != UNKNOWN:
                exchange._admit()
        except RequestRefused as error:
            return exchange._end(reply.refusal(error))
        return exchange

    def take(self, piece: bytes) -> Reply | None:
        """Keep a piece of the body. Returns an error reply beyond a limit (007, 008), else None."""
        size_bytes = self._hold.size_bytes + len(piece)
        try:
            self._check_size(size_bytes)
            self._hold.resize(size_bytes)
        except RequestRefused as error:
            return self._end(reply.refusal(error))
        self._pieces.append(piece)
        return None

    def cut_off(self) -> Reply:
        """End a request whose body is incomplete or was sent too slowly. Returns error 002."""
        return self._end(reply.error("002", "the body was cut off"))

    def refused(self) -> Reply:
        """End a request that no thread can run. Returns error 008; called instead of run()."""
        return self._end(reply.error("008", NO_WORKER))

    def out_of_memory(self, error: MemoryError) -> Reply:
        """End a request that has not run, as memory is short. Returns error 008."""
        ended = self._end(reply.unforeseen(error))
        log_fault(None, error)
        return ended

    def delayed(self) -> Delay | None:
        """Begin the delay that the request asks for; the framework waits for it, then calls run().
        None if no valid delay is asked for, or if the request is refused: run() returns the error.
        """
        asked = requested_delay_ms(self._head.raw_query, self._core.settings.max_delay_millis)
        if asked is not None:
            try:
                self._admit()
                self._delay = self._core.delays.begin(asked)
            except RequestRefused as error:
                self._refusal = error
        return self._delay

    def run(self) -> "Reply | Future[Reply]":
        """Start the strategy on the calling thread. Returns the reply itself if it is complete."""
        timing = f"delay;dur={self._delay.end():.3f}, " if self._delay else ""
        try:
            if self._refusal:
                raise self._refusal
            self._admit()
            body, self._pieces = b"".join(self._pieces), []  # a single piece is not copied
            job = Job(
                self._route.workload,
                self._route.codec,
                body,
                self._head.raw_query,
                self._core.limits,
                reserve=lambda size_bytes: self._hold.resize(len(body) + size_bytes),
                is_wanted=self._head.is_wanted,
            )
        except RequestRefused as error:
            return self._end(reply.refusal(error))
        except MemoryError as error:
            return self.out_of_memory(error)
        try:
            working = self._route.strategy.execute(job)
        except Exception as error:  # for example, no thread or process could be started
            working = Future()
            working.set_exception(error)
        if working.done():
            return self._answered(job, working, timing)
        answered: Future[Reply] = Future()
        working.add_done_callback(lambda done: self._finish(job, done, answered, timing))
        return answered

    def answer(self) -> Reply:
        """Like run(), but the calling thread waits for the reply."""
        answered = self.run()
        return answered if isinstance(answered, Reply) else answered.result()

    def _finish(
        self, job: Job, done: "Future[bytes]", answered: "Future[Reply]", timing: str
    ) -> None:
        """Answer a finished job. The thread that delivers the result must not be held for long."""

        def finish() -> None:
            answered.set_result(self._answered(job, done, timing))

        has_failed = done.cancelled() or done.exception() is not None
        if has_failed and len(job.body) > MOST_READ_AT_ONCE_BYTES:
            with suppress(RuntimeError):  # no thread can be started: finish on this one
                return Thread(target=finish, name="failed request").start()
        return finish()

    def _answered(self, job: Job, done: "Future[bytes]", timing: str) -> Reply:
        try:
            return self._end(self._outcome(job, done, timing))
        except BaseException as error:  # for example, out of memory: answer anyway
            ended = self._end(reply.unforeseen(error, self._may_have_changed_data))
            log_fault(None, error)
            return ended

    @property
    def _may_have_changed_data(self) -> bool:
        """Whether others may see what a request has done that was given to its strategy."""
        return self.is_blocking and self._head.method != "GET"

    def _outcome(self, job: Job, done: "Future[bytes]", timing: str) -> Reply:
        """The reply to a finished job; each error of a client or a stage becomes an error reply."""
        try:
            body = done.result()
            # A change in a database is reported even if no memory is free for the answer.
            with suppress(RequestRefused) if self._may_have_changed_data else nullcontext():
                self._hold.resize(len(job.body) + len(body))
        except InvalidRequestError as error:
            return reply.error(error.code, error.message, error.request_id)
        except RequestRefused as error:
            return reply.refusal(error)
        except AbandonedError:
            return reply.error("008", "the client went away before its turn came")
        except PoolFailedError as error:
            return reply.error("008", STOPPING if isinstance(error, PoolClosedError) else NO_WORKER)
        except Exception as error:
            request_id = job.codec.identify(job.body)
            log_fault(request_id, error)
            return reply.unforeseen(error, self._may_have_changed_data, request_id)
        return reply.answer(body, timing + job.clock.server_timing(), self._sent)

    def _check_size(self, size_bytes: int) -> None:
        limit_bytes = self._core.settings.max_body_bytes
        if size_bytes > limit_bytes:
            raise RequestRefused("007", f"the body is larger than the limit of {limit_bytes} bytes")

    def _admit(self) -> None:
        if not self._is_admitted:
            self._core.admission.enter()
            self._is_admitted = True

    def _end(self, ended: Reply) -> Reply:
        """Count the reply and release the request's place: its client may send the next request.

        An answer's memory is held until the answer is sent. So is the place if a thread sends a
        long answer: otherwise clients that do not read could occupy all threads.
        """
        self._pieces = []
        if self._delay:
            self._delay.end()
        if ended.status != 200:
            self._hold.resize(0)
        is_sent_at_once = len(ended.body) <= SENT_AT_ONCE_BYTES or not self._core.sends_in_threads
        if ended.status != 200 or is_sent_at_once:
            self._leave()
        route = self._route
        self._core.metrics.count(route.workload.name, route.name, ended.status)
        return ended

    def _sent(self) -> None:
        self._hold.resize(0)
        self._leave()

    def _leave(self) -> None:
        if self._is_admitted:
            self._is_admitted = False
            self._core.admission.leave()


def _is_json(content_type: str | None) -> bool:
    """The usual header is recognised without parsing."""
    return content_type == JSON or (
        content_type is not None and content_type.partition(";")[0].strip(" \t").lower() == JSON
    )
