"""From trials and events to the measurement of a cell in each block (method, rules 1 and 4).
Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

from restbench.analyse import predecessor, warnings
from restbench.analyse.measurement import KindMeasurement, Measurement, by_name
from restbench.experiment.statistics import COMPLETIONS_FOR_A_MEAN, COMPLETIONS_NEEDED, two_sided_t
from restbench.grouping import grouped
from restbench.store.trials import Block, Event, Microseconds, Trial

#: Response times are reported where the kept part of a trial is long enough for so many responses
#: of a user, up to so long a mean; otherwise they are users over throughput (method, rules 3 and
#: 4).
RESPONSES_FOR_A_MEAN = 2.0
LONGEST_FOR_A_MEAN_S = 5.0
#: By kind of event: the flags that it gives the measurement of its cell in its block, where these
#: are not just the kind itself.
_FLAGS = {
    "wrong": ("wrong-answers", "failed"),
    "too-slow": ("not-measured",),
    "restarted": ("service-restarted",),
}
#: The kinds of event that say nothing against what was measured.
_HARMLESS_EVENTS = (
    "restarted",
    "retried",
    "ports-awaited",
    "relayed",
    "limit-mismeasured",
    "scaled",
    "misbehaved",
    "not-durable",
    "unbalanced",
)
_STAGES = ("queue", "parse", "compute", "serialize")
#: The kinds of event that explain less than any other.
_WEAK_REASONS = ("errors", "no-limit", "given-up")
#: Function from a cell's trials in a block to the values, by name, that only their driver measures.
Extras = Callable[[Sequence[Trial]], Mapping[str, float]]
#: Facts of a block that are known of each of its cells, under the names of a measurement.
CELL_FACTS = ("connections", "count_gap", "off_cores_share", "foreign_pct", "steal_pct")


def mean_extras(trials: Sequence[Trial]) -> dict[str, float]:
    """The mean over the trials of each of their extras that all of them have."""
    known = by_name(each.extras for each in trials)
    return {name: fmean(values) for name, values in known.items() if len(values) == len(trials)}


def measurements(
    trials: Iterable[Trial],
    events: Iterable[Event],
    blocks: Sequence[Block],
    cores: int,
    extras: Extras = mean_extras,
) -> dict[str, list[Measurement]]:
    """By cell id: a measurement for each block that has trials of the cell, or a reason why it has
    none. `cores` is the machine's number of cores. A block that was cut short is left out, as it
    would weigh as much as a whole one; it counts where there is no whole block, but without the
    trials' `extras`. A block's fact `extras`, measured outside of trials, is added."""
    facts = {each.block: each.facts for each in blocks}
    finished = {each.block for each in blocks if each.finished}
    cut_short = facts.keys() - finished if finished else set()
    trials = [each for each in trials if each.block not in cut_short and not each.arm]
    events = [each for each in events if each.block not in cut_short]
    found = grouped(trials, lambda each: (each.cell, each.block))
    starts = predecessor.start_gaps(
        [
            (each.block, each.round, each.cell, each.completions / each.seconds)
            for each in trials
            if each.completions and "rate_per_s" not in each.extras  # those rates follow a plan
        ]
    )
    said = grouped(
        (each for each in events if each.cell is not None and each.block is not None),
        lambda each: (each.cell or "", each.block or 0),
    )
    by_cell: dict[str, list[Measurement]] = {}
    for cell, block in sorted({*found, *said}, key=lambda key: key[1]):
        key = (cell, block)
        measured = _measurement(block, found.get(key, []), said.get(key, []), cores)
        if measured is not None:
            known = facts.get(block, {})
            cell_facts = {name: known[name].get(cell) for name in CELL_FACTS if name in known}
            cell_facts["start_gap"] = starts.get((block, cell))
            more = extras(found.get(key, [])) if block in finished else {}
            cell_facts["extras"] = {**more, **known.get("extras", {}).get(cell, {})}
            by_cell.setdefault(cell, []).append(measured.model_copy(update=cell_facts))
    return by_cell


def _measurement(
    block: int, trials: Sequence[Trial], events: Sequence[Event], cores: int
) -> Measurement | None:
    kinds = [each.kind for each in events]
    reported = (
        flag for kind in kinds for flag in _FLAGS.get(kind, (kind,)) if flag in warnings.FLAGS
    )
    flags = tuple(dict.fromkeys(reported))
    # The event that made a block void explains more than an earlier failure.
    by_weight = sorted(events, key=lambda each: each.kind in _WEAK_REASONS)
    reason = next((each.text for each in by_weight if each.kind not in _HARMLESS_EVENTS), None)
    if not trials:
        wrong = kinds.count("wrong")
        found = Measurement(block=block, flags=flags, reason=reason, wrong_answers=wrong)
        return found if flags else None
    found = of_trials(block, trials, cores, flags, reason)
    # Of loads outside of trials it is only known that an answer was wrong.
    wrong = found.wrong_answers or kinds.count("wrong")
    return found.model_copy(update={"wrong_answers": wrong})


def of_trials(
    block: int,
    trials: Sequence[Trial],
    cores: int,
    flags: tuple[str, ...] = (),
    reason: str | None = None,
) -> Measurement:
    """The measurement of one cell in one block, from all its trials together."""
    seconds = sum(each.seconds for each in trials)
    elapsed_us = np.sort(np.concatenate([each.elapsed_us for each in trials]))
    completions = int(elapsed_us.size)
    users = trials[0].users
    response_s = users * seconds / completions if completions else math.inf
    service_ms = _total(each.service_cpu_ms for each in trials)
    load_ms = _total(each.generator_cpu_ms for each in trials)
    busy_ms = _total(each.busy_ms for each in trials)
    steal_ms = _total(each.steal_ms for each in trials)
    wrong = sum(each.wrong for each in trials)
    errors = sum(each.errors for each in trials)
    noticed = [*flags, *(["wrong-answers"] if wrong else []), *(["errors"] if errors else [])]
    stages = _stages(trials)
    both_ms = _total([service_ms, load_ms])
    database_ms = sum(each.extras.get("database_busy_ms", 0.0) for each in trials)
    of_kinds = by_name(each.kinds_us for each in trials)
    kinds_us = {name: np.sort(np.concatenate(parts)) for name, parts in of_kinds.items()}
    slowest_s = max(response_s, *map(_mean_s, kinds_us.values()), 0.0)
    memory = [each.memory_mib for each in trials if each.memory_mib]
    machine_ms = 1000 * seconds * cores
    found = Measurement(
        block=block,
        flags=tuple(dict.fromkeys(noticed)),
        reason=reason,
        trials=len(trials),
        seconds=seconds,
        **_response_times(trials, elapsed_us, slowest_s, (50, 90, 95, 99)),
        completions=completions,
        errors=errors,
        wrong_answers=wrong,
        cpu_ms_per_request=_share(service_ms, completions),
        load_cpu_pct=_percent(load_ms, 1000 * seconds),
        machine_cpu_pct=_percent(busy_ms, machine_ms),
        memory_mib=max(memory, default=None),
        **{f"{name}_ms": stages.get(name) for name in _STAGES},
        kinds={
            name: KindMeasurement(
                completions=int(each.size), **_response_times(trials, each, _mean_s(each), (50, 95))
            )
            for name, each in kinds_us.items()
        },
        generator_share=_share(load_ms, both_ms),
        users_in_flight=sum(each.users_in_flight * each.seconds for each in trials) / seconds,
        steal_pct=_percent(steal_ms, machine_ms),
        foreign_pct=_percent(max(0.0, busy_ms - both_ms - database_ms), machine_ms)
        if busy_ms is not None and both_ms is not None
        else None,
        compile_share=_share(_total(each.compilers_ms for each in trials), service_ms),
        gc_share=_share(_total(each.collector_ms for each in trials), service_ms),
        within_block_se=within_block_error(trials),
    )
    return completed(found, users)


def _response_times(
    trials: Sequence[Trial], elapsed_us: Microseconds, mean_s: float, percents: Sequence[int]
) -> dict[str, float | None]:
    """Mean and percentiles of sorted response times, where trials are long enough for such a mean
    to be reported. Those of an open load always are: its users are connections, whose number says
    nothing of the response time."""
    kept_s = sum(each.seconds for each in trials) / len(trials)
    is_long = RESPONSES_FOR_A_MEAN * mean_s <= kept_s and mean_s <= LONGEST_FOR_A_MEAN_S
    told_us = elapsed_us if is_long or "rate_per_s" in trials[0].extras else elapsed_us[:0]
    enough = told_us.size >= COMPLETIONS_FOR_A_MEAN
    return {
        "mean_ms": float(told_us.mean()) / 1000 if enough else None,
        **{f"p{percent}_ms": percentile_ms(told_us, percent) for percent in percents},
    }


def completed(found: Measurement, users: int) -> Measurement:
    """The measurement with the values that are derived from its other values."""
    seconds, completions = found.seconds, found.completions
    if not seconds or completions is None:
        return found
    service_ms = (
        None if found.cpu_ms_per_request is None else found.cpu_ms_per_request * completions
    )
    known = (getattr(found, f"{name}_ms") for name in _STAGES)
    stages = [each for each in known if each is not None]
    has_network = found.mean_ms is not None and bool(stages)
    return found.model_copy(
        update={
            "throughput_per_s": completions / seconds,
            "service_cpu_pct": _percent(service_ms, 1000 * seconds),
            "littles_mean_ms": 1000 * users * seconds / completions if completions else None,
            "batch_half_width_pct": None
            if found.within_block_se is None
            else 100 * two_sided_t((found.trials or 0) - 1) * found.within_block_se,
            "network_ms": (found.mean_ms or 0.0) - sum(stages) if has_network else None,
            "kinds": {
                name: kind.model_copy(update={"throughput_per_s": kind.completions / seconds})
                for name, kind in found.kinds.items()
            },
        }
    )


def within_block_error(trials: Sequence[Trial]) -> float | None:
    """The standard error of the block's throughput over its trials, relative; None for fewer than
    three. It shows whether more rounds or more blocks would narrow the interval (rule 1)."""
    rates = [each.completions / each.seconds for each in trials]
    if len(rates) < 3 or not fmean(rates):
        return None
    return stdev(rates) / math.sqrt(len(rates)) / fmean(rates)


def percentile_ms(
    sorted_us: Microseconds,
    percent: int,
    requests: int | None = None,
    needed: Mapping[float, int] = COMPLETIONS_NEEDED,
) -> float | None:
    """The percentile by nearest rank over `requests`, by default over the completions: infinite
    where it falls on a request without a correct answer, None where there are too few (rule 4)."""
    count = int(sorted_us.size) if requests is None else requests
    if count < needed[percent]:
        return None
    rank = -(-percent * count // 100)
    return float(sorted_us[rank - 1]) / 1000 if rank <= sorted_us.size else math.inf


def again_ratios(rates: Mapping[tuple[int, str, str], float]) -> dict[str, list[float]]:
    """By cell, a value per block: the cell's throughput over that of the same cell measured again
    (the A/A arm). `rates` has requests per second by block, cell and arm."""
    found: dict[str, list[float]] = {}
    for (block, cell, arm), again_per_s in rates.items():
        if arm and again_per_s and (first_per_s := rates.get((block, cell, ""))):
            found.setdefault(cell, []).append(first_per_s / again_per_s)
    return found


def _stages(trials: Sequence[Trial]) -> Mapping[str, float]:
    """The mean of each stage over all completions, in milliseconds."""
    answered = [each for each in trials if each.completions]
    known = by_name(
        {name: (ms, each.completions) for name, ms in each.stages_ms.items()} for each in answered
    )
    return {
        name: sum(ms * count for ms, count in of) / sum(count for _, count in of)
        for name, of in known.items()
    }


def _mean_s(elapsed_us: Microseconds) -> float:
    return float(elapsed_us.mean()) / 1e6 if elapsed_us.size else 0.0


def _total(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def _percent(part: float | None, whole: float) -> float | None:
    return None if part is None else 100 * part / whole


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
