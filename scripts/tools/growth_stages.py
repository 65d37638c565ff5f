"""How the stages of a request grow, as the services tell them: one request after the other."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.drive.payload import Payload, make_payload
from restbench.experiment.cell import Shape
from tools import limit_servers
from tools.growth_fit import Series
from tools.growth_plan import Sweep
from tools.limit_servers import Server

SEED, ELEMENT_MIN, ELEMENT_MAX = 2019, 0, 50
#: A round's value is the median of so many requests: one that met something else does not decide.
REQUESTS = 3
#: Before the first request at a size that counts: a JVM compiles what it runs often.
WARMUP_REQUESTS, WARMUP_OPERATIONS = 50, 50_000_000


def measure(server: Server, sweep: Sweep, rounds: int) -> list[Series]:
    """A series a stage, in milliseconds. Rounds go through all sizes: what drifts does so for all
    alike. WrongAnswers, CellsFailed."""
    payloads = [payload(shape) for shape in sweep.shapes]
    for each in payloads:
        warm_up(server, each)
    known = [
        [limit_servers.stages_ms(server, each, REQUESTS) for each in payloads]
        for _ in range(rounds)
    ]
    return [
        Series(
            server=server.name,
            what=f"{stage}, {sweep.name}",
            over=sweep.over,
            expected=expected,
            sizes=sweep.sizes,
            rounds=tuple(tuple(each[stage] for each in values) for values in known),
        )
        for stage, expected in sweep.expected.items()
    ]


def dispatch_ms(server: Server, shape: Shape, rounds: int) -> list[float]:
    """The time that a request waits and computes, in each round. WrongAnswers, CellsFailed."""
    asked = payload(shape)
    warm_up(server, asked)
    looks = [limit_servers.stages_ms(server, asked, REQUESTS) for _ in range(rounds)]
    return [each["queue"] + each["compute"] for each in looks]


def payload(shape: Shape) -> Payload:
    """A request of that size."""
    return make_payload(shape, SEED, ELEMENT_MIN, ELEMENT_MAX)


def warm_up(server: Server, asked: Payload) -> None:
    """See that it answers right, and ask a small size often; a large one is compiled within."""
    limit_servers.require_right(server, asked)
    enough = WARMUP_OPERATIONS // asked.work
    limit_servers.stages_ms(server, asked, max(1, min(WARMUP_REQUESTS, enough)))


def over_processes(name: str, counts: Sequence[int], by_count: Sequence[Sequence[float]]) -> Series:
    """What dispatch takes with so many processes in a pool; `by_count` has the rounds of each."""
    return Series(
        server=name,
        what="queue and compute, dispatch",
        over="processes",
        expected=1.0,
        sizes=tuple(counts),
        rounds=tuple(zip(*by_count, strict=True)),
    )
