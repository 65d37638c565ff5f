"""Generator: the CPU time that JMeter takes next to a service, the throughput that this implies,
and the highest rate that JMeter can send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restbench.calibrate.bench import Bench, load_of
from restbench.calibrate.stub import STRATEGY, Behaviour
from restbench.drive.generator import Generator
from restbench.experiment.records import CalibrationCheck
from restbench.machine.placement import LARGEST_LOAD_SHARE, Cores, own_load_cores
from restbench.store.trials import Trial

#: The study's numbers of users.
CEILING_USERS = (10, 30, 60)
TIMES_S = (1.5, 3.0)
WISHED_SHARE = 0.35


@dataclass(frozen=True)
class Costs:
    """CPU time per correct response in milliseconds, and correct responses per second."""

    service_ms: float
    generator_ms: float
    per_s: float

    @property
    def share(self) -> float:
        """The generator's share of the CPU time of both."""
        return self.generator_ms / (self.service_ms + self.generator_ms)

    def predicted_per_s(self, cores: Cores) -> float:
        """The throughput if every core worked for service and generator only."""
        if cores.shared:
            return 1000 * len(cores.service) / (self.service_ms + self.generator_ms)
        return 1000 * min(len(cores.service) / self.service_ms, len(cores.load) / self.generator_ms)


def costs_of(trials: Sequence[Trial]) -> Costs:
    """The costs over many trials together, as the kernel counts CPU time in steps of 10 ms."""
    completions = sum(each.completions for each in trials)
    return Costs(
        service_ms=sum(each.service_cpu_ms or 0.0 for each in trials) / completions,
        generator_ms=sum(each.generator_cpu_ms or 0.0 for each in trials) / completions,
        per_s=completions / sum(each.seconds for each in trials),
    )


@dataclass(frozen=True)
class Ceiling:
    """The highest rate sent to a stub that answers at once, and the cores that both sides used."""

    per_s: float
    users: int
    stub_cores: float
    generator_cores: float


def ceiling(bench: Bench, load: Generator) -> Ceiling:
    """Load a stub that answers at once, with each number of users."""
    found = []
    with bench.stub(load, Behaviour()) as stub:
        for users in CEILING_USERS:
            bench.tell(f"{users} users of a stub that answers at once")
            seen = load_of(bench.trial(load, STRATEGY, users, TIMES_S, stub.pids()))
            cores = (seen.per_s * ms / 1000 for ms in (seen.service_ms, seen.generator_ms))
            found.append(Ceiling(seen.per_s, users, *cores))
    return max(found, key=lambda each: each.per_s)


def judge(costs: Costs, top: Ceiling, cores: Cores) -> CalibrationCheck:
    """The check's record."""
    predicted_per_s = costs.predicted_per_s(cores)
    own = own_load_cores(len({*cores.service, *cores.load}), costs.generator_ms / costs.service_ms)
    placed = f"; {own} cores of its own from now on" if own else ""
    return CalibrationCheck(
        name="generator",
        question="What share of the CPU time does the load generator take, with serial at low?",
        measured=(
            f"{costs.share:.0%}: {1000 * costs.generator_ms:.0f} us per request, the service "
            f"{1000 * costs.service_ms:.0f} us. Their cores allow {predicted_per_s:.0f}/s; "
            f"{costs.per_s:.0f}/s were measured ({costs.per_s / predicted_per_s:.0%}). To a stub "
            f"that answers at once it sends {top.per_s:.0f}/s ({top.users} users; it uses "
            f"{top.generator_cores:.2f} cores, the stub {top.stub_cores:.2f}){placed}"
        ),
        limit=f"at most {LARGEST_LOAD_SHARE:.0%}, better {WISHED_SHARE:.0%}",
        passed=costs.share <= LARGEST_LOAD_SHARE,
        values={
            "generator_share": costs.share,
            "generator_cpu_ms": costs.generator_ms,
            "service_cpu_ms": costs.service_ms,
            "predicted_per_s": predicted_per_s,
            "measured_per_s": costs.per_s,
            "ceiling_per_s": top.per_s,
            "stub_cores": top.stub_cores,
            "load_cores": own,
        },
        follows="ratios of throughput at low are compressed by the load generator: compare CPU "
        "time per request there",
    )
