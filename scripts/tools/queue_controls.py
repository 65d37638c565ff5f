"""`make queue-controls`: does the checker of queues find what is wrong, and nothing else?

Must be caught: a database without synchronous commit whose backend, or all of it, is killed; two
planted defects. Must not: a sound database that is killed as often, with keys and without. No
service takes part: clients send the contract's statements themselves.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from restbench import cli
from restbench.analyse.queue_checker import RULES, Report, check
from restbench.deploy.database import Database, fresh
from restbench.drive import faults, history
from restbench.drive.history import Clients, Record
from restbench.experiment.faults import Fault
from restbench.failures import BadConfiguration
from restbench.machine import machine_lock, watch
from tools.sql_queues import Pop, SqlQueues

CHARACTERS, QUEUES, CLIENTS = 200, 2, 8
#: So many messages each client sends first: a queue that is never empty shows a false empty.
FILLED = 10


@dataclass(frozen=True)
class Control:
    """A load whose verdict is known."""

    name: str
    caught_by: frozenset[str]
    """The rules of which one at least must be violated; empty: none may be."""
    fault: Fault | None = None
    pop: Pop = "skip-locked"
    have_keys: bool = False
    overrides: tuple[tuple[str, str], ...] = ()


_LOSSES, _SOUND = frozenset({"R1", "R2"}), frozenset[str]()
_OFF = (("synchronous_commit", "off"),)
CONTROLS = (
    Control("kill-backend, synchronous_commit off", _LOSSES, "kill-backend", overrides=_OFF),
    Control("kill-all, synchronous_commit off", _LOSSES, "kill-all", overrides=_OFF),
    Control("select, then delete", frozenset({"R2"}), pop="select-then-delete"),
    Control("delete without a lock", frozenset({"R7"}), pop="plain"),
    Control("kill-backend, with keys", _SOUND, "kill-backend", have_keys=True),
    Control("kill-all, with keys", _SOUND, "kill-all", have_keys=True),
    Control("kill-all, without keys", _SOUND, "kill-all"),
)


def judged(control: Control, database: Database, name: str, load_s: float, folder: Path) -> Report:
    """One load on queues of its own, with the control's fault at a random moment of it."""
    queues = [f"{name}-{number}" for number in range(1, QUEUES + 1)]
    addresses = [(queue, 0) for queue in queues]
    clients = Clients(name, CLIENTS, addresses, CHARACTERS, control.have_keys, FILLED)
    record = Record(folder / f"{name}.jsonl")

    def way() -> SqlQueues:
        return SqlQueues(lambda: database.connect("service"), control.pop)

    maker = way()
    for queue in queues:
        maker.create(queue)
    maker.close()
    with history.running(clients, way, record):
        time.sleep(load_s * random.Random(name).uniform(0.5, 1.0))  # noqa: S311
        if control.fault is not None:
            faults.inflict(control.fault, database, 0.5, _no_service)
            time.sleep(load_s)
    history.drain(clients, way(), record)
    with database.connect() as owner:
        left = history.left(owner, clients)
    record.write(left)
    return check(record.requests, left)


def _no_service(_lasts_s: float) -> None:
    raise TypeError("there is no service")


def as_expected(control: Control, report: Report) -> bool:
    """Whether what must be caught is, or what is sound is found to be so."""
    violated = {rule for rule, count in report.counts.items() if count}
    return bool(violated & control.caught_by) if control.caught_by else not violated


def run(controls: Sequence[Control], times: int, load_s: float, say: Callable[[str], None]) -> bool:
    """All of them so often; whether each was judged rightly each time."""
    all_right = True
    with tempfile.TemporaryDirectory(prefix="restbench-controls-") as place:
        watch.at_end("remove", Path(place))
        Path(place).chmod(0o711)
        for overrides in dict.fromkeys(each.overrides for each in controls):
            folder = Path(place, f"cluster-{len(overrides)}")
            with fresh(Database(folder, overrides=dict(overrides))) as database:
                for control in (each for each in controls if each.overrides == overrides):
                    right, sums, found = 0, dict.fromkeys(RULES, 0), dict[str, int]()
                    for number in range(1, times + 1):
                        name = f"c{controls.index(control)}-{number}"
                        report = judged(control, database, name, load_s, Path(place))
                        right += as_expected(control, report)
                        sums = {rule: sums[rule] + report.counts[rule] for rule in RULES}
                        for what in ("sends", "limbo", "replayed"):
                            found[what] = found.get(what, 0) + getattr(report, what)
                    wanted = "caught" if control.caught_by else "sound"
                    counted = ", ".join(f"{RULES[rule]} {n}" for rule, n in sums.items() if n)
                    other = ", ".join(f"{what} {count}" for what, count in found.items())
                    say(f"{control.name}: {wanted} {right} of {times}; {other}; {counted or '-'}")
                    all_right &= right == times
    return all_right


def queue_controls(
    times: Annotated[int, typer.Option(min=1, help="Loads of each control.")] = 10,
    load_s: Annotated[float, typer.Option(min=0.0, help="How long each goes on.")] = 1.0,
    only: Annotated[str, typer.Option(help="Controls whose name has this in it.")] = "",
) -> None:
    """Does the checker of queues find what is wrong, and nothing else?"""
    if not (chosen := [each for each in CONTROLS if only in each.name]):
        raise BadConfiguration(f"--only: no control's name has {only!r} in it")
    machine_lock.take()
    watch.begin()
    if not run(chosen, times, load_s, print):
        raise typer.Exit(1)


if __name__ == "__main__":
    cli.main(cli.single_command_app(queue_controls))
