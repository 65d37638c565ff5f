"""Batches of calls: input files, cost of a single call, least time, and checks of the result."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from restbench.analyse.calls import WINDOW, OneCall, least_s, teams_of
from restbench.deploy.service import Service
from restbench.drive import call_client, monitor, payload
from restbench.drive.call_client import Batch, BatchResult, CallClient, CallLine
from restbench.experiment.calls import CallWork
from restbench.experiment.cell import Shape
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import process

#: Number of different request bodies of a batch, which its calls use in rotation.
BODIES = 4
#: Calls of the first warm-up batch. A later one has as many as take this part of the time limit.
FIRST_WARM_CALLS, WARM_PART = 50, 0.25
WARM_THREADS = 8
#: Calls of the sequential batch that measures the cost of a single call.
ALONE_CALLS = 30
#: A client is warm when its JIT compilers take at most this share of its CPU time.
MAX_COMPILE_SHARE = 0.02
#: Both are warm when a call takes at least this share of the CPU time of the batch before.
STEADY = 0.95
#: Delay of the calls that open connections before a batch: all of them are in flight at once.
CONNECT_DELAY_MS = 10
#: Time limit of a call, in addition to the delay that it asks for.
PER_CALL_S = 30.0
#: Possible error of a clock with a resolution of 1 ms.
CLOCK_TOLERANCE_MS = 1.0
COUNTED_WITHIN_S = 1.0
#: Names of the threads of each strategy, without numbers. `virtual-threads` has a thread for each
#: call: their number is not checked.
OWN_THREADS = {
    "task-pool": ("call-pool",),
    "pipeline": ("call-S", "call-C", "call-D", "call-P"),
    "pipeline-async": ("call-S", "call-D", "call-P"),
    "async": ("call-cpu",),
    "adaptive": ("call-cpu",),
}
#: The most calls in flight on average, in windows: the clocks are read outside of a window.
IN_FLIGHT_TOLERANCE = 1.02


@dataclass(frozen=True)
class SingleCall:
    """The cost of a single call on a warm client: stage times, and CPU seconds of both sides."""

    one: OneCall
    client_s: float
    service_s: float
    is_python: bool
    wrong: int = 0
    """The number of wrong answers while it was measured."""

    def at_most(self, client_s: float, service_s: float) -> SingleCall:
        """A copy with the CPU times of a call of another batch, if their sum is smaller."""
        is_less = client_s + service_s < self.client_s + self.service_s
        return replace(self, client_s=client_s, service_s=service_s) if is_less else self


def measure_single_call(
    client: CallClient, service: Service, batch: Batch, strategies: Iterable[str], max_s: float
) -> SingleCall:
    """Measure the cost of a single call: warm up client and service with each strategy for at most
    `max_s`, then make sequential calls. `batch` has their URL; its log is overwritten.

    The CPU times are those of the strategy that uses the least. EnvironmentProblem where the first
    call gets no answer in its time limit: all the others would wait as long.
    """
    first = client.batch(replace(batch, strategy="sequential", threads=1, calls=1, log=None))
    if "TIMEOUT" in first.failed:
        raise EnvironmentProblem(
            f"the service at {service.base_url} has not answered a call in {batch.per_call_s:g} s"
        )
    cheapest, wrong = [], first.wrong
    for strategy in strategies:
        asked = replace(batch, strategy=strategy, threads=WARM_THREADS, log=None)
        ends, before_s, calls = time.monotonic() + max_s, float("inf"), FIRST_WARM_CALLS
        while True:
            before_ms = process.cpu_ms(service.pids())
            result = client.batch(with_team_sizes(replace(asked, calls=calls)))
            wrong += result.wrong
            service_s = (process.cpu_ms(service.pids()) - before_ms) / 1000
            taken = result.cpu_s / calls, service_s / calls
            is_warm = result.compile_s <= MAX_COMPILE_SHARE * result.cpu_s
            is_steady = sum(taken) >= STEADY * before_s  # the service is warm too
            if time.monotonic() > ends or (is_warm and is_steady):
                break
            before_s = sum(taken)
            calls = max(calls, int(calls * WARM_PART * max_s / result.elapsed_s))
        cheapest.append(taken)
    in_turn = replace(batch, strategy="sequential", threads=1, calls=ALONE_CALLS)
    result, lines = made(client, in_turn)
    s, c, d, p = (
        median(getattr(each, name) or 0.0 for each in lines) / 1000
        for name in ("s_ms", "c_ms", "d_ms", "p_ms")
    )
    one, is_python = OneCall(s, c, 0.0, d, p), client.name == "python"
    return SingleCall(one, *min(cheapest, key=sum), is_python, wrong + result.wrong)


def limit_s(  # noqa: PLR0913 - what it depends on
    batch: Batch, calls: int, delay_ms: int, alone: SingleCall, cores: int, *, is_shared: bool
) -> float:
    """The least seconds in which so many calls can be made on the client's cores; `is_shared`: the
    service uses them too. A Python client runs its code on one core at a time."""
    one = replace(alone.one, delay=delay_ms / 1000)
    own = [(alone.client_s + alone.service_s * is_shared, cores)]
    own += [(alone.client_s, 1)] * (alone.is_python)
    return max(
        least_s(batch.strategy, batch.threads, calls, one, cpu_s=cpu_s, cores=count)
        for cpu_s, count in own
    )


def batch_of(  # noqa: PLR0913, PLR0917 - what it is made of
    service: Service,
    strategy: str,
    work: CallWork,
    threads: int,
    calls: int,
    payload_files: tuple[Path, Path],
) -> Batch:
    """A batch of matrix products by a strategy of the service; `payload_files` as from `files`."""
    inputs, expected = payload_files
    # Each thread of these strategies waits for its answer: all of them must fit into the window.
    held = threads if work.strategy in ("task-pool", "pipeline") else 0
    path = "matrix" if work.transport == "rest" else "soap/matrix"
    return Batch(
        f"{service.base_url}/{path}/{strategy}?delay={work.delay_ms}",
        calls,
        inputs,
        transport=work.transport,
        strategy=work.strategy,
        threads=threads,
        in_flight=min(max(WINDOW, held), calls),
        per_call_s=PER_CALL_S + work.delay_ms / 1000,
        expected=expected,
    )


def with_team_sizes(batch: Batch, one: OneCall | None = None) -> Batch:
    """The batch with the team sizes of a pipeline, by the stage times of a single call if known."""
    teams = teams_of(batch.strategy, batch.threads, one) if "pipeline" in batch.strategy else None
    if teams and batch.strategy == "pipeline-async":
        return replace(batch, teams=(teams[0], *teams[2:]))
    return replace(batch, teams=teams)


def require(service: Service, delay_ms: int, *, is_soap: bool) -> None:
    """Raises BadConfiguration where a service does not support such calls."""
    most = service.health().get("settings", {}).get("maxDelayMillis", 0)
    if delay_ms > most:
        can = f"supports a delay of 0 to {most} ms" if most else "supports no delay"
        raise BadConfiguration(f"delay {delay_ms} ms: the service at {service.base_url} {can}")
    if is_soap and service.get("/soap/matrix?wsdl").status_code != 200:
        raise BadConfiguration(
            f"transport soap: the service at {service.base_url} does not support SOAP"
        )


def files(folder: Path, shape: Shape, bodies: int = BODIES) -> tuple[Path, Path]:
    """The files of matrices of this shape as request bodies and of their products, written once."""
    name = f"{shape.rows}x{shape.columns}"
    inputs, expected = (folder / f"{name}-{each}.json" for each in ("in", "out"))
    if not expected.exists():
        payloads = [payload.make_payload(shape, seed, 0, 50) for seed in range(bodies)]
        call_client.write_inputs(inputs, [json.loads(each.body("")) for each in payloads])
        products = [json.loads(each.answer(""))["rows"] for each in payloads]
        call_client.write_inputs(expected, products)
    return inputs, expected


def made(client: CallClient, batch: Batch) -> tuple[BatchResult, Sequence[CallLine]]:
    """Make a batch; returns its result and its log. ValueError where the batch names no log."""
    if batch.log is None:
        raise ValueError("batch: has no log")
    batch.log.unlink(missing_ok=True)
    result = client.batch(batch)
    return result, call_client.read_log(batch.log) if batch.log.exists() else ()


def counted(service: Service, strategy: str, expected: float | None = None) -> float:
    """How many requests of a strategy the service has answered. It counts a request after its
    answer, so an `expected` number is waited for, at most COUNTED_WITHIN_S."""
    ends = time.monotonic() + COUNTED_WITHIN_S
    while True:
        found = sum(monitor.answered_requests(service, strategy) or [0.0])
        if expected is None or found == expected or time.monotonic() > ends:
            return found
        time.sleep(0.01)


def faults(
    batch: Batch, delay_ms: int, result: BatchResult, lines: Sequence[CallLine], served: float
) -> list[str]:
    """What is wrong with a batch, in words; `served` requests were counted by the service."""
    found = []
    failed = {**result.failed, **({"cancelled": result.cancelled} if result.cancelled else {})}
    if failed:
        found.append(f"calls failed: {json.dumps(failed)}")
    if sorted(each.index for each in lines) != list(range(batch.calls)):
        found.append(f"outcomes: {result.outcomes} of {batch.calls} calls")
    if served != result.attempts:
        found.append(f"the service counted {served:g} requests, {result.attempts} were sent")
    done_ms = [each.c_ms or 0.0 for each in lines if each.outcome == "done"]
    if early := [each for each in done_ms if each < delay_ms - CLOCK_TOLERANCE_MS]:
        found.append(f"delay-not-honoured: {min(early):.1f} ms of {delay_ms}")
    window = {"sequential": 1, "task-pool": batch.threads}.get(batch.strategy, batch.in_flight)
    if batch.teams and batch.strategy == "pipeline":
        window = batch.teams[1]
    if result.peak_in_flight > window:
        found.append(f"{result.peak_in_flight} calls in flight, at most {window} were asked for")
    if (mean := in_flight(result, lines)) > IN_FLIGHT_TOLERANCE * window:
        found.append(f"{mean:.2f} calls in flight on average, {window} were asked for")
    own = {name: n for name, n in result.threads.items() if name.startswith("call-")}
    names = OWN_THREADS.get(batch.strategy, ())
    if sum(own.values()) > batch.threads or not set(own) <= set(names):
        found.append(f"threads {own}: {batch.threads} of {', '.join(names)} were asked for")
    # Few short rows are done before each thread of a team has started: two prove that it is used.
    team, of_team = batch.loop_threads or 1, result.threads.get("loop", 0)
    if team > 1 and not 1 < of_team <= team:
        found.append(f"{of_team} threads ran a document's rows, {team} were asked for")
    return found


def in_flight(result: BatchResult, lines: Iterable[CallLine]) -> float:
    """Calls between sending and answer, on average (Little's law)."""
    return sum(each.c_ms or 0.0 for each in lines) / 1000 / result.elapsed_s
