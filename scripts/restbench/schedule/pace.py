"""How long a cell's trials are, and how many of each there are in a block: pure arithmetic on
response times (method, rules 2, 3 and 6)."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from restbench.experiment.cell import Cell
from restbench.experiment.statistics import COMPLETIONS_FOR_A_MEAN, FEWEST_DRAWS
from restbench.store.trials import AGAIN

#: Seconds between two trials: users are synchronised, records are written, clocks are read.
BETWEEN_S = 0.02
#: A cell with trials in a block is measured for so many seconds in it, in as many trials as needed.
LEAST_KEPT_S = 1.0
#: The limits between bands of response times. Cells of one band share rounds: so quick cells need
#: not wait for slow ones, and slow cells have no more rounds than they need.
BANDS_S = (0.025, 0.1, 0.25)
#: Up to this response time a trial has many responses of each user; slower cells have long trials.
QUICK_S = BANDS_S[-1]
#: A slow cell's trial lasts for so many response times: two for a mean, with room for a late one.
LEAST_RESPONSES = 2.2
#: A trial of a mix of sizes lasts for so many of its longest response times.
LONGEST_RESPONSES = 3
#: The largest number of rounds of a group in a block; no cell needs more.
MOST_ROUNDS = 400


@dataclass(frozen=True)
class Pace:
    """How long the trials of a cell take, from its mean response time."""

    response_s: float
    is_single_trial: bool = False
    """Whether the cell is so slow that it has only a trial or two in a run, and no interval."""
    users: int = 10
    is_mix: bool = False
    """Whether requests are of several sizes or kinds: some take far longer than the mean."""
    longest_s: float = 0.0
    """The longest response time of a mix of sizes; 0 where requests are of one size."""

    @property
    def keep_s(self) -> float:
        """Seconds of a trial that are kept. Quick cells: ten response times, 0.1 s to 1 s; a mix at
        least 1 s. Slow cells: LEAST_RESPONSES response times, or as many as the 30 responses of a
        mean need (three with ten users), 1 s to 15 s. A mix of sizes: at least three times the
        longest response time, up to 15 s, as only what ends in the kept part counts. Cells measured
        `once`: one response time, at least 2.5 s, as their trial is not to be repeated."""
        if self.is_single_trial:
            return max(2.5, self.response_s)
        if self.response_s <= QUICK_S:
            least_s = 1.0 if self.is_mix else min(1.0, max(0.1, 10 * self.response_s))
        else:
            responses = max(LEAST_RESPONSES, COMPLETIONS_FOR_A_MEAN / self.users)
            least_s = max(1.0, responses * self.response_s)
        return min(15.0, max(least_s, LONGEST_RESPONSES * self.longest_s))

    @property
    def drop_s(self) -> float:
        """Seconds at the start of a trial that are dropped: all users begin at once, and the effect
        of that on a closed load lasts for some response times; in a mix for the longest one, as
        users pile up at the large requests. It lasts less on throughput, the only result of cells
        that are measured `once`."""
        if self.is_single_trial:
            return max(0.5, 0.25 * self.response_s)
        return max(0.2 * self.keep_s, self.response_s, self.longest_s)

    @property
    def seconds(self) -> float:
        """Duration of a whole trial, which waits for outstanding answers at its end."""
        last_s = max(self.response_s, self.longest_s)
        return self.drop_s + self.keep_s + last_s + BETWEEN_S


def predicted_s(cell: Cell, known: Mapping[Cell, float], cores: int) -> float | None:
    """A cell's response time in seconds, predicted from the same cell with fewer users; None where
    none of these is known. Once every core has a user, throughput grows no more, and the response
    time grows in proportion to the number of users."""
    rest = cell.model_dump(exclude={"users"})
    for other in sorted(known, key=lambda each: -each.users):
        if other.users < cell.users and other.model_dump(exclude={"users"}) == rest:
            return known[other] * cell.users / min(cell.users, max(other.users, cores))
    return None


@dataclass(frozen=True)
class TrialGroup:
    """Cells that are measured in the same rounds, because their ratios are asked for."""

    name: str
    cells: tuple[Cell, ...]
    share: float = 1.0
    """The weight of the group when groups share the time of a block."""
    compared: bool = True
    """Whether claims compare its cells; other groups get the time that compared ones leave."""
    again: bool = True
    """Whether its first cell is measured once more in each round."""

    @property
    def trials(self) -> tuple[tuple[Cell, str], ...]:
        """The trials of a round, each as its cell and arm: every cell and, with `again`, the first
        of several cells once more."""
        again = [(self.cells[0], AGAIN)] if self.again and len(self.cells) > 1 else []
        return (*((cell, "") for cell in self.cells), *again)


@dataclass(frozen=True)
class PlannedTrial:
    """One trial that is to come."""

    round: int
    cell: Cell
    arm: str = ""


def bands(
    group: TrialGroup, paces: Mapping[Cell, Pace], needed: Container[str] = ()
) -> list[TrialGroup]:
    """The group, split into bands of similar response times (BANDS_S). Quick bands share its time:
    trials of 0.1 s vary by 20 %, but many of them take little time. The slow band has only the
    rounds that it needs, with no cell twice in a round; without quick bands it has all the time. A
    mix, whose trials are longer, is in bands of its own.

    Where cell ids are `needed`, only bands of these cells share the time, the slow band too, and
    other cells are in bands of their own. A band's weight is the square root of the duration of its
    round: slow bands get more of the time, quick bands more of the rounds."""
    found: dict[tuple[int, bool, bool], list[Cell]] = {}
    for cell in group.cells:
        band = bisect_left(BANDS_S, paces[cell].response_s)
        key = (band, paces[cell].longest_s > 0, not needed or cell.id in needed)
        found.setdefault(key, []).append(cell)
    cut = {
        (band, is_mix, is_needed): TrialGroup(
            f"{group.name} {band}{' mix' * is_mix}{'' if is_needed else ' rest'}",
            tuple(cells),
            share=0.0,
            again=band < len(BANDS_S),
        )
        for (band, is_mix, is_needed), cells in sorted(found.items())
    }
    wanted = {key: each for key, each in cut.items() if key[2]}
    if needed:
        weights = {key: math.sqrt(round_seconds(each, paces)) for key, each in wanted.items()}
    else:
        quick = [key for key in wanted if key[0] < len(BANDS_S)]
        weights = dict.fromkeys(quick or wanted, 1.0)
    whole = sum(weights.values())
    return [
        replace(each, share=group.share * weights[key] / whole) if key in weights else each
        for key, each in cut.items()
    ]


def round_seconds(group: TrialGroup, paces: Mapping[Cell, Pace]) -> float:
    """How many seconds a round of the group takes."""
    return sum(paces[cell].seconds for cell, _ in group.trials)


def least_rounds(cells: Sequence[Cell], paces: Mapping[Cell, Pace]) -> int:
    """How many rounds a block has at least, so that each cell is measured for LEAST_KEPT_S, and in
    FEWEST_DRAWS trials where each trial draws the workers that get the users' connections."""
    draws = any(
        cell.workers > 1
        and (cell.connection, cell.front) == ("kept", "none")
        and not paces[cell].is_single_trial
        for cell in cells
    )
    rounds = math.ceil(LEAST_KEPT_S / min(paces[cell].keep_s for cell in cells))
    return max(FEWEST_DRAWS if draws else 1, rounds)


def least_seconds(groups: Iterable[TrialGroup], paces: Mapping[Cell, Pace]) -> float:
    """How many seconds the least rounds of all groups take together."""
    return sum(least_rounds(each.cells, paces) * round_seconds(each, paces) for each in groups)


def trials_outside_rounds(
    ranked: Iterable[Cell], paces: Mapping[Cell, Pace], always: Container[Cell], seconds: float
) -> dict[Cell, int]:
    """The cells that are measured outside the rounds of a block, and their numbers of trials: one
    cell after the other, as far as they fit into so many seconds. Those in `always` are measured
    whatever time that takes."""
    found, left = {}, seconds
    for cell in ranked:
        rounds = least_rounds([cell], paces)
        cost_s = rounds * paces[cell].seconds
        if cost_s <= left or cell in always:
            found[cell] = rounds
            left -= cost_s
    return found


def rounds_of(
    groups: Sequence[TrialGroup],
    paces: Mapping[Cell, Pace],
    seconds: float,
    most_kept_s: float = math.inf,
) -> dict[str, int]:
    """The number of rounds of each group in so many seconds: by the group's share, but at least
    `least_rounds`, and at most MOST_ROUNDS or as many as keep `most_kept_s` seconds of a cell. Time
    that a group cannot use goes to the others."""
    round_s = {each.name: round_seconds(each, paces) for each in groups}
    rounds = {each.name: least_rounds(each.cells, paces) for each in groups}
    most = dict(rounds)
    for each in groups:
        kept_s = max(paces[cell].keep_s for cell in each.cells)
        most[each.name] = max(most[each.name], int(min(MOST_ROUNDS, most_kept_s / kept_s)))
    left = seconds - least_seconds(groups, paces)
    open_ones = [each for each in groups if each.share]
    while open_ones and left > 0:
        share_s = left / sum(each.share for each in open_ones)
        whole = {
            each.name: rounds[each.name] + int(share_s * each.share / round_s[each.name])
            for each in open_ones
        }
        full = [each for each in open_ones if whole[each.name] >= most[each.name]]
        if not full:
            return rounds | whole
        for each in full:
            left -= (most[each.name] - rounds[each.name]) * round_s[each.name]
            rounds[each.name] = most[each.name]
            open_ones.remove(each)
    return rounds


def interleaved(
    groups: Sequence[TrialGroup], rounds: Mapping[str, int], shuffler: random.Random
) -> list[list[PlannedTrial]]:
    """Every round of a block in the order of measuring. The rounds of a group are spread evenly
    over the block, with a random part; the order within a round is random."""
    placed = []
    for each in groups:
        count = rounds[each.name]
        for number in range(count):
            planned = [PlannedTrial(number + 1, cell, arm) for cell, arm in each.trials]
            shuffler.shuffle(planned)
            placed.append(((number + shuffler.random()) / count, planned))
    return [planned for _, planned in sorted(placed, key=lambda one: one[0])]
