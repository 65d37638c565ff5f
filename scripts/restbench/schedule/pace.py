"""How long a cell's trials are, and how many of each there are in a block: pure arithmetic on
response times (method, rules 2, 3 and 6)."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from restbench.experiment.cell import Cell
from restbench.experiment.statistics import COMPLETIONS_FOR_A_MEAN
from restbench.store.trials import AGAIN

#: Between two trials: its users come together, records are written, clocks are read.
BETWEEN_S = 0.02
#: A cell that has trials in a block is measured for so long in it, in as many as that takes.
LEAST_KEPT_S = 1.0
#: Cells of like response times share rounds: quick ones need not wait for slow ones, and slow ones
#: have no more rounds than they need.
BANDS_S = (0.025, 0.1, 0.25)
#: A response of a trial up to this is one of many; a trial of slower ones is long.
QUICK_S = BANDS_S[-1]
#: The responses of a user that a mean needs are two: with room for one that comes a little late.
LEAST_RESPONSES = 2.2
#: A group's trials may take no larger part of a block than it has rounds for; no cell needs more.
MOST_ROUNDS = 400


@dataclass(frozen=True)
class Pace:
    """How long the trials of a cell take, from its mean response time."""

    response_s: float
    once: bool = False
    """Whether it is so slow that it has a trial or two in a run, and no interval."""
    users: int = 10
    is_mix: bool = False
    """Whether its requests are of several sizes: a large one takes far longer than the mean."""

    @property
    def keep_s(self) -> float:
        """What is kept: ten responses of a user, of a mix a second; of a slow one two and a bit, or
        as many as the 30 of a mean ask for (three of ten users), and no more than 15 s; one of the
        slowest, whose trial is not to be repeated."""
        if self.once:
            return max(2.5, self.response_s)
        if self.response_s <= QUICK_S:
            return 1.0 if self.is_mix else min(1.0, max(0.1, 10 * self.response_s))
        responses = max(LEAST_RESPONSES, COMPLETIONS_FOR_A_MEAN / self.users)
        return min(15.0, max(1.0, responses * self.response_s))

    @property
    def drop_s(self) -> float:
        """What is left out before it: all users begin at once, which a closed load forgets within
        some response times. Throughput, all that a slow cell has, forgets it sooner."""
        if self.once:
            return max(0.5, 0.25 * self.response_s)
        return max(0.2 * self.keep_s, self.response_s)

    @property
    def seconds(self) -> float:
        """A whole trial: at its end the answers that are still to come are waited for."""
        return self.drop_s + self.keep_s + self.response_s + BETWEEN_S


def predicted_s(cell: Cell, known: Mapping[Cell, float], cores: int) -> float | None:
    """The response time under a cell's users, from the same cell with other users: as throughput
    grows no more once every core has one, it grows as they do. None where none is known."""
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
    """Of the time, next to other groups."""
    compared: bool = True
    """Whether claims compare its cells; others have what time these leave."""
    again: bool = True
    """Whether its first cell is measured once more in each round."""

    @property
    def turns(self) -> tuple[tuple[Cell, str], ...]:
        """A round: every cell, and the first of several once more."""
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
    """The group cut into those of like response times. The quick ones share its time: trials of
    0.1 s differ by 20 %, and are many in little time. Slow ones have the rounds that they need, and
    no cell twice in one; where there are no quick ones the time is theirs.

    Where some ids are `needed`, only those cells share it, apart from the others, slow ones too:
    each band by the root of what its round takes, so that slow ones have more of the time and quick
    ones more of the rounds."""
    found: dict[tuple[int, bool], list[Cell]] = {}
    for cell in group.cells:
        band = bisect_left(BANDS_S, paces[cell].response_s)
        found.setdefault((band, not needed or cell.id in needed), []).append(cell)
    cut = {
        key: TrialGroup(
            f"{group.name} {key[0]}{'' if key[1] else ' rest'}",
            tuple(cells),
            share=0.0,
            again=key[0] < len(BANDS_S),
        )
        for key, cells in sorted(found.items())
    }
    wanted = {key: each for key, each in cut.items() if key[1]}
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
    """What a round takes."""
    return sum(paces[cell].seconds for cell, _ in group.turns)


def least_rounds(cells: Iterable[Cell], paces: Mapping[Cell, Pace]) -> int:
    """How many rounds a block has at least, so that each cell is measured for LEAST_KEPT_S."""
    return max(1, math.ceil(LEAST_KEPT_S / min(paces[cell].keep_s for cell in cells)))


def least_seconds(groups: Iterable[TrialGroup], paces: Mapping[Cell, Pace]) -> float:
    """What these rounds of a block take, whatever time it has."""
    return sum(least_rounds(each.cells, paces) * round_seconds(each, paces) for each in groups)


def singles(
    paces: Mapping[Cell, Pace],
    tried: Mapping[Cell, int],
    first: Container[Cell],
    claimed: Container[Cell],
    seconds: float,
) -> dict[Cell, int]:
    """Of the cells that have no part in rounds, those that are measured in a block of so much time
    for them, with their number of trials: those with the fewest blocks so far (`tried`) before
    others, of these what claims ask for, then the quickest. Those in `first` that have had none
    come before all, and whatever time they take."""

    def rank(cell: Cell) -> tuple[int, bool, bool, float]:
        return tried.get(cell, 0), cell not in first, cell not in claimed, paces[cell].seconds

    found, left = {}, seconds
    for cell in sorted(paces, key=rank):
        rounds = least_rounds([cell], paces)
        cost_s = rounds * paces[cell].seconds
        if cost_s <= left or (cell in first and not tried.get(cell, 0)):
            found[cell] = rounds
            left -= cost_s
    return found


def rounds_of(
    groups: Sequence[TrialGroup], paces: Mapping[Cell, Pace], seconds: float
) -> dict[str, int]:
    """How many rounds of each group there are in so much time: by its share, at least as many as
    each of its cells needs. What a group with few cells would not use is the others'."""
    round_s = {each.name: round_seconds(each, paces) for each in groups}
    rounds = {each.name: least_rounds(each.cells, paces) for each in groups}
    left = seconds - least_seconds(groups, paces)
    open_ones = [each for each in groups if each.share]
    while open_ones and left > 0:
        share_s = left / sum(each.share for each in open_ones)
        whole = {
            each.name: rounds[each.name] + int(share_s * each.share / round_s[each.name])
            for each in open_ones
        }
        full = [each for each in open_ones if whole[each.name] >= MOST_ROUNDS]
        if not full:
            return rounds | whole
        for each in full:
            left -= (MOST_ROUNDS - rounds[each.name]) * round_s[each.name]
            rounds[each.name] = MOST_ROUNDS
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
            turns = [PlannedTrial(number + 1, cell, arm) for cell, arm in each.turns]
            shuffler.shuffle(turns)
            placed.append(((number + shuffler.random()) / count, turns))
    return [turns for _, turns in sorted(placed, key=lambda one: one[0])]
