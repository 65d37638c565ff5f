"""How much a plan writes: a bound of its raw data, before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from restbench.experiment.cell import Cell, Kind, Shape
from restbench.experiment.open_experiment import OpenExperiment, OpenProfile
from restbench.experiment.order import Order
from restbench.experiment.records import PlannedCell
from restbench.machine.placement import allowed_cores

# Sizes of the files of measured cells, on two cores.
#: One line of a JTL with the longest names; a failed sample's is longer, but comes slower.
SAMPLE_BYTES = 300
#: A second of sar's file, its JSON, pidstat's and the service's metrics together.
SECOND_BYTES = 20_000
#: What a cell writes whatever its length: JMeter's log, its record, its part of the report.
CELL_BYTES = 64_000
#: A response in the trials' file, compressed, and how many there are a second at most.
RESPONSE_BYTES = 2
FASTEST_PER_S = 20_000
DASHBOARD_BYTES = 2_000_000
#: The record of an NPB measurement with a hundred answers, beside what its process printed.
KERNEL_BYTES = 256_000
#: The fastest strategies took so long a request on two cores (Java's of results/reference, Python's
#: asked by wrk with the vectorised kernel): a constant, and a part for each multiplication of two
#: elements; a vectorised kernel comes near to what two cores can multiply and add at all.
FASTEST_MS = {"java": 0.27, "python": 0.4}
FASTEST_MS_A_PRODUCT = {"loops": 2.2e-6, "native": 2e-8}
CORES_OF_FASTEST = 2
#: Another machine's cores may be faster.
FASTER = 2.0


class Sized(Protocol):
    """What an experiment of any kind says of its operands."""

    def shape(self, complexity: str) -> Shape:
        """The operand sizes of a level of one size."""

    def mix(self, complexity: str) -> tuple[Kind, ...]:
        """The kinds of request of a level; none for a level of one size."""


@dataclass(frozen=True)
class Volume:
    """Bytes on disk."""

    whole: float
    largest_file: float


def of_trials(order: Order) -> Volume:
    """What a run of closed loads writes: its trials, and the logs of its long windows."""
    profile = order.profile
    cells = dict.fromkeys(each.cell for each in order.plan)
    windows = sum(profile.has_window(cell) for cell in cells)
    log = SAMPLE_BYTES * FASTEST_PER_S * profile.window_s
    trials = RESPONSE_BYTES * FASTEST_PER_S * profile.block_s * profile.most_blocks
    return Volume(trials + windows * (log + DASHBOARD_BYTES), max(trials, log))


def of_walks(
    plan: Sequence[PlannedCell], experiment: OpenExperiment, profile: OpenProfile
) -> Volume:
    """The same of walks: most of their steps are near the highest rate there is."""
    samples = [
        SAMPLE_BYTES * profile.walk_max_s * _fastest_per_s(each.cell, experiment) for each in plan
    ]
    beside = CELL_BYTES + SECOND_BYTES * profile.walk_max_s
    return Volume(sum(samples) + len(plan) * beside, max(samples, default=0.0))


def of_kernels(plan: Sequence[PlannedCell]) -> Volume:
    """The same of kernels: their answers are short, and there are few."""
    return Volume(len(plan) * KERNEL_BYTES, KERNEL_BYTES)


def _fastest_per_s(cell: Cell, experiment: Sized) -> float:
    """Requests per second that no strategy is expected to exceed here."""
    mix = experiment.mix(cell.complexity)
    products = (
        sum(kind.share * kind.shape.products for kind in mix)
        or experiment.shape(cell.complexity).products
    )
    cores = max(1.0, len(allowed_cores()) / CORES_OF_FASTEST)
    return (
        FASTER
        * cores
        * 1000
        / (FASTEST_MS[cell.service] + FASTEST_MS_A_PRODUCT[cell.kernel] * products)
    )
