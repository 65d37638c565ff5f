"""pgbench, PostgreSQL's own load generator: it runs the services' statements without a service, for
the limit of what a service can reach."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from restbench.deploy.database import Database
from restbench.deploy.migrations import CONTRACT
from restbench.drive.messages import Connection, InDatabase, filler
from restbench.experiment.cell import Technique
from restbench.experiment.level import Messages
from restbench.failures import EnvironmentProblem
from restbench.machine import clock, process
from restbench.observe import resources

#: Parameters that a service gives to its statements, and SQL in the place of those that pgbench
#: does not give: its requests have no key.
_VALUES = {"receiver": "0", "sender": "1", "client": "1"}
_ABSENT = {"key": "NULL", "fingerprint": "NULL", "pgmq_queue": "('q' || CAST(:queue_id AS bigint))"}
#: A pop that loses its race is tried as often as by a service.
TRIES = 51
#: The first transactions of a connection, measured separately: PostgreSQL plans a statement anew
#: for each of the first five, and then once for all.
_WARMUP_TRANSACTIONS = 6
#: How long pgbench's backends may take to end.
_GONE_S = 2.0
#: Time in addition to that of a load: connecting, and the first transactions at a low rate.
_SPARE_S = 60.0
_PROCESSED = "number of transactions actually processed: "
_NAME = re.compile(r"(?<!:):(\w+)")


@dataclass(frozen=True)
class Load:
    """The result of one load; an operation is a send or a pop."""

    per_s: float
    latency_ms: float
    """Latency of an operation."""
    database_ms: float | None
    """CPU time of the database for an operation, without connecting and planning. None where the
    load had less than twice the transactions of its begin."""
    wal_kib: float
    """Growth of the write-ahead log for an operation."""
    generator_ms: float | None
    """CPU time of pgbench for an operation, likewise."""
    failed: int
    """Transactions that pgbench gave up."""


def statement(name: str) -> str:
    """A statement of the contract, with the parameters of `_ABSENT` replaced and no semicolon."""
    text = (CONTRACT / "statements" / f"{name}.sql").read_text("utf-8").strip().removesuffix(";")
    return _NAME.sub(lambda found: _ABSENT.get(found[1], found[0]), text)


def _pop(technique: Technique) -> str:
    """The script of a pop from `:queue_id`, with as many round trips as a service needs."""
    match technique:
        case "statements":
            select, delete = (statement(f"pop-statements-{each}") for each in ("select", "delete"))
            delete = delete.replace(":id", ":popped_id")
            return f"BEGIN;\n{select} \\aset popped_\n{delete};\nCOMMIT;\n"
        case "advisory":
            return f"BEGIN;\n{statement('lock-queue')};\n{statement('pop-plain')};\nCOMMIT;\n"
        case "repeatable-read":
            begin = "BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
            return f"{begin}{statement('pop-plain')};\nCOMMIT;\n"
        case _:
            return f"{statement(f'pop-{technique}')};\n"


def _send(technique: Technique) -> str:
    text = statement(f"send-{technique}" if technique in ("function", "pgmq") else "send")
    return f"BEGIN;\n{text};\nCOMMIT;\n" if technique == "statements" else f"{text};\n"


def scripts(technique: Technique, load: Messages, ids: Sequence[int]) -> dict[str, str]:
    """The text of each script by its name and weight. A script is a user's round: sends to random
    queues, and a pop from the last of them.

    pgbench tries a script again as a whole. So a pop that may lose its race is a script of its own,
    and pgbench draws sends and pops by their shares.
    """
    draw = f"\\set queue_id random({ids[0]}, {ids[load.queues - 1]})\n"
    sends, pop = (draw + _send(technique)) * (load.requests - 1), _pop(technique)
    if technique == "repeatable-read":
        return {f"send.sql@{load.requests - 1}": draw + _send(technique), "pop.sql@1": draw + pop}
    return {"round.sql@1": sends + pop}


def load(  # noqa: PLR0913 - most are given by name
    database: Database,
    queues: InDatabase,
    level: Messages,
    *,
    seed: int,
    connections: int,
    seconds: int,
    per_s: float | None = None,
    cores: str | None,
    folder: Path,
) -> Load:
    """Send and pop for so many seconds as the services' role, at `per_s` operations a second or at
    full speed; scripts and log are in `folder`. EnvironmentProblem where pgbench fails."""
    technique, ids = queues.technique, queues.ids
    if [*ids] != [*range(ids[0], ids[0] + len(ids))]:
        raise EnvironmentProblem(
            f"pgbench draws queues between two numbers; these have gaps: {ids}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    line = [database.program("pgbench"), "-n", "-M", "prepared", "-r", f"--max-tries={TRIES}"]
    line += ["-c", str(connections), "-j", str(min(connections, len(os.sched_getaffinity(0))))]
    texts = scripts(technique, level, ids)
    for name, text in texts.items():
        (folder / name.partition("@")[0]).write_text(text, encoding="utf-8")
        line += ["-f", str(folder / name)]
    values = {**_VALUES, "body": filler(seed, level.characters)[: level.characters]}
    line += [part for name, value in values.items() for part in ("-D", f"{name}={value}")]
    line.append(database.url("service"))

    def taken() -> dict[str, float]:
        return {
            "generator_ms": process.children_cpu_ms(),
            **resources.taken(database.pids(), queues.owner),
        }

    def sent(*length: str) -> tuple[str, dict[str, float]]:
        """The output of pgbench, and the resources that the database and pgbench used."""
        before = taken()
        try:
            done = subprocess.run(
                process.bound_to_us([line[0], *length, *line[1:]], cores),
                env={**os.environ, **database.client_environment("service")},
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds + _SPARE_S,
            )
        except subprocess.TimeoutExpired as error:
            raise EnvironmentProblem(
                f"pgbench, {technique}: not finished within {error.timeout:g} s"
            ) from error
        finally:
            clock.wait_until(lambda: _is_gone(queues.owner), _GONE_S)
        after = taken()
        (folder / "pgbench.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode:
            said = done.stderr.strip().rpartition("\n")[2]
            raise EnvironmentProblem(f"pgbench, {technique}: {said or done.returncode}")
        return done.stdout, {name: after[name] - before[name] for name in before if name in after}

    each = 1 if len(texts) > 1 else level.requests
    rate = [] if per_s is None else ["-R", f"{per_s / each:.3f}"]
    return _read(
        sent("-t", str(_WARMUP_TRANSACTIONS), *rate), sent("-T", str(seconds), *rate), each
    )


def _read(
    begun: tuple[str, Mapping[str, float]], whole: tuple[str, Mapping[str, float]], each: int
) -> Load:
    """The result from pgbench's output; a transaction has `each` operations. CPU times are those of
    the whole load less those of its begin. The growth of the log is that of the whole load: the
    first images of pages are in the log of the begin."""
    words, used = whole
    per_s, latency_ms = _number("tps = ", words), _number("latency average = ", words)
    done = _number(_PROCESSED, words)
    if not (per_s and latency_ms and done):
        raise EnvironmentProblem(f"pgbench reports: {words.strip()[:200] or 'nothing'}")
    began = _number(_PROCESSED, begun[0])
    database_ms, generator_ms = (
        max(0.0, used[name] - begun[1][name]) / (each * (done - began))
        if done >= 2 * began
        else None
        for name in ("cpu_ms", "generator_ms")
    )
    return Load(
        each * per_s,
        latency_ms / each,
        database_ms,
        used["wal_kib"] / (each * done),
        generator_ms,
        failed=round(_number("number of failed transactions: ", words)),
    )


def _number(behind: str, words: str) -> float:
    """The number after `behind` at the start of a line; 0 where there is none."""
    found = re.search(rf"^{behind}([\d.]+)", words, re.MULTILINE)
    return float(found[1]) if found else 0.0


def _is_gone(owner: Connection) -> bool:
    """Whether pgbench's backends have ended, a moment after it: now their CPU time is known."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'"
    return owner.execute(query).fetchone() == (0,)
