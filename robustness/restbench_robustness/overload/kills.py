"""A dying process costs what ran on it and nothing else: kill -9 under load, again and again."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from dataclasses import dataclass
from pathlib import Path

from .exchange import Verdict
from .load import Load
from .mix import LOW, draw, work_mix
from .promises import Findings
from .subject import Subject, seconds_until

ANSWERED_WITHIN_S = 2.0
WHOLE_WITHIN_S = 5.0
LONG_S = 30.0
PAUSE_S = (0.3, 1.0)
"""Between two kills, so that the load runs on a whole service in between."""
TIMEOUT_S = 30.0
MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, not used
OURS = ("psm_", "pymp", "sem.", "restbench")
"""How Python's multiprocessing names what it leaves there, and the service what it makes."""


@dataclass(frozen=True)
class Killing:
    """How often to kill under how many users. Same seed, same victims and pauses."""

    kills: int
    users: int
    seed: int


async def pool_killed(subject: Subject, strategy: str, prefix: str, killing: Killing) -> Findings:
    """Kill processes of a pool, chosen at random, under users who ask without a pause."""
    findings = Findings(f"{subject.name} {strategy}: kill -9 of {killing.kills} pool processes")
    await subject.normal(strategy)
    before, left = subject.names(), _left()
    chance = random.Random(killing.seed)  # noqa: S311 - victims, no secret
    over = asyncio.Event()
    asking = asyncio.create_task(
        _load(subject, strategy, killing).closed(lambda: not over.is_set())
    )
    whole: list[float | None] = []
    for _ in range(killing.kills):
        await asyncio.sleep(chance.uniform(*PAUSE_S))
        victim = chance.choice(
            [p for p, name in subject.names().items() if name.startswith(prefix)]
        )
        os.kill(victim, signal.SIGKILL)
        whole.append(await seconds_until(lambda: _is_whole(subject, victim, before), LONG_S))  # noqa: B023
    over.set()
    outcome = await asking
    good = outcome.number_of(Verdict.RIGHT, Verdict.FAULT, Verdict.REFUSED)
    findings.judge(
        "every answer right, 099 or 503", "all", outcome.sentence(), good == len(outcome.ends)
    )
    findings.within("the slowest answer", outcome.slowest_s(), ANSWERED_WITHIN_S)
    slowest = None if None in whole else max(each or 0 for each in whole)
    findings.within("the pool whole again after each kill", slowest, WHOLE_WITHIN_S)
    await seconds_until(lambda: subject.zombies() == 0 and _left() <= left, WHOLE_WITHIN_S)
    findings.at_most("zombies", subject.zombies(), 0)
    findings.at_most("processes", len(subject.names()), len(before))
    findings.at_most("more files in /dev/shm", max(0, _left() - left), 0)
    return findings


def _load(subject: Subject, strategy: str, killing: Killing) -> Load:
    requests = draw(work_mix(LOW), killing.seed)
    return Load(subject.address, f"/matrix/{strategy}", requests, killing.users, TIMEOUT_S)


def _is_whole(subject: Subject, victim: int, before: dict[int, str]) -> bool:
    """Whether processes of the same names live as before, without the one that was killed."""
    now = subject.names()
    return victim not in now and sorted(now.values()) == sorted(before.values())


def _left() -> int:
    """How many: a pool that was made anew has as many semaphores, of other names."""
    return sum(path.name.startswith(OURS) for path in MEMORY.iterdir())
