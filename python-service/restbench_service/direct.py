"""Run a NAS kernel under a technique without HTTP, to compare it with the kernel in a service.

    python -m restbench_service.direct CG A --strategy serial --repetitions 2

prints the answer of a service for each repetition as a line of JSON. The first repetition runs in a
fresh process, the others in the same, warm one. Exits with 1 if a result is not verified or cannot
be written, with 2 for a wrong option or setting. RESTBENCH_PROCESSES and RESTBENCH_BLAS_THREADS
work as in the service.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator

from .environment import InvalidSettingError
from .process import ensure_environment
from .settings import Settings

UNLIMITED_BYTES = 2**62
MOST_REPETITIONS = 999_999
PRELOADED = "restbench_service.codec.npb"


def main(arguments: list[str]) -> int:
    """Run and return the exit code. The environment is the service's, for a fair comparison."""
    try:
        settings = Settings.from_environment(os.environ)
    except InvalidSettingError as error:
        print(error, file=sys.stderr)
        return 2
    ensure_environment(settings.blas_threads)
    verified = True
    for line in _answers(_options(arguments), settings):
        try:
            print(line.decode(), flush=True)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes the rest as it ends
            print("standard output takes no more", file=sys.stderr)
            return 1
        verified = verified and json.loads(line)["verified"]
    return 0 if verified else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    from .execution.strategies import TECHNIQUES  # noqa: PLC0415
    from .workloads.npb.workload import KERNELS  # noqa: PLC0415

    parser = argparse.ArgumentParser(prog="python -m restbench_service.direct")
    parser.add_argument("kernel", choices=KERNELS)
    parser.add_argument("class_name", metavar="class", help="S, W, A, B, C; W30 of MG")
    parser.add_argument("--strategy", choices=TECHNIQUES, default="serial")
    parser.add_argument("--repetitions", type=int, default=1, help="runs in this process (1)")
    parser.add_argument("--cached-input", action="store_true", help="built once, not for each run")
    options = parser.parse_args(arguments)
    if not 1 <= options.repetitions <= MOST_REPETITIONS:
        parser.error(f"--repetitions: must be an integer from 1 to {MOST_REPETITIONS}")
    classes = KERNELS[options.kernel].classes
    if options.class_name not in classes:
        parser.error(f"{options.kernel} has the classes {', '.join(classes)}")
    return options


def _answers(options: argparse.Namespace, settings: Settings) -> Iterator[bytes]:
    from .codec.npb import NpbJson  # noqa: PLC0415
    from .execution.job import Job  # noqa: PLC0415
    from .execution.strategies import TECHNIQUES, Start  # noqa: PLC0415
    from .workloads.npb.workload import NpbWorkload  # noqa: PLC0415

    workload, codec = NpbWorkload(options.kernel, UNLIMITED_BYTES), NpbJson(options.kernel)
    request = {"class": options.class_name, "generate": not options.cached_input}
    strategy = TECHNIQUES[options.strategy].start(Start(settings.processes, None, (PRELOADED,)))
    try:
        strategy.await_ready()  # a strategy's own measurements come before the timed runs
        for number in range(1, options.repetitions + 1):
            body = json.dumps({"requestId": number, **request}).encode()
            yield strategy.execute(Job(workload, codec, body)).result()
    finally:
        strategy.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
