"""pyperf's program: python -m microbench --bodies FOLDER -o FILE [--processes N] [...].

Each part is measured in processes of its own, `--processes` of them one after the other; pyperf's
file has the values of each. RESTBENCH_BLAS_THREADS and the like are as in the service's defaults.
"""

from collections.abc import Callable
from time import perf_counter

import pyperf

from restbench_service.process import (
    BLAS_THREAD_VARIABLES,
    MALLOC_VARIABLES,
    ensure_environment,
)
from restbench_service.settings import Settings

INHERITED = ("PYTHONPATH", *BLAS_THREAD_VARIABLES, *MALLOC_VARIABLES)


def main() -> None:
    """As a user calls it, and again in each worker that pyperf starts."""
    ensure_environment(Settings().blas_threads)  # as in the service, before numpy is imported
    from restbench_service.execution.strategies import TECHNIQUES  # noqa: PLC0415

    from .parts import parts  # noqa: PLC0415
    from .selection import Selection  # noqa: PLC0415

    runner = pyperf.Runner(
        program_args=("-m", __package__),
        loops=1,  # of ours: a value is already the mean of many calls
        add_cmdline_args=lambda command, options: command.extend(Selection.of(options).arguments()),
    )
    Selection.add_options(runner.argparser, list(TECHNIQUES))
    options = runner.parse_args()
    options.inherit_environ = [*(options.inherit_environ or []), *INHERITED]
    selection = Selection.of(options)
    for name, prepare in parts(selection):
        runner.bench_time_func(name, _timer(prepare, selection.value_seconds))


def _timer(
    prepare: Callable[[], Callable[[], object]], value_seconds: float
) -> Callable[[int], float]:
    """pyperf's way to ask for a time; the call is prepared once, in the process that is asked."""
    prepared: list[Callable[[], object]] = []

    def seconds_of(loops: int) -> float:
        if not prepared:
            prepared.append(prepare())
        return loops * seconds_a_call(prepared[0], value_seconds)

    return seconds_of


def seconds_a_call(call: Callable[[], object], at_least_seconds: float) -> float:
    """The mean of as many calls as fit into that time, of one at least."""
    calls, begun = 0, perf_counter()
    while True:
        call()
        calls += 1
        elapsed = perf_counter() - begun
        if elapsed >= at_least_seconds:
            return elapsed / calls


if __name__ == "__main__":
    main()
