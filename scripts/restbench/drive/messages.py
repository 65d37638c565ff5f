"""Messages in queues: those before a trial, those of users, and the check of what came back."""

from __future__ import annotations

import math
import random
import string
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg

from restbench.analyse.queue_checker import count_gap
from restbench.analyse.queue_history import NOT_DONE
from restbench.drive.generator import CORRECT, ERROR, WRONG, LoadResult, stages_ms
from restbench.drive.queue_client import QueueCalls
from restbench.experiment.cell import Technique
from restbench.experiment.level import Messages
from restbench.failures import EnvironmentProblem
from restbench.grouping import grouped

PROPERTIES, FILLER = "messages.properties", "filler.txt"
#: Kinds of records, as the load generator numbers them.
SEND, POP, EMPTY = 0, 1, 2
_NOT_DONE = [int(code) for code in NOT_DONE]
#: Characters of bodies: JSON and SQL escape none of them, and random ones do not compress well.
LETTERS = string.ascii_letters + string.digits
#: The filler is longer than a body by this: each body is cut from it at a random position.
_FILLER_CHARACTERS = 1 << 16
#: Number of threads whose requests fill the queues in a service's memory.
_FILLERS = 4

Connection = psycopg.Connection[tuple[Any, ...]]
Records = npt.NDArray[Any]


def queue_name(technique: Technique, number: int) -> str:
    """The name of a queue, numbered from 1. Each technique has queues of its own."""
    return f"{technique}-{number}"


def queue_path(strategy: str, technique: Technique) -> str:
    """The path of the queues on a service, up to the number of a queue."""
    return f"/messages/{strategy}/queues/{queue_name(technique, 0)[:-1]}"


def files_of(level: Messages, seed: int, folder: Path) -> dict[Path, str]:
    """The text of each file that the load generator reads."""
    said = {
        "queues": level.queues,
        "characters": level.characters,
        "sends": level.requests - 1,
        "keys": str(level.keys).lower(),
    }
    lines = "".join(f"{name}={value}\n" for name, value in said.items())
    return {folder / PROPERTIES: lines, folder / FILLER: filler(seed, level.characters)}


@lru_cache(maxsize=8)
def filler(seed: int, characters: int) -> str:
    """Random text from which bodies of so many characters are cut."""
    drawn = random.Random(f"{seed} {characters} filler")  # noqa: S311 - a load, not a secret
    return "".join(drawn.choices(LETTERS, k=characters + _FILLER_CHARACTERS))


def body(token: str, text: str) -> str:
    """A body whose changes can be detected: its token, `text`, and the CRC-32 of both."""
    before = f"{token} {text}"
    return f"{before}{zlib.crc32(before.encode()):08x}"


@lru_cache(maxsize=16)
def prefilled(level: Messages, seed: int) -> tuple[tuple[int, str], ...]:
    """The queue's number and the body of each message that is there before a trial. Their tokens
    are those of user 0, with message numbers from 1."""
    text = filler(seed, level.characters)
    length = level.characters - len(body(_token(0, 0), ""))
    drawn = random.Random(f"{seed} prefilled")  # noqa: S311 - a load, not a secret
    found = []
    for number in range(1, level.filled + 1):
        queue, at = 1 + number % level.queues, drawn.randrange(_FILLER_CHARACTERS)
        found.append((queue, body(_token(queue, number), text[at : at + length])))
    return tuple(found)


def _token(queue: int, number: int) -> str:
    """The token of a message of user 0, in the format of the load generator (jmeter-plans)."""
    return f"{queue:06d}.0000.{number:09d}"


@dataclass
class InDatabase:
    """Queues in the database, over the owner's connection."""

    owner: Connection
    technique: Technique
    ids: Sequence[int]
    """Ids of the queues by their numbers from 1; pgbench needs ids without gaps."""

    @classmethod
    def made(cls, owner: Connection, technique: Technique, queues: int) -> InDatabase:
        """So many new queues, made together: pgbench draws from a range of ids."""
        ids = []
        for number in range(1, queues + 1):
            name = queue_name(technique, number)
            found = owner.execute(
                "SELECT id FROM messages.create_queue(%s, %s)", (name, technique)
            ).fetchone()
            if found is None:
                raise EnvironmentProblem(f"the database did not make the queue {name}")
            ids.append(int(found[0]))
        return cls(owner, technique, ids)

    def fill(self, level: Messages, seed: int) -> None:
        """Replace all messages by those of `prefilled`. Then vacuum and checkpoint, which
        PostgreSQL would otherwise do in the middle of a trial."""
        self.owner.execute("TRUNCATE messages.message, messages.receipt")
        messages = prefilled(level, seed)
        tables = "messages.message, messages.receipt"
        if self.technique == "pgmq":
            self._fill_pgmq(messages)
            tables = ""  # all of them: each queue has its own
        else:
            with (
                self.owner.cursor() as cursor,
                cursor.copy("COPY messages.message (queue_id, sender, body) FROM STDIN") as copied,
            ):
                for queue, text in messages:
                    copied.write_row((self.ids[queue - 1], 1, text))
        self.owner.execute(f"VACUUM ANALYZE {tables}".encode())
        self.owner.execute("CHECKPOINT")

    def _fill_pgmq(self, messages: Sequence[tuple[int, str]]) -> None:
        """Fill the queues of pgmq, each of which has a table of its own."""
        by_queue = grouped(messages, lambda each: each[0])
        with self.owner.transaction():
            for number, queue_id in enumerate(self.ids, start=1):
                self.owner.execute("SELECT pgmq.purge_queue(%s)", (f"q{queue_id}",))
                if texts := [text for _, text in by_queue.get(number, ())]:
                    self.owner.execute(
                        "SELECT pgmq.send_batch(%s, array_agg(jsonb_build_object("
                        "'sender', 1, 'body', text))) FROM unnest(%s::text[]) AS text",
                        (f"q{queue_id}", texts),
                    )

    def left(self) -> int:
        """The number of messages, by counting rows."""
        if self.technique != "pgmq":
            return self._count("SELECT count(*) FROM messages.message")
        return sum(self._count("SELECT messages.count_pgmq(%s)", each) for each in self.ids)

    def _count(self, query: str, *values: int) -> int:
        found = self.owner.execute(query.encode(), values).fetchone()
        return int(found[0]) if found else 0


@dataclass
class InProcess:
    """Queues in the memory of a service, over requests to it."""

    calls: QueueCalls
    technique: Technique
    queues: int

    @property
    def names(self) -> list[str]:
        """Names of the queues."""
        return [queue_name(self.technique, number) for number in range(1, self.queues + 1)]

    def fill(self, level: Messages, seed: int) -> None:
        """Delete and create the queues, then send the messages of `prefilled`, a few at a time."""
        for name in self.names:
            self.calls.delete(name)
            self.calls.create(name, self.technique)
        messages = prefilled(level, seed)
        names = [queue_name(self.technique, queue) for queue, _ in messages]
        with ThreadPoolExecutor(_FILLERS) as senders:
            list(senders.map(self.calls.send, names, [text for _, text in messages]))

    def left(self) -> int:
        """The number of messages, by asking the service for each queue."""
        return sum(map(self.calls.count, self.names))


def violations(records: Records, filled: int, left: int) -> dict[str, int]:
    """How often each rule was broken in a trial, without the rules that were kept. `records` are
    all requests of the trial, `filled` and `left` the numbers of messages before and after it.

    A message is identified by its token, which the load generator reads if the body's CRC is right.
    """
    kind, outcome, token = (records[name] for name in ("kind", "outcome", "token"))
    sends, pops = kind == SEND, kind == POP
    popped = token[pops & (outcome == CORRECT)]
    # Certainly not done: 4xx, 008 and 014. An error with 200 may be an incomplete answer.
    is_not_done = (records["status"] // 100 == 4) | np.isin(records["code"], _NOT_DONE)
    unknown = (outcome == ERROR) & ~is_not_done
    sent = token[sends & ((outcome == CORRECT) | unknown)]
    known = (popped > 0) & (popped <= filled) | np.isin(popped, sent)
    done = [int((each & (outcome == CORRECT)).sum()) for each in (sends, pops)]
    may_be_done = [int((each & unknown).sum()) for each in (sends, pops)]
    wrong = outcome == WRONG
    found = {
        "R2 duplicated": int(popped.size - np.unique(popped).size),
        "R3 invented": int((~known).sum()),
        "R4 altered": int((wrong & pops & (token == 0)).sum()),
        "R5 misrouted": int((wrong & pops & (token > 0)).sum()),
        "R8 count": count_gap(filled + done[0] - done[1], left, *may_be_done),
        "not an answer": int((wrong & ~pops).sum()),
    }
    return {rule: count for rule, count in found.items() if count}


def right_since(sent: LoadResult, epoch_ms: float) -> int:
    """How many correct answers of a trial came after `epoch_ms`."""
    ends_us = sent.records["start_us"] + sent.records["elapsed_us"]
    is_after = sent.begun.epoch_ms + ends_us / 1000 > epoch_ms
    return int((is_after & (sent.records["outcome"] == CORRECT)).sum())


def means(records: Records) -> dict[str, float]:
    """Means over the correct answers in `records`, by name, in milliseconds: the stages in the
    database and, for each kind of request (`send_ms`), its latency and the parts of that by the
    service's own clock; and `_points` (see `_COMPARED`)."""
    right = records[records["outcome"] == CORRECT]
    found = {
        f"{name}_ms": value for name, value in stages_ms(right).items() if name in _DATABASE_STAGES
    }
    for name, number in (("send", SEND), ("pop", POP)):
        those = right[right["kind"] == number]
        if not those.size:
            continue
        stages = stages_ms(those)
        whole = float(those["elapsed_us"].mean()) / 1000
        parts = {each: value for each, value in stages.items() if each != "compute"}
        if "compute" in stages:
            in_service = sum(stages[each] for each in _SERVICE_STAGES if each in stages)
            parts["network"] = whole - in_service
        found |= {f"{name}_{part}_ms": value for part, value in parts.items()}
        found |= {f"{name}_ms": whole, f"{name}_half_ms": whole / 2}
        found |= {
            f"{name}_{part}_points": math.exp(parts[part] / whole)
            for part in _COMPARED
            if part in parts
        }
    return found


#: Parts whose shares of the latency are compared, as e to the power of the share: the logarithm of
#: a ratio of two such values is the difference of their shares.
_COMPARED = ("database", "network")
#: Stages that only messages have; and those that add up to the time in the service.
_DATABASE_STAGES = ("connection", "database")
_SERVICE_STAGES = ("queue", "parse", "compute", "serialize")
