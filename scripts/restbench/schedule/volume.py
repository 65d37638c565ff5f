"""How much a plan writes: a bound of its raw data, before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass

from restbench.experiment.order import Order

# Sizes of the files of measured cells, on two cores.
#: One line of a JTL with the longest names; a failed sample's is longer, but comes slower.
SAMPLE_BYTES = 300
#: A response in the trials' file, compressed, and how many there are a second at most.
RESPONSE_BYTES = 2
FASTEST_PER_S = 20_000
DASHBOARD_BYTES = 2_000_000


@dataclass(frozen=True)
class Volume:
    """Bytes on disk."""

    whole: float
    largest_file: float


def of_trials(order: Order) -> Volume:
    """What a run of trials writes: its trials, and the logs of its long windows."""
    profile = order.profile
    cells = dict.fromkeys(each.cell for each in order.plan)
    windows = sum(profile.has_window(cell) for cell in cells)
    log = SAMPLE_BYTES * FASTEST_PER_S * profile.window_s
    trials = RESPONSE_BYTES * FASTEST_PER_S * profile.block_s * profile.most_blocks
    return Volume(trials + windows * (log + DASHBOARD_BYTES), max(trials, log))
