"""`python -m restbench_client`: runs batches of calls. Each line of standard input is a command in
JSON; its result is one line of JSON on standard output."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn, TypeAlias
from urllib.parse import urlsplit

from restbench_client import __version__
from restbench_client.codec import MatrixJson, NpbJson
from restbench_client.exchange import AiohttpExchange, ThreadExchange
from restbench_client.model import (
    Cancelled,
    Done,
    Failed,
    Job,
    Limits,
    Outcome,
    Retries,
    Stage,
    within,
)
from restbench_client.strategies import MOST_THREADS, STRATEGIES

#: Codec and exchange by transport, workload, host and port, and whether the strategy is `async`.
Kept: TypeAlias = dict[tuple[str, str, str, bool], tuple[Any, ThreadExchange | AiohttpExchange]]
TRANSPORTS = ("rest", "zeep")
WORKLOADS = ("matrix", "npb")
MOST_CALLS = 10_000_000


def main() -> None:
    """Run commands until the end of standard input, or SIGTERM."""
    signal.signal(signal.SIGTERM, _end)
    kept: Kept = {}
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line), kept)
        except (ValueError, KeyError, TypeError, OSError) as error:
            text = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            answer = {"error": " ".join(text.split())}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    for _, exchange in kept.values():
        exchange.close()


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Exit at once. A SystemExit would become the outcome of the call that runs on this thread, and
    the batch would continue. The lines of a log are already written."""
    os._exit(0)


def _answer(asked: dict[str, Any], kept: Kept) -> dict[str, Any]:
    if asked["do"] == "hello":
        return {
            "version": __version__,
            "strategies": [*STRATEGIES],
            "transports": [*TRANSPORTS],
            "pid": os.getpid(),
            "cores": _cores(),
        }
    if asked["do"] != "batch":
        raise ValueError(f"do: must be hello or batch, is {asked['do']}")
    return _batch(asked, kept)


def _cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _batch(asked: dict[str, Any], kept: Kept) -> dict[str, Any]:
    """Run a batch. Takes each option out of `asked`, so that what is left is no option."""
    asked = {name: value for name, value in asked.items() if value is not None and name != "do"}
    transport = _one_of(asked, "transport", TRANSPORTS, "rest")
    workload = _one_of(asked, "workload", WORKLOADS, "matrix")
    strategy = _one_of(asked, "strategy", STRATEGIES, "sequential")
    for name in ("teams", "loop_threads"):
        if name in asked:
            raise ValueError(f"{name}: no strategy of this client has them")
    threads = within("threads", asked.pop("threads", _cores()), MOST_THREADS)
    indices = _indices(asked)
    inputs = json.loads(Path(asked.pop("inputs")).read_text(encoding="utf-8"))
    expected = asked.pop("expected", None)
    products = json.loads(Path(expected).read_text(encoding="utf-8")) if expected else None
    if not inputs or products == []:
        raise ValueError("inputs, expected: must be lists with at least one element")
    url = asked.pop("url")
    if not str(url).startswith("http://") or not urlsplit(url).hostname:
        raise ValueError(f"url: must begin with http://, is {url}")
    limits, log = _limits(asked), asked.pop("log", None)
    if asked:
        raise ValueError(f"{min(asked)}: is no option of a batch")
    key = transport, workload, urlsplit(url).netloc, strategy == "async"
    if key not in kept:
        codec = _codec(transport, workload, url)
        of_kind = AiohttpExchange if strategy == "async" else ThreadExchange
        kept[key] = codec, of_kind(url, codec.content_type, getattr(codec, "headers", None))
    codec, exchange = kept[key][0], kept[key][1].to(url)

    def process(number: int, _given: Any, output: Any) -> tuple[bool, Any]:
        """Stage P: whether the output is wrong, and the result for the log, None for a product."""
        if isinstance(output, dict):
            return not output["verified"], output
        index = indices[number]
        is_right = products is None or output.rows == products[index % len(products)]
        return not is_right or output.request_id != f"call-{index}", None

    bodies = ({**inputs[i % len(inputs)], "requestId": f"call-{i}"} for i in indices)
    with ExitStack() as opened:
        # line-buffered: after a kill the log has every ended call, except perhaps the last
        lines: IO[str] | None = None
        if log:
            lines = opened.enter_context(Path(log).open("a", encoding="utf-8", buffering=1))
        job = Job(codec, exchange, process)
        cpu = time.process_time()
        calls = opened.enter_context(STRATEGIES[strategy](threads).start(bodies, job, limits))
        counts = _counted(calls, indices, lines)
        totals = calls.totals()
        return {
            **counts,
            "elapsed_s": totals.elapsed_s,
            "attempts": totals.attempts,
            "retries": totals.retries,
            "cpu_s": time.process_time() - cpu,
            "peak_in_flight": totals.peak_in_flight,
            "threads": totals.peak_threads,
            "stages": {
                stage: {"wall_s": totals.wall_s[stage], "cpu_s": totals.cpu_s[stage]}
                for stage in Stage
            },
            "compile_s": 0.0,
            "gc_s": 0.0,
        }


def _limits(asked: dict[str, Any]) -> Limits:
    return Limits(
        in_flight=asked.pop("in_flight", 64),
        queue=asked.pop("queue", 16),
        per_call_s=float(asked.pop("per_call_s", 30.0)),
        whole_s=asked.pop("whole_s", None),
        retries=Retries.IDEMPOTENT if asked.pop("retries", False) else Retries.NONE,
    )


def _indices(asked: dict[str, Any]) -> range | list[int]:
    calls = asked.pop("calls")
    if type(calls) is not int or not 0 <= calls <= MOST_CALLS:
        raise ValueError(f"calls: must be from 0 to {MOST_CALLS}, is {calls}")
    only = asked.pop("only", None)
    if only is None:
        return range(calls)
    if not all(type(index) is int and 0 <= index < calls for index in only):
        raise ValueError(f"only: must be from 0 to {calls - 1} each")
    return list(only)


def _one_of(asked: dict[str, Any], name: str, known: Any, default: str) -> str:
    given = asked.pop(name, default)
    if given not in known:
        raise ValueError(f"{name}: must be one of {', '.join(known)}, is {given}")
    return str(given)


def _codec(transport: str, workload: str, url: str) -> Any:
    if transport == "rest":
        return MatrixJson() if workload == "matrix" else NpbJson()
    # imported on demand: zeep takes a second to load, and REST does not need it
    from restbench_client import soap  # noqa: PLC0415

    return soap.MatrixZeep(url) if workload == "matrix" else soap.NpbZeep(url)


def _counted(
    calls: Iterator[Outcome[tuple[bool, Any]]], indices: range | list[int], lines: IO[str] | None
) -> dict[str, Any]:
    failed: Counter[str] = Counter()
    number = done = cancelled = wrong = 0
    for number, outcome in enumerate(calls, 1):  # noqa: B007 - the count is wanted
        if isinstance(outcome, Done):
            done += 1
            wrong += outcome.result[0]
        elif isinstance(outcome, Failed):
            failed[" ".join(filter(None, (outcome.kind, outcome.error_code)))] += 1
        else:
            cancelled += 1
        if lines:
            lines.write(json.dumps(_line(outcome, indices[outcome.index])) + "\n")
    return {
        "outcomes": number,
        "done": done,
        "failed": dict(failed),
        "cancelled": cancelled,
        "wrong": wrong,
    }


def _line(outcome: Outcome[tuple[bool, Any]], index: int) -> dict[str, Any]:
    times = outcome.times
    line: dict[str, Any] = {"index": index, "attempts": outcome.attempts, "status": times.status}
    match outcome:
        case Failed():
            line |= {"outcome": "failed", "stage": outcome.stage, "kind": outcome.kind}
            line |= {"error_code": outcome.error_code}
        case Cancelled():
            line |= {"outcome": "cancelled"}
        case Done():
            line |= {"outcome": "done", "wrong": outcome.result[0], "result": outcome.result[1]}
    for name in ("begun", "sent", "answered", "ended"):
        moment = getattr(times, name)
        line[f"{name}_ms"] = None if moment is None else 1000 * moment
    for stage in Stage:
        line[f"{stage.lower()}_ms"] = 1000 * getattr(times, stage.lower())
    return line | {"server_timing": times.server_timing}


if __name__ == "__main__":
    main()
