"""Kills the harness and what it starts at random moments, and goes on until every run is finished.

    python tests/chaos.py --times 50 --seed 1            (make chaos N=50 SEED=1)

The experiment is small: two cells of a stub in the Java service's place, one of the real Python
service (gunicorn with its pool of processes, behind Apache where that is installed), under JMeter;
--real takes the real Java service as well. Prints a line for each kill, and ends with 1 where
anything was left behind or is not as it is after an undisturbed run. The seed chooses the victims
and the moments; which cell they meet is up to the machine.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from chaos_checks import (
    Violation,
    check_end,
    check_finished,
    check_nothing_left,
    identity_of,
    require,
)
from chaos_harness import Harness, Place
from chaos_kept import check_kept, look
from chaos_victims import KINDS, kill_one

from restbench.store.store import Run

#: Of a run that is killed again while it goes on, at most so often.
KILLS_A_RUN = 3
#: After the last cell: tables, figures and the page, which are made within a second or two.
AFTER_S = 1.0
#: More attempts than kills: something never ends well.
SPARE_ATTEMPTS = 2


@dataclass
class Chaos:
    """A series of kills."""

    place: Place
    random: random.Random
    undisturbed_s: float = 0.0
    identity: dict[str, object] = field(default_factory=dict)
    killed: int = 0

    def learn(self) -> None:
        """How long an undisturbed run takes, and what its manifest says."""
        begun = time.monotonic()
        harness = Harness(self.place, "undisturbed")
        require(harness.wait() == 0, f"the undisturbed run failed:\n{harness.told()}")
        check_nothing_left(harness)
        self.undisturbed_s = time.monotonic() - begun - AFTER_S
        self.identity = identity_of(the_run(harness.results))
        print(f"undisturbed: {self.undisturbed_s:.1f} s", flush=True)

    def one_run(self, number: int, kills: int) -> None:
        """A run that is killed so often, and finished all the same."""
        name = f"run-{number}"
        for attempt in range(kills + SPARE_ATTEMPTS):
            before = look(self.place.results(name))
            harness = Harness(self.place, name, resume=attempt > 0)
            killed = self.kill(harness) if attempt < kills else None
            check_end(harness, killed)
            check_nothing_left(harness)
            over = is_over(harness.results)
            if has_begun(harness.results):
                check_kept(before, the_run(harness.results), went_on=over)
            if over:
                break
            require(harness.wait() != 0, f"ended with 0 and is not over:\n{harness.told()}")
        check_finished(the_run(harness.results), self.identity)
        shutil.rmtree(harness.results)

    def kill(self, harness: Harness) -> str | None:
        """One victim, at a random moment or as soon as there is one after it; returns its kind.
        None where the harness had ended before."""
        kind = self.random.choice(KINDS)
        moment_s = self.random.uniform(0.2, self.undisturbed_s)
        victim = kill_one(harness, kind, moment_s, self.random.random())
        self.killed += victim is not None
        told = f"kill {self.killed}: {victim}" if victim else f"no {kind} was there any more"
        print(f"{told}, {harness.age_s():.1f} s after the start", flush=True)
        return kind if victim else None


def the_run(results: Path) -> Run:
    """The one run of a folder."""
    found = [each for each in results.iterdir() if not each.is_symlink()]
    require(len(found) == 1, f"not one run but {[each.name for each in found]}")
    return Run(found[0])


def has_begun(results: Path) -> bool:
    """Whether there is a run."""
    return any(not each.is_symlink() for each in results.iterdir())


def is_over(results: Path) -> bool:
    """Whether there is a run that nothing is left to do for."""
    return has_begun(results) and the_run(results).is_over


def main() -> int:
    """0 where nothing was wrong."""
    asked = argparse.ArgumentParser(description="Kill a benchmark at random moments.")
    asked.add_argument("--times", type=int, default=50, help="how many kills")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--real", action="store_true", help="the real Java service, too")
    given = asked.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    chaos = Chaos(Place(folder, real=given.real), random.Random(given.seed))
    try:
        chaos.learn()
        number = 0
        while chaos.killed < given.times:
            number += 1
            most = min(KILLS_A_RUN, given.times - chaos.killed)
            chaos.one_run(number, chaos.random.randint(1, most))
    except Violation as violation:
        print(f"VIOLATION after kill {chaos.killed}: {violation}", file=sys.stderr)
        print(f"again: make chaos N={given.times} SEED={given.seed}; what is left: {folder}")
        return 1
    shutil.rmtree(folder)
    print(f"{chaos.killed} kills, {number} runs finished: nothing lost, nothing left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
