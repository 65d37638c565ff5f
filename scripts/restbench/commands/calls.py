"""`calls`: a batch of calls, made in one way or in several, next to the best possible."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from restbench.analyse.calls import MISMEASURED
from restbench.commands.options import console, is_address, require_known
from restbench.deploy import serve, service
from restbench.deploy.service import Service
from restbench.drive import batches, call_client
from restbench.drive.batches import SingleCall
from restbench.drive.call_client import Batch, BatchResult
from restbench.experiment.calls import OFFERED, TRANSPORTS, CallWork, Client, threads_needed
from restbench.experiment.cell import Shape
from restbench.failures import BadConfiguration, CellsFailed, WrongAnswers, counted
from restbench.machine import machine_lock, ports, watch
from restbench.machine.placement import allowed_cores

MOST_CALLS = 1_000_000
WARM_MAX_S = 2.0
SERVICE_STRATEGY = "serial"
#: Threads of a client where `--threads` is not given. Strategies in THREAD_A_CORE hold no thread
#: while a call waits: more threads than cores would have nothing to do.
USUAL_THREADS = 8
THREAD_A_CORE = ("async", "adaptive")
#: The study's size of 4000 elements: matrixOne is 200 x 20.
PAYLOAD = Shape(rows=200, inner=20, columns=20)
#: How both clients begin the line of a call in a log.
LINE_BEGINS = b'{"index"'
_DELAY = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(ms|s)")


def make_calls(  # noqa: PLR0913, PLR0917 - an option each
    strategy: Annotated[
        str, typer.Option(metavar="NAMES", help="Strategies of the client, separated by commas.")
    ] = "async",
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="T",
            help="Threads of the client. Default: 8; for async and adaptive one per core.",
        ),
    ] = None,
    calls: Annotated[int, typer.Option(metavar="N", help="Calls per batch.")] = 100,
    delay: Annotated[
        str, typer.Option(metavar="TIME", help="Delay of each answer, such as 100ms or 1s.")
    ] = "100ms",
    transport: Annotated[str, typer.Option(metavar="NAME", help="rest or soap.")] = "rest",
    client: Annotated[str, typer.Option(metavar="NAME", help="java or python.")] = "java",
    compare: Annotated[
        str, typer.Option(metavar="NAMES", help="Further strategies, after those of --strategy.")
    ] = "",
    attach: Annotated[
        str, typer.Option(metavar="URL", help="Use a service that is already running.")
    ] = "",
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append one JSON line per call to this file."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Make only the calls that are not done in this log."),
    ] = None,
) -> None:
    """Make many calls; compare with the best possible."""
    names = [each.strip() for each in f"{strategy},{compare}".split(",") if each.strip()]
    name, own = _checked(client, transport, names, threads, calls)
    delay_ms = _milliseconds(delay)
    if len(names) > 1 and (log or resume):
        raise BadConfiguration("--log, --resume: need a single strategy")
    if attach and not is_address(attach):
        raise BadConfiguration(f"--attach {attach}: give http://HOST:PORT")
    only = _pending_calls(resume, calls) if resume else None
    kept = _appendable(log) if log else resume
    if not calls or only == ():
        console.print("nothing to do")
        return
    machine_lock.take()
    with ExitStack() as started:
        folder = Path(started.enter_context(tempfile.TemporaryDirectory(dir=watch.begin())))
        target = _service(attach, folder, started)
        batches.require(target, delay_ms, is_soap=own != "rest")
        program = started.enter_context(call_client.running(name, folder / "client.log"))
        offered = program.hello().strategies
        if absent := [each for each in names if each not in offered]:
            raise BadConfiguration(
                f"--strategy: not-offered: {absent[0]}; offered here are {', '.join(offered)}"
            )
        files = batches.files(folder, PAYLOAD)
        in_turn, count = CallWork(name, own, "sequential", 0), batches.ALONE_CALLS
        plain = batches.batch_of(target, SERVICE_STRATEGY, in_turn, 1, count, files)
        plain = replace(plain, log=folder / "alone.jsonl")
        alone = batches.measure_single_call(program, target, plain, names, WARM_MAX_S)
        found = []
        for each in names:
            work = CallWork(name, own, each, delay_ms)
            of = _threads(each, threads)
            batch = batches.batch_of(target, SERVICE_STRATEGY, work, of, calls, files)
            batch = replace(batch, retries=True, only=only, log=kept.absolute() if kept else None)
            batch = batches.with_team_sizes(batch, alone.one)
            found.append((batch, program.batch(batch)))
        console.print(_table(found, delay_ms, alone, len(only or range(calls))))
    _judge([result for _, result in found], alone.wrong)


def _checked(
    client: str, transport: str, names: Sequence[str], threads: int | None, calls: int
) -> tuple[Client, str]:
    """The client, and its own name of the transport. Raises BadConfiguration for a wrong option."""
    name = require_known("--client", client, OFFERED)
    require_known("--transport", transport, ("rest", "soap"))
    known = [each for each in OFFERED[name] if each != "document"]
    for each in names or [""]:
        if each not in known:
            raise BadConfiguration(
                f"--strategy: '{each}' is not a strategy of the {client} client: {', '.join(known)}"
            )
        if lack := threads_needed(each, of := _threads(each, threads)):
            raise BadConfiguration(f"--threads {of}: {each} {lack}")
    if not 0 <= calls <= MOST_CALLS:
        raise BadConfiguration(f"--calls {calls}: must be from 0 to {MOST_CALLS}")
    return name, TRANSPORTS[name][transport == "soap"]


def _threads(strategy: str, given: int | None) -> int:
    usual = len(allowed_cores()) if strategy in THREAD_A_CORE else USUAL_THREADS
    return usual if given is None else given


def _milliseconds(text: str) -> int:
    found = _DELAY.fullmatch(text)
    # Exact: as a float 16.1 is not quite 16.1, and 1000 times that is no whole number.
    ms = Fraction(found[1]) * (1000 if found[2] == "s" else 1) if found else Fraction(1, 2)
    if ms != int(ms):
        raise BadConfiguration(f"--delay '{text}': give whole milliseconds, such as 100ms or 1.5s")
    return int(ms)


def _pending_calls(log: Path, calls: int) -> tuple[int, ...]:
    """The indexes of the calls that are not done in a log. A last line that was cut off is removed
    from the file: the next line would be appended to it."""
    try:
        done = {each.index for each in call_client.read_log(log) if each.outcome == "done"}
        whole, end, cut = log.read_bytes().rpartition(b"\n")
        if not LINE_BEGINS.startswith(cut[: len(LINE_BEGINS)]):
            raise ValueError
        os.truncate(log, len(whole + end))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "a line does not describe a call"
        raise BadConfiguration(f"--resume {log}: is not a log of calls: {why}") from error
    return tuple(index for index in range(calls) if index not in done)


def _appendable(log: Path) -> Path:
    try:
        log.open("ab").close()
    except OSError as error:
        raise BadConfiguration(f"--log {log}: cannot be written: {error.strerror}") from error
    return log


def _service(attach: str, folder: Path, started: ExitStack) -> Service:
    """The Java service: the attached one, that of `make serve`, or one that is started here."""
    if attach or "java" in serve.running():
        return service.attach("java", attach or f"http://127.0.0.1:{ports.port('java')}")
    own = service.start("java", "none", None, folder / "service", port=ports.free())
    return started.enter_context(own)


def _table(
    found: Sequence[tuple[Batch, BatchResult]], delay_ms: int, alone: SingleCall, calls: int
) -> Table:
    one = replace(alone.one, delay=delay_ms / 1000)
    title = f"{counted(calls, 'call')}, {delay_ms} ms, {found[0][0].transport}"
    single = f"a single call takes {one.whole:.4g} s"
    table = Table(title=f"{title}; {single}", title_justify="left", title_style="bold")
    for heading in ("Strategy", "T", "Elapsed s", "Speed-up", "Best s", "Nearness", "Failed"):
        table.add_column(heading, justify="right" if heading != "Strategy" else "left")
    cores = len(allowed_cores())
    for batch, each in found:
        least = batches.limit_s(batch, calls, delay_ms, alone, cores, is_shared=True)
        threads, near = sum(each.threads.values()) or 1, least / each.elapsed_s
        failed = ", ".join(f"{kind} {n}" for kind, n in each.failed.items()) or "none"
        speed_up = f"{calls * one.whole / each.elapsed_s:.4g}"
        nearness = f"{near:.3f}" + (" (limit-mismeasured)" if near > MISMEASURED else "")
        if each.done < calls:  # a failed call may take any time: no limit holds for it
            speed_up = nearness = "-"
        table.add_row(
            batch.strategy,
            str(threads),
            f"{each.elapsed_s:.4g}",
            speed_up,
            f"{least:.4g}",
            nearness,
            failed + (f"; WRONG {each.wrong}" if each.wrong else ""),
        )
    return table


def _judge(results: Sequence[BatchResult], wrong_before: int = 0) -> None:
    if wrong := sum(each.wrong for each in results):
        raise WrongAnswers(f"{counted(wrong, 'product', 'was', 'were')} wrong")
    if wrong_before:
        products = counted(wrong_before, "product", "was", "were")
        raise WrongAnswers(f"{products} wrong in the warm-up")
    if failed := sum(each.outcomes - each.done for each in results):
        raise CellsFailed(f"{counted(failed, 'call')} failed")
