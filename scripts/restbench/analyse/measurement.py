"""One block of one cell as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
    trials: int | None = None
    """Of how many it is made."""
    seconds: float | None = None
    """How long they were measured, all together; None where there are none."""
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
    """Of the throughput over the rounds of this block: how it went, no interval over blocks."""
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
    count_gap: float | None = None
    """By how much the service's count of a strategy's requests in the block differs from the load
    generator's, over the service's."""
    start_gap: float | None = None
    """By how much the start of its trials in the block makes the throughput another than that of
    the rest, as a part of that (method, rule 3); 0 where chance would do."""
    kinds: Mapping[str, KindMeasurement] = field(default_factory=dict)
    """Of a mix: each kind of its requests, by name."""
    extras: Mapping[str, float] = field(default_factory=dict)
    """What only its driver measures, by name."""

    @property
    def predicted_per_s(self) -> float | None:
        """The throughput if service and load generator had all cores to themselves: by their CPU
        times, X = cores / (c_service + c_generator) (method, rule 4)."""
        if None in (self.throughput_per_s, self.machine_cpu_pct, self.foreign_pct):
            return None
        own_pct = (self.machine_cpu_pct or 0.0) - (self.foreign_pct or 0.0)
        return 100 * (self.throughput_per_s or 0.0) / own_pct if own_pct > 0 else None


def number(of: Measurement | KindMeasurement | None, metric: str) -> float | None:
    """A metric by its name, its own or one that only its driver measures; None without one."""
    known: float | None = getattr(of, metric, None)
    return of.extras.get(metric) if known is None and isinstance(of, Measurement) else known
