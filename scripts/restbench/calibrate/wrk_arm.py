"""wrk: what does JMeter's presence change? One trial group under both generators, interleaved.

Where cores are shared, X = cores / (c_service + c_generator): a generator that costs more pulls the
ratio of two strategies towards 1. CPU times say by how much; any other difference has another
cause.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from restbench.calibrate.bench import PAYLOAD, USERS, Bench, load_of, url_of
from restbench.deploy.service import Service
from restbench.drive.generator import Generator
from restbench.drive.wrk import Client, Load
from restbench.experiment.records import CalibrationCheck
from restbench.experiment.statistics import geometric_interval
from restbench.machine.placement import core_list

#: wrk counts its time in whole seconds.
TIMES_S = (0.2, 1.0)
ROUNDS = 25
STRATEGIES = ("serial", "pinned")
GENERATORS = ("JMeter", "wrk")
#: How far a ratio of ratios may be from what CPU times explain: the margin of claims (rule 7).
MARGIN = 1.05


#: What one strategy did under one generator, by generator and strategy.
Round = dict[tuple[str, str], Load]


def measure(bench: Bench, load: Generator, service: Service, rounds: int = ROUNDS) -> list[Round]:
    """Both strategies under both generators, in random order, round after round."""
    every = [(generator, strategy) for generator in GENERATORS for strategy in STRATEGIES]
    body = bench.folder / "body.json"
    body.write_bytes(PAYLOAD.body("wrk"))
    client = Client(body, USERS, core_list(bench.cores.load))
    found = []
    what = f"{' and '.join(STRATEGIES)} under JMeter and wrk"
    for turn in bench.turns(what, every, rounds, every=5):
        loads: Round = {}
        for generator, strategy in turn:
            loads[generator, strategy] = (
                load_of(bench.trial(load, strategy, USERS, TIMES_S, service.pids()))
                if generator == "JMeter"
                else client.load(strategy, url_of(service, strategy), TIMES_S[1], service.pids)
            )
        found.append(loads)
    return found


def explained(rounds: Sequence[Round], *, shared: bool) -> float:
    """The ratio of ratios that CPU times predict; 1 where a generator has cores of its own."""
    if not shared:
        return 1.0
    cost_ms = {
        key: fmean(each[key].service_ms + each[key].generator_ms for each in rounds)
        for key in rounds[0]
    }
    one, two = STRATEGIES
    jmeter, other = (cost_ms[each, two] / cost_ms[each, one] for each in GENERATORS)
    return jmeter / other


def judge(rounds: Sequence[Round], *, shared: bool) -> CalibrationCheck:
    """The check's record: it passes unless the interval shows that the ratios differ by more than
    what the generators' CPU times explain, and MARGIN."""
    one, two = STRATEGIES
    ratios = {
        generator: [each[generator, one].per_s / each[generator, two].per_s for each in rounds]
        for generator in GENERATORS
    }
    jmeter, other = (geometric_interval(ratios[generator]).estimate for generator in GENERATORS)
    in_pairs = zip(ratios["JMeter"], ratios["wrk"], strict=True)
    changed = geometric_interval([a / b for a, b in in_pairs])
    by_cpu = explained(rounds, shared=shared)
    beyond = max(changed.low / by_cpu, by_cpu / changed.high)
    return CalibrationCheck(
        name="wrk",
        question="How does JMeter change a ratio of throughputs at low?",
        measured=(
            f"{one}/{two} is {jmeter:.2f} under JMeter, {other:.2f} under wrk: the ratio of ratios "
            f"is {changed.estimate:.3f} [{changed.low:.3f}, {changed.high:.3f}], CPU times explain "
            f"{by_cpu:.3f}"
        ),
        limit=f"the interval is at most {MARGIN - 1:.0%} away from what CPU times explain",
        passed=beyond <= MARGIN,
        values={
            "jmeter_ratio": jmeter,
            "wrk_ratio": other,
            "ratio_of_ratios": changed.estimate,
            "low": changed.low,
            "high": changed.high,
            "explained": by_cpu,
            "log_half_width": math.log(changed.high / changed.low) / 2,
        },
        follows="ratios of throughput at low depend on the load generator by more than its CPU "
        "time: compare CPU time per request there",
    )
