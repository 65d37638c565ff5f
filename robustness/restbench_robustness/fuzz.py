"""The command: starts both services, runs a campaign against them, and says what it found.

    python -m restbench_robustness.fuzz --bodies 100000 --seed 1

Exit codes: 0 no difference, 1 a difference, 3 a service does not start, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from restbench import ROOT
from restbench.deploy import service
from restbench.experiment.cell import ServiceName
from restbench.failures import EnvironmentProblem, Failure
from restbench.machine import ports

from .campaign import Campaign, Tally
from .comparison import Bench, Target
from .findings import keep
from .oracle import Limits

BODY_LIMIT_BYTES = 8 * 1024 * 1024
"""Low enough that 007 is reached often, high enough for numbers of several megabytes."""
TIMEOUT_S = 60.0
"""A service that is silent for so long hangs; a busy machine needs seconds for a large product."""
PROGRESS_S = 5.0
IDLE_S = 120.0
"""After the last answer; a request whose client went away may take a moment to end, and a busy
machine a moment to say so."""
SERVICES: tuple[ServiceName, ...] = ("java", "python")
FOLDER = ROOT / ".cache" / "fuzz"
WORKLOAD = "matrix"
IN_FLIGHT = re.compile(r"^restbench_requests_in_flight (?P<count>\S+)$", re.MULTILINE)


@contextmanager
def running_services(folder: Path) -> Iterator[list[service.Service]]:
    """Both services, on JAVA_PORT and PYTHON_PORT or on free ports; logs go to `folder`."""
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, _settings()))
        started = []
        for name in SERVICES:
            started.append(service.start(name, "none", None, folder / name))
            stack.callback(started[-1].stop)
        yield started


def _settings() -> dict[str, str]:
    variables = [ports.PORT_VARIABLES[name] for name in SERVICES]
    chosen = {it: os.environ.get(it, str(ports.free())) for it in variables}
    return {"RESTBENCH_MAX_BODY_BYTES": str(BODY_LIMIT_BYTES), **chosen}


def target(of: service.Service) -> Target:
    """Where a running service is, and the strategies that it lists for the matrix."""
    host, port = of.address
    listed = of.get("/strategies").json()["strategies"]
    names = tuple(it["name"] for it in listed if WORKLOAD in it["workloads"])
    return Target(of.name, host, port, names)


def fuzz(services: list[service.Service], bodies: int, seed: int) -> Tally:
    """A campaign against running services; differences are printed as they are found."""
    bench = Bench([target(it) for it in services], Limits(BODY_LIMIT_BYTES), TIMEOUT_S)
    progress = _progress(bench.targets, bodies, FOLDER / f"seed-{seed}")
    campaign = Campaign(bench, bodies, seed)
    try:
        return campaign.run(after_batch=progress)
    except KeyboardInterrupt:
        print(f"interrupted\n{summary(campaign.tally)}", flush=True)
        raise
    finally:
        bench.close()


def left_over(services: list[service.Service]) -> list[str]:
    """What a service has not let go of a while after the last message, or that it is silent."""
    return [f"{it.name}: {left}" for it in services if (left := _left_by(it))]


def _left_by(of: service.Service) -> str:
    """Nothing where it is idle at last."""
    deadline = time.monotonic() + IDLE_S
    while left := _in_flight(of):
        if time.monotonic() >= deadline:
            return left
        time.sleep(0.1)
    return ""


def _in_flight(of: service.Service) -> str:
    try:
        told = IN_FLIGHT.search(of.get("/metrics").text)
    except EnvironmentProblem as silent:
        return f"it does not answer any more: {silent}"
    is_idle = told is not None and float(told["count"]) == 0
    return "" if is_idle else "requests are still in flight"


def _progress(targets: list[Target], bodies: int, folder: Path) -> Callable[[Tally], None]:
    """After a batch: each finding at once, and a line from time to time."""
    shown_s, kept = time.monotonic(), 0

    def show(tally: Tally) -> None:
        nonlocal shown_s, kept
        for finding in tally.findings[kept:]:
            print("\n".join(keep(finding, folder, targets)), flush=True)
        kept = len(tally.findings)
        if time.monotonic() - shown_s >= PROGRESS_S:
            shown_s = time.monotonic()
            print(f"{tally.bodies} of {bodies} bodies, {kept} differences", flush=True)

    return show


def summary(tally: Tally) -> str:
    """Bodies by code, source and route, and the digest of them all."""
    codes = ", ".join(f"{code} {count}" for code, count in sorted(tally.codes.items()))
    sources = ", ".join(f"{name} {count}" for name, count in tally.sources.most_common())
    routes = "\n".join(
        f"  {name:7} {strategy:20} {kernel:7} {count}"
        for (name, strategy, kernel), count in sorted(tally.routes.items())
    )
    return (
        f"{tally.bodies} bodies in {tally.elapsed_s:.0f} s, {len(tally.findings)} differences\n"
        f"by code: {codes}\nby source: {sources}\nby strategy:\n{routes}\n"
        f"digest of all bodies: {tally.digest.hexdigest()[:16]}"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--bodies", type=int, default=100_000, help="how many (N)")
    parser.add_argument(
        "--seed", type=int, default=1, help="the same seed gives the same bodies (SEED)"
    )
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="restbench-fuzz-") as folder:
            return _run(Path(folder), options.bodies, options.seed)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    except KeyboardInterrupt:
        return 130


def _run(folder: Path, bodies: int, seed: int) -> int:
    with running_services(folder) as services:
        tally = fuzz(services, bodies, seed)
        leaks = left_over(services)
    print("\n".join([summary(tally), *leaks]))
    return 1 if tally.findings or leaks else 0


if __name__ == "__main__":
    sys.exit(main())
