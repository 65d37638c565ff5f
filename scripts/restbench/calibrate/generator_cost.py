"""Generator: JMeter's CPU time next to a service, what throughput it allows, its highest rate."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.calibrate.bench import Bench, load_of
from restbench.calibrate.stub import STRATEGY, Behaviour
from restbench.drive.generator import Generator
from restbench.drive.wrk import Load
from restbench.experiment.records import CalibrationCheck
from restbench.machine.placement import LARGEST_LOAD_SHARE, Cores, own_load_cores
from restbench.store.trials import Trial

#: The study's numbers of users.
CEILING_USERS = (10, 30, 60)
TIMES_S = (1.5, 3.0)
WISHED_SHARE = 0.35


def predicted_per_s(costs: Load, cores: Cores) -> float:
    """The throughput if every core worked for service and generator only."""
    if cores.shared:
        return 1000 * len(cores.service) / (costs.service_ms + costs.generator_ms)
    return 1000 * min(len(cores.service) / costs.service_ms, len(cores.load) / costs.generator_ms)


def costs_of(trials: Sequence[Trial]) -> Load:
    """Many trials as one load, as the kernel counts CPU time in steps of 10 ms."""
    completions = sum(each.completions for each in trials)
    return Load(
        completions,
        per_s=completions / sum(each.seconds for each in trials),
        service_ms=sum(each.service_cpu_ms or 0.0 for each in trials) / completions,
        generator_ms=sum(each.generator_cpu_ms or 0.0 for each in trials) / completions,
    )


def ceiling(bench: Bench, load: Generator) -> tuple[int, Load]:
    """The fastest load on a stub that answers at once, and its number of users."""
    found = {}
    with bench.stub(load, Behaviour()) as stub:
        for users in CEILING_USERS:
            bench.tell(f"{users} users of a stub that answers at once")
            found[users] = load_of(bench.trial(load, STRATEGY, users, TIMES_S, stub.pids()))
    return max(found.items(), key=lambda each: each[1].per_s)


def judge(costs: Load, fastest: tuple[int, Load], cores: Cores) -> CalibrationCheck:
    """The check's record."""
    users, top = fastest
    stub_cores, generator_cores = (
        top.per_s * ms / 1000 for ms in (top.service_ms, top.generator_ms)
    )
    share = costs.generator_ms / (costs.service_ms + costs.generator_ms)
    allowed_per_s = predicted_per_s(costs, cores)
    own = own_load_cores(len({*cores.service, *cores.load}), costs.generator_ms / costs.service_ms)
    placed = f"; {own} cores of its own from now on" if own else ""
    return CalibrationCheck(
        name="generator",
        question="What share of the CPU time does the load generator take, with serial at low?",
        measured=(
            f"{share:.0%}: {1000 * costs.generator_ms:.0f} us per request, the service "
            f"{1000 * costs.service_ms:.0f} us. Their cores allow {allowed_per_s:.0f}/s; "
            f"{costs.per_s:.0f}/s were measured ({costs.per_s / allowed_per_s:.0%}). To a stub "
            f"that answers at once it sends {top.per_s:.0f}/s ({users} users; it uses "
            f"{generator_cores:.2f} cores, the stub {stub_cores:.2f}){placed}"
        ),
        limit=f"at most {LARGEST_LOAD_SHARE:.0%}, better {WISHED_SHARE:.0%}",
        passed=share <= LARGEST_LOAD_SHARE,
        values={
            "generator_share": share,
            "generator_cpu_ms": costs.generator_ms,
            "service_cpu_ms": costs.service_ms,
            "predicted_per_s": allowed_per_s,
            "measured_per_s": costs.per_s,
            "ceiling_per_s": top.per_s,
            "stub_cores": stub_cores,
            "load_cores": own,
        },
        follows="ratios of throughput at low are compressed by the load generator: compare CPU "
        "time per request there",
    )
