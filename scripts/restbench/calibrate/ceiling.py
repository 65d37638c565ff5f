"""Generator ceiling: how many requests a second can JMeter send and check at all here?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from restbench.analyse.measurement import Measurement
from restbench.calibrate.probe import Probe, cell_of, window_of
from restbench.calibrate.stub import Behaviour
from restbench.experiment.cell import Client
from restbench.experiment.records import CalibrationCheck

#: JMeter's own sampler first.
CLIENTS: tuple[Client, ...] = ("http-sampler", "streaming")
NAMES: dict[Client, str] = {"http-sampler": "JMeter's sampler", "streaming": "streaming sampler"}
#: The study's numbers of users.
USERS = (10, 30, 60)
WARMUP_S = 2.0
WINDOW_S = 5.0
#: How many times the fastest real cell the generator should be able to do (method).
HEADROOM = 5


@dataclass(frozen=True)
class Load:
    """What JMeter sent to the stub, and the CPU time of both, percent of one core."""

    client: Client
    users: int
    throughput_per_s: float
    stub_cpu_pct: float
    load_cpu_pct: float


def check(
    probe: Probe,
    tell: Callable[[str], None],
    users: Sequence[int] = USERS,
    window_s: float = WINDOW_S,
) -> list[Load]:
    """Load a stub that answers at once, with either sampler and each number of users."""
    loads = []
    with probe.stub(Behaviour()) as stub:
        for client in CLIENTS:
            for number in users:
                tell(f"{number} users of a stub that answers at once, {NAMES[client]}")
                window = window_of(window_s, WARMUP_S)
                found = probe.measure(stub, cell_of(number), window, client=client).numbers
                loads.append(_load(client, number, found))
    return loads


def _load(client: Client, users: int, found: Measurement) -> Load:
    return Load(
        client,
        users,
        found.throughput_per_s or 0.0,
        found.service_cpu_pct or 0.0,
        found.load_cpu_pct or 0.0,
    )


def highest(loads: Sequence[Load], client: Client) -> Load:
    """The load with the most requests a second that a sampler has sent: its ceiling."""
    return max(
        (each for each in loads if each.client == client), key=lambda each: each.throughput_per_s
    )


def judge(loads: Sequence[Load], fastest_per_s: float) -> CalibrationCheck:
    """The check's record; `fastest_per_s` is the throughput of a fast real cell, that of A/A, which
    JMeter's own sampler has sent."""
    top, streaming = (highest(loads, client) for client in CLIENTS)
    values = {
        f"{each.client}_{each.users}_users_per_s": each.throughput_per_s for each in loads
    } | {
        "ceiling_per_s": top.throughput_per_s,
        "stub_cpu_pct": top.stub_cpu_pct,
        "load_cpu_pct": top.load_cpu_pct,
        "fastest_cell_per_s": fastest_per_s,
        "streaming_ceiling_per_s": streaming.throughput_per_s,
    }
    return CalibrationCheck(
        name="generator ceiling",
        question="Can the load generator do far more than it is asked for?",
        measured=(
            f"{top.throughput_per_s:.0f} requests/s with {top.users} users (the stub used "
            f"{top.stub_cpu_pct:.0f} % of a core, JMeter {top.load_cpu_pct:.0f} %); the cell of "
            f"A/A reached {fastest_per_s:.0f}/s. Cells above "
            f"{top.throughput_per_s / HEADROOM:.0f}/s are marked generator-bound. The streaming "
            f"sampler sends {streaming.throughput_per_s:.0f}/s: above "
            f"{streaming.throughput_per_s / HEADROOM:.0f}/s"
        ),
        limit=f"at least {HEADROOM} times that cell",
        passed=top.throughput_per_s >= HEADROOM * fastest_per_s,
        values=values,
    )
