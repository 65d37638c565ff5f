"""How long a cell's trials are, and how many of each there are in a block: pure arithmetic on
response times (method, rules 2, 3 and 6)."""

from __future__ import annotations

import random
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from restbench.experiment.cell import Cell
from restbench.store.trials import AGAIN

#: Between two trials: its users come together, records are written, clocks are read.
BETWEEN_S = 0.02
#: A group's trials may take no larger part of a block than it has rounds for; no cell needs more.
MOST_ROUNDS = 400


@dataclass(frozen=True)
class Pace:
    """How long the trials of a cell take, from its mean response time."""

    response_s: float
    once: bool = False
    """Whether it is so slow that it has a trial or two in a run, and no interval."""

    @property
    def keep_s(self) -> float:
        """What is kept: ten responses of a user, or three of a slow one, and no more than 15 s; one
        of the slowest, whose trial is not to be repeated."""
        if self.once:
            return max(2.5, self.response_s)
        if self.response_s <= 0.25:
            return max(0.1, 10 * self.response_s)
        return min(15.0, max(2.5, 3 * self.response_s))

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


def slow_ones(
    paces: Mapping[Cell, Pace], tried: Mapping[Cell, int], first: Container[Cell], seconds: float
) -> list[Cell]:
    """Which cells of one trial a run have it in a block, in no more than so much time: those with
    the fewest so far (`tried`), the quickest of them before others. Those in `first`, if they have
    had none, come before all, and whatever time they take."""
    found, left = [], seconds
    for cell in sorted(
        paces, key=lambda each: (tried.get(each, 0), each not in first, paces[each].seconds)
    ):
        needed = cell in first and not tried.get(cell, 0)
        if needed or paces[cell].seconds <= left:
            found.append(cell)
            left -= paces[cell].seconds
    return found


@dataclass(frozen=True)
class Contest:
    """Cells that are measured in the same rounds, because their ratios are asked for."""

    name: str
    cells: tuple[Cell, ...]
    share: float = 1.0
    """Of the time, beside other contests."""

    @property
    def turns(self) -> tuple[tuple[Cell, str], ...]:
        """A round: every cell, and the first of several once more."""
        again = [(self.cells[0], AGAIN)] if len(self.cells) > 1 else []
        return (*((cell, "") for cell in self.cells), *again)


@dataclass(frozen=True)
class Planned:
    """One trial that is to come."""

    contest: str
    round: int
    cell: Cell
    arm: str


def rounds_of(
    contests: Sequence[Contest], paces: Mapping[Cell, Pace], seconds: float
) -> dict[str, int]:
    """How many rounds of each contest there are in so much time: by its share, at least one. What a
    contest with few cells would not use is the others'."""
    cost = {each.name: sum(paces[cell].seconds for cell, _ in each.turns) for each in contests}
    rounds = {each.name: 1 for each in contests}
    left = seconds - sum(cost.values())
    open_ones = list(contests)
    while open_ones and left > 0:
        shares = sum(each.share for each in open_ones)
        full = []
        for each in open_ones:
            more = int(left * each.share / shares / cost[each.name])
            if rounds[each.name] + more >= MOST_ROUNDS:
                full.append((each, MOST_ROUNDS - rounds[each.name]))
        if not full:
            for each in open_ones:
                rounds[each.name] += int(left * each.share / shares / cost[each.name])
            break
        for each, more in full:
            rounds[each.name] += more
            left -= more * cost[each.name]
            open_ones.remove(each)
    return rounds


def interleaved(
    contests: Sequence[Contest], rounds: Mapping[str, int], shuffler: random.Random
) -> list[list[Planned]]:
    """Every round of a block in the order of measuring. The rounds of a contest are spread evenly
    over the block, with a random part; the order within a round is random."""
    placed = []
    for each in contests:
        count = rounds[each.name]
        for number in range(count):
            turns = [Planned(each.name, number + 1, cell, arm) for cell, arm in each.turns]
            shuffler.shuffle(turns)
            placed.append(((number + shuffler.random()) / count, turns))
    return [turns for _, turns in sorted(placed, key=lambda one: one[0])]
