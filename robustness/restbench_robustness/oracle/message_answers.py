"""What comes of a right operation on the queues that a campaign has made.

Of any other queue all answers are right that some content of the database could give.
"""

from __future__ import annotations

from re import escape

from .strict_json import quoted
from .verdict import STATUSES, Verdict

TECHNIQUES = (
    "skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq",
    "memory",
)  # fmt: skip
NAME = "[a-z][a-z0-9_-]{0,62}"
EMPTY, FULL, MISSING = "fuzz-empty", "fuzz-full", "fuzz-none"
"""Queues of skip-locked, the first always without a message; and one that nobody ever makes."""
OF_THE_CAMPAIGN = "skip-locked"
IN_OTHER_PROCESSES = ("process-per-request", "executor-per-request")
# Of what a service chooses itself, or others have sent.
ID = "[1-9][0-9]{0,18}"
ANY_TECHNIQUE = f"({'|'.join(TECHNIQUES)})"
BODY = r'"(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00[01][0-9a-f])+"'
"""A text of at least one character, escaped as JSON.stringify does."""

Error = tuple[str, str]
"""Code and message."""
_NO_QUEUE = ("012", "queue: does not exist")
_USED = ("013", "key: was used before for another request")
_NO_KEYS = ("013", "key: the technique memory has no keys")
_NO_RECEIVERS = ("013", "receiver: the technique pgmq has no receivers")

Asked = dict[str, object]
"""The members, and what stands in path and query."""


def _listed(member: str, row: str, most: object) -> str:
    """An object with one member, an array of at most so many rows."""
    return rf'{{"{member}":\[(?:{row}(?:,{row}){{0,{int(str(most)) - 1}}})?\]}}'


class Answers:
    """Of one request to one strategy."""

    def __init__(self, strategy: str, request_id: str | int | None) -> None:
        """`request_id` is what the answer echoes."""
        self._id = request_id
        self._begin = f'{{"requestId":{quoted(str(request_id))},'
        one_process = ("003", f"technique: memory is not offered under {strategy}")
        self._elsewhere = [one_process] if strategy in IN_OTHER_PROCESSES else []

    def of(self, operation: str, asked: Asked) -> Verdict:
        """The right answer, with others that are right too."""
        queue = str(asked.get("queue"))
        used = [_USED] if "key" in asked else []
        found: Verdict = getattr(self, f"_{operation}")(queue, asked, used)
        return found

    def _create(self, queue: str, asked: Asked, _used: list[Error]) -> Verdict:
        technique = str(asked["technique"])
        if technique == "memory" and self._elsewhere:
            return self._refused(*self._elsewhere)
        made = f'{self._begin}"queue":"{queue}","technique":"{technique}","created":'
        if queue not in {EMPTY, FULL}:
            others = [it for it in TECHNIQUES if it != technique]
            return self._one_of(escape(made) + "(true|false)}", *map(_exists_with, others))
        if technique != OF_THE_CAMPAIGN:
            return self._refused(_exists_with(OF_THE_CAMPAIGN))
        return self._exactly(made + "false}")

    def _list(self, _queue: str, asked: Asked, _used: list[Error]) -> Verdict:
        row = f'{{"queue":"{NAME}","technique":"{ANY_TECHNIQUE}"}}'
        return self._one_of(_listed("queues", row, asked["limit"]))

    def _count(self, queue: str, asked: Asked, _used: list[Error]) -> Verdict:
        if queue == EMPTY:
            counted = f'{{"queue":"{EMPTY}","technique":"{OF_THE_CAMPAIGN}","messages":0}}'
            return self._exactly(counted)
        technique = OF_THE_CAMPAIGN if queue == FULL else ANY_TECHNIQUE
        pattern = f'{{"queue":"{queue}","technique":"{technique}","messages":(0|{ID})}}'
        return self._of_queue(queue, pattern, asked)

    def _delete_queue(self, queue: str, _asked: Asked, _used: list[Error]) -> Verdict:
        if queue == MISSING:
            return self._exactly(f'{{"queue":"{queue}","deleted":false}}')
        return self._one_of(f'{{"queue":"{queue}","deleted":(true|false)}}', *self._elsewhere)

    def _send(self, queue: str, asked: Asked, used: list[Error]) -> Verdict:
        return self._of_queue(queue, f'{escape(self._begin)}"id":{ID}}}', asked, *used)

    def _broadcast(self, _queue: str, asked: Asked, used: list[Error]) -> Verdict:
        names = asked["queues"]
        assert isinstance(names, list)  # noqa: S101 - it was checked
        pattern = rf'{escape(self._begin)}"ids":\[{",".join([ID] * len(names))}\]}}'
        unknown = [place for place, it in enumerate(names) if it not in {EMPTY, FULL}]
        missing = [("012", f"queues[{place}]: does not exist") for place in unknown]
        if not unknown:
            return self._one_of(pattern, *used)
        if names[unknown[0]] == MISSING:
            return self._refused(missing[0], *used)
        mixed = ("013", "queues: must be of one technique")
        return self._one_of(pattern, *missing, mixed, _NO_KEYS, *used, *self._elsewhere)

    def _peek(self, queue: str, asked: Asked, _used: list[Error]) -> Verdict:
        if queue == EMPTY:
            return self._exactly('{"messages":[]}')
        return self._of_queue(queue, _listed("messages", _message(asked), asked["limit"]), asked)

    def _pop(self, queue: str, asked: Asked, used: list[Error]) -> Verdict:
        nothing = f'{self._begin}"id":null}}'
        if queue == EMPTY:
            return self._exactly(nothing, *used)
        taken = escape(self._begin) + _message(asked).removeprefix("{")
        return self._of_queue(queue, f"{taken}|{escape(nothing)}", asked, *used)

    def _delete_message(self, queue: str, asked: Asked, _used: list[Error]) -> Verdict:
        message = asked["id"]
        if queue == EMPTY:
            return self._exactly(f'{{"id":{message},"deleted":false}}')
        return self._of_queue(queue, f'{{"id":{message},"deleted":(true|false)}}', asked)

    def _of_queue(self, name: str, pattern: str, asked: Asked, *others: Error) -> Verdict:
        """What depends on whether the queue is there, and of which technique it is."""
        if name == MISSING:
            return self._refused(_NO_QUEUE, *others)
        if name in {EMPTY, FULL}:
            return self._one_of(pattern, *others)
        found = [*others, _NO_QUEUE, *self._elsewhere]
        found += [_NO_KEYS] if "key" in asked else []
        found += [_NO_RECEIVERS] if asked.get("receiver") is not None else []
        return self._one_of(pattern, *found)

    def _refused(self, error: Error, *others: Error) -> Verdict:
        code, text = error
        rest = tuple(map(self._refused, others))
        return Verdict(code, STATUSES[code], self._id, messages=frozenset({text}), or_else=rest)

    def _exactly(self, text: str, *others: Error) -> Verdict:
        rest = tuple(map(self._refused, others))
        return Verdict("ok", 200, self._id, product=text.encode(), or_else=rest)

    def _one_of(self, pattern: str, *others: Error) -> Verdict:
        rest = tuple(map(self._refused, others))
        return Verdict("ok", 200, self._id, pattern=pattern, or_else=rest)


def _exists_with(technique: str) -> Error:
    return "013", f"queue: exists with the technique {technique}"


def _message(asked: Asked) -> str:
    """As it is peeked and popped."""
    receiver = asked.get("receiver") or "null"
    return f'{{"id":{ID},"sender":{ID},"receiver":{receiver},"body":{BODY},"sentAt":{ID}}}'
