"""A dying process costs what ran on it and nothing else: kill -9 under load, again and again."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from restbench_robustness.overload import loads
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.load import Plan
from restbench_robustness.overload.outcome import NEVER, Outcome
from restbench_robustness.overload.promises import Findings
from restbench_robustness.overload.tree import Tree
from restbench_robustness.overload.under_test import UnderTest
from restbench_robustness.overload.waiting import seconds_until

WHOLE_WITHIN_S = 2.0
#: A new worker serves at once; only requests for a pool wait until its processes have started.
POOLS_WITHIN_S = 10.0
LONG_S = 30.0
#: Between two kills, so that the load runs on a whole service in between.
PAUSE_S = (0.3, 1.0)
TIMEOUT_S = 30.0
#: Of Python's multiprocessing, of POSIX semaphores: what a killed process could leave there.
SHARED_MEMORY = ("psm_", "pymp", "sem.", "wnsm_")


@dataclass(frozen=True)
class Killing:
    """How often to kill under how many users. Same seed, same victims and pauses."""

    kills: int
    users: int
    seed: int


@dataclass(frozen=True)
class _Left:
    """What a process could leave behind on disk and in shared memory."""

    temporary: frozenset[str]
    shared: frozenset[str]


def pool_killed(under: UnderTest, strategy: str, prefix: str, killing: Killing) -> Findings:
    """Kill processes of a pool, chosen at random; each may cost the one request that it had."""
    findings = Findings(f"{under.name} {strategy}: kill -9 of {killing.kills} pool processes")
    killer = _Killer(under, strategy, lambda tree: tree.pids(prefix), WHOLE_WITHIN_S)
    outcome = killer.kill(findings, killing)
    errors = outcome.number_of(Verdict.FAULT, Verdict.LOST) + killer.errors()
    findings.at_most("requests that got an error", errors, killing.kills)
    return findings


def worker_killed(under: UnderTest, strategy: str, killing: Killing) -> Findings:
    """Kill gunicorn's worker; it takes the requests of all its connections with it, once a kill."""
    findings = Findings(f"{under.name} {strategy}: kill -9 of gunicorn's worker")

    def worker(tree: Tree) -> list[int]:
        return [pid for pid in tree.names if _parent(pid) == under.root_pid]

    outcome = _Killer(under, strategy, worker, POOLS_WITHIN_S).kill(findings, killing)
    lost, faults = outcome.number_of(Verdict.LOST), outcome.number_of(Verdict.FAULT)
    findings.at_most(
        "requests lost, one a connection and kill", lost, killing.kills * killing.users
    )
    findings.at_most("faults of what was not killed", faults, 0)
    return findings


class _Killer:
    """Kills and looks when the service is whole again; `asked` is what its own requests got."""

    def __init__(
        self,
        under: UnderTest,
        strategy: str,
        victims: Callable[[Tree], list[int]],
        whole_within_s: float,
    ) -> None:
        """`victims` are the processes that may be killed, in an order that can be repeated."""
        self._under = under
        self._strategy = strategy
        self._victims = victims
        self._whole_within_s = whole_within_s
        under.normal(strategy)
        self._before = under.tree()
        self._left = _left(under)
        self.asked: list[Verdict] = []

    def errors(self) -> int:
        """Its own requests that got an error."""
        return sum(verdict in (Verdict.FAULT, Verdict.LOST) for verdict in self.asked)

    def kill(self, findings: Findings, killing: Killing) -> Outcome:
        """Kill under load as often as wanted, at moments and victims drawn from the seed."""
        chance = random.Random(killing.seed)  # noqa: S311 - a choice that can be repeated
        plan = load_plan(self._under, self._strategy, killing)
        with loads.running(plan, self._under.folder) as load:
            times = [self._one(chance) for _ in range(killing.kills)]
            outcome = load.finish()
        serves_s, whole_s = map(_slowest, zip(*times, strict=True))
        findings.within("serves a new client again, the slowest", serves_s, WHOLE_WITHIN_S)
        findings.within("all processes are back, the slowest", whole_s, self._whole_within_s)
        never = outcome.number_of(*NEVER)
        findings.judge("no wrong answer, none late", "0", outcome.sentence(), never == 0)
        _judge_left(findings, self._under, self._before, self._left)
        return outcome

    def _one(self, chance: random.Random) -> tuple[float | None, float | None]:
        """Seconds from the kill until a new client is served, and until all processes are back."""
        time.sleep(chance.uniform(*PAUSE_S))
        victim = chance.choice(self._victims(self._under.tree()))
        os.kill(victim, signal.SIGKILL)
        began = time.monotonic()
        seconds_until(self._serves, LONG_S)
        serves_s = time.monotonic() - began if self.asked[-1] is Verdict.RIGHT else None
        whole = seconds_until(lambda: self._is_whole(victim), LONG_S)
        return serves_s, None if whole is None else time.monotonic() - began

    def _serves(self) -> bool:
        self.asked.append(self._under.normal(self._strategy))
        return self.asked[-1] is Verdict.RIGHT

    def _is_whole(self, victim: int) -> bool:
        """Whether processes of the same names live as before, without the one that was killed."""
        now, before = self._under.tree().names, self._before.names
        return victim not in now and sorted(now.values()) == sorted(before.values())


def _slowest(seconds: Iterable[float | None]) -> float | None:
    """None where one of them never came."""
    known = list(seconds)
    return None if None in known else max(each for each in known if each is not None)


def _judge_left(findings: Findings, under: UnderTest, before: Tree, left: _Left) -> None:
    seconds_until(lambda: under.tree().zombies == 0, WHOLE_WITHIN_S)
    after, now = under.tree(), _left(under)
    findings.at_most("zombies", after.zombies, 0)
    findings.at_most("processes", after.processes, before.processes)
    new = sorted((now.temporary - left.temporary) | (now.shared - left.shared))
    findings.judge(
        "nothing left in /dev/shm and temporary files", "none", str(new or "none"), not new
    )


def load_plan(under: UnderTest, strategy: str, killing: Killing) -> Plan:
    """A closed load of low requests, for longer than the killing can take."""
    host, port = under.service.address
    return Plan(
        host=host,
        port=port,
        path=f"/matrix/{strategy}",
        connections=killing.users,
        seconds=killing.kills * (PAUSE_S[1] + LONG_S + TIMEOUT_S),
        timeout_s=TIMEOUT_S,
        mix="work",
        work=0,
        seed=killing.seed,
    )


def _left(under: UnderTest) -> _Left:
    memory = Path("/dev/shm")  # noqa: S108 - looked at, not used
    shared = (path.name for path in memory.iterdir() if path.name.startswith(SHARED_MEMORY))
    files = (str(path) for path in under.temporary.rglob("*"))
    return _Left(frozenset(files), frozenset(shared))


def _parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])
