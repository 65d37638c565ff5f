"""One measurement of one cell as numbers, and what it is judged by beside its own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from restbench.analyse.timeline import Timeline
from restbench.analyse.within_run import WithinRun
from restbench.experiment.records import Window
from restbench.observe.service_metrics import ServiceMetrics
from restbench.observe.sysstat import MachineUse


@dataclass(frozen=True)
class KindMeasurement:
    """One kind of request of a mix, in the same window: correct responses alone."""

    samples: int
    throughput_per_s: float
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True)
class Measurement:
    """One measurement of one cell as numbers, named as the table's columns are (`columns`).

    `None`: unknown, or more than the number of completions supports. Its numbers are there even if
    a wrong answer voids them; Row does not show them.
    """

    block: int
    flags: tuple[str, ...]
    reason: str | None = None
    window: Window | None = None
    trials: int | None = None
    """Of how many trials it is made; None where it is one window."""
    seconds: float | None = None
    """How long they were measured, all together."""
    throughput_per_s: float | None = None
    mean_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    samples: int | None = None
    errors: int | None = None
    wrong_answers: int | None = None
    cpu_ms_per_request: float | None = None
    service_cpu_pct: float | None = None
    load_cpu_pct: float | None = None
    machine_cpu_pct: float | None = None
    memory_mib: float | None = None
    queue_ms: float | None = None
    parse_ms: float | None = None
    compute_ms: float | None = None
    serialize_ms: float | None = None
    network_ms: float | None = None
    littles_mean_ms: float | None = None
    batch_half_width_pct: float | None = None
    """Of `within_run`: how this run went, no interval over runs."""
    within_run: WithinRun | None = None
    timeline: Timeline | None = None
    """From the same scan of the samples."""
    generator_share: float | None = None
    """The load generator's CPU time over its own and the service's (0 to 1)."""
    users_in_flight: float | None = None
    """X R of all completions: how many users were waiting for an answer, on average."""
    steal_pct: float | None = None
    """What the hypervisor took away, percent of the machine."""
    foreign_pct: float | None = None
    """What went to neither service nor load generator, percent of the machine."""
    compile_share: float | None = None
    """The compilers' CPU time over the service's (0 to 1)."""
    gc_share: float | None = None
    """The share of the service's time that went to garbage collection (0 to 1)."""
    off_cores_share: float | None = None
    """The share of the service's time on cores that it was not given (0 to 1)."""
    within_block_se: float | None = None
    """Standard error of the throughput over the rounds of this block, over its mean."""
    service_requests: float | None = None
    """Requests that the service counted where the load generator counted samples and errors."""
    kinds: Mapping[str, KindMeasurement] = field(default_factory=dict)
    """Of a mix: each kind of its requests, by name."""
    machine: MachineUse | None = None
    service_metrics: ServiceMetrics | None = None


@dataclass(frozen=True)
class Known:
    """What is known of a run beside a cell's own raw files; it is judged by."""

    planned_window_s: tuple[float, float] | None = None
    """The shortest and the longest that the window may have been."""


NOTHING = Known()
