"""What comes of a right operation on the queues that a campaign has made.

Of any other queue all answers are right that some content of the database could give.
"""

from __future__ import annotations

import re

from .message_rules import NAME, TECHNIQUES
from .strict_json import quoted
from .verdict import STATUSES, Verdict

EMPTY, FULL, MISSING = "fuzz-empty", "fuzz-full", "fuzz-none"
"""Queues of skip-locked, the first always without a message; and one that nobody ever makes."""
OF_THE_CAMPAIGN = "skip-locked"
IN_OTHER_PROCESSES = ("process-per-request", "executor-per-request")
# Of what a service chooses itself, or others have sent.
ID = "[1-9][0-9]{0,18}"
NOBODY = "null"
BODY = r'"(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00[01][0-9a-f])+"'
"""A text of at least one character, escaped as JSON.stringify does."""

_NO_QUEUE = ("012", "queue: does not exist")
_USED = ("013", "key: was used before for another request")
_NO_KEYS = ("013", "key: the technique memory has no keys")
_NO_RECEIVERS = ("013", "receiver: the technique pgmq has no receivers")

Asked = dict[str, object]
"""The members, and what stands in path and query."""


def _listed(member: str, row: str, most: int) -> str:
    """An object with one member, an array of at most so many rows."""
    return rf'{{"{member}":\[(?:{row}(?:,{row}){{0,{most - 1}}})?\]}}'


class Answers:
    """Of one request to one strategy."""

    def __init__(self, strategy: str, request_id: str | int | None) -> None:
        """`request_id` is what the answer echoes."""
        self._id = request_id
        self._echo = quoted(str(request_id))
        self._is_elsewhere = strategy in IN_OTHER_PROCESSES
        self._strategy = strategy

    def of(self, operation: str, asked: Asked) -> Verdict:
        """The right answer, with others that are right too."""
        found: Verdict = getattr(self, f"_{operation}")(asked)
        return found

    def _create(self, asked: Asked) -> Verdict:
        name, technique = str(asked["queue"]), str(asked["technique"])
        if technique == "memory" and self._is_elsewhere:
            return self._refused(self._of_one_process())
        made = f'{{"requestId":{self._echo},"queue":"{name}","technique":"{technique}","created":'
        if name not in {EMPTY, FULL}:
            others = [("013", f"queue: exists with the technique {it}") for it in TECHNIQUES]
            pattern = re.escape(made) + "(true|false)}"
            return self._one_of(pattern, *(it for it in others if not it[1].endswith(technique)))
        if technique != OF_THE_CAMPAIGN:
            return self._refused(("013", f"queue: exists with the technique {OF_THE_CAMPAIGN}"))
        return self._exactly(made + "false}")

    def _list(self, asked: Asked) -> Verdict:
        row = f'{{"queue":"{NAME}","technique":"({"|".join(TECHNIQUES)})"}}'
        return self._one_of(_listed("queues", row, int(str(asked["limit"]))))

    def _count(self, asked: Asked) -> Verdict:
        name = str(asked["queue"])
        if name == EMPTY:
            counted = f'{{"queue":"{EMPTY}","technique":"{OF_THE_CAMPAIGN}","messages":0}}'
            return self._exactly(counted)
        technique = OF_THE_CAMPAIGN if name == FULL else f"({'|'.join(TECHNIQUES)})"
        pattern = f'{{"queue":"{name}","technique":"{technique}","messages":(0|{ID})}}'
        return self._of_queue(name, pattern)

    def _delete_queue(self, asked: Asked) -> Verdict:
        name = str(asked["queue"])
        if name == MISSING:
            return self._exactly(f'{{"queue":"{name}","deleted":false}}')
        return self._one_of(f'{{"queue":"{name}","deleted":(true|false)}}', *self._elsewhere())

    def _send(self, asked: Asked) -> Verdict:
        others = [_USED] if "key" in asked else []
        pattern = f'{{"requestId":{re.escape(self._echo)},"id":{ID}}}'
        return self._of_queue(str(asked["queue"]), pattern, asked, *others)

    def _broadcast(self, asked: Asked) -> Verdict:
        names = asked["queues"]
        assert isinstance(names, list)  # noqa: S101 - it was checked
        ids = ",".join([ID] * len(names))
        pattern = rf'{{"requestId":{re.escape(self._echo)},"ids":\[{ids}\]}}'
        used = [_USED] if "key" in asked else []
        unknown = [place for place, it in enumerate(names) if it not in {EMPTY, FULL}]
        missing = [("012", f"queues[{place}]: does not exist") for place in unknown]
        if not unknown:
            return self._one_of(pattern, *used)
        if names[unknown[0]] == MISSING:
            return self._refused(missing[0], *used)
        mixed = ("013", "queues: must be of one technique")
        return self._one_of(pattern, *missing, mixed, _NO_KEYS, *used, *self._elsewhere())

    def _peek(self, asked: Asked) -> Verdict:
        name, receiver = str(asked["queue"]), asked["receiver"]
        if name == EMPTY:
            return self._exactly('{"messages":[]}')
        told = NOBODY if receiver is None else receiver
        row = f'{{"id":{ID},"sender":{ID},"receiver":{told},"body":{BODY},"sentAt":{ID}}}'
        return self._of_queue(name, _listed("messages", row, int(str(asked["limit"]))), asked)

    def _pop(self, asked: Asked) -> Verdict:
        name = str(asked["queue"])
        used = [_USED] if "key" in asked else []
        nothing = f'{{"requestId":{self._echo},"id":null}}'
        if name == EMPTY:
            return self._exactly(nothing, *used)
        told = asked.get("receiver") or NOBODY
        members = f'"sender":{ID},"receiver":{told},"body":{BODY},"sentAt":{ID}'
        taken = f'{{"requestId":{re.escape(self._echo)},"id":{ID},{members}}}'
        return self._of_queue(name, f"{taken}|{re.escape(nothing)}", asked, *used)

    def _delete_message(self, asked: Asked) -> Verdict:
        name, message = str(asked["queue"]), asked["id"]
        if name == EMPTY:
            return self._exactly(f'{{"id":{message},"deleted":false}}')
        return self._of_queue(name, f'{{"id":{message},"deleted":(true|false)}}')

    def _of_queue(
        self, name: str, pattern: str, asked: Asked | None = None, *others: tuple[str, str]
    ) -> Verdict:
        """What depends on whether the queue is there, and of which technique it is."""
        if name == MISSING:
            return self._refused(_NO_QUEUE, *others)
        if name in {EMPTY, FULL}:
            return self._one_of(pattern, *others)
        asked = asked or {}
        found = [*others, _NO_QUEUE, *self._elsewhere()]
        found += [_NO_KEYS] if "key" in asked else []
        found += [_NO_RECEIVERS] if asked.get("receiver") is not None else []
        return self._one_of(pattern, *found)

    def _elsewhere(self) -> list[tuple[str, str]]:
        return [self._of_one_process()] if self._is_elsewhere else []

    def _of_one_process(self) -> tuple[str, str]:
        return "003", f"technique: memory is not offered under {self._strategy}"

    def _refused(self, error: tuple[str, str], *others: tuple[str, str]) -> Verdict:
        code, text = error
        rest = tuple(self._refused(it) for it in others)
        return Verdict(code, STATUSES[code], self._id, messages=frozenset({text}), or_else=rest)

    def _exactly(self, text: str, *others: tuple[str, str]) -> Verdict:
        rest = tuple(self._refused(it) for it in others)
        return Verdict("ok", STATUSES["ok"], self._id, product=text.encode(), or_else=rest)

    def _one_of(self, pattern: str, *others: tuple[str, str]) -> Verdict:
        rest = tuple(self._refused(it) for it in others)
        return Verdict("ok", STATUSES["ok"], self._id, pattern=pattern, or_else=rest)
