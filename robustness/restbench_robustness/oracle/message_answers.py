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


class Answers:
    """Of one request to one strategy; each form is an expression that the whole body matches."""

    def __init__(self, strategy: str, request_id: str | int | None) -> None:
        """`request_id` is what the answer echoes."""
        self._id = request_id
        self._begin = escape(f'{{"requestId":{quoted(str(request_id))},')
        one_process = ("003", f"technique: memory is not offered under {strategy}")
        self._elsewhere = [one_process] if strategy in IN_OTHER_PROCESSES else []

    def of(self, operation: str, asked: Asked) -> Verdict:
        """The right answer, with others that are right too."""
        queue, is_empty = str(asked.get("queue")), asked.get("queue") == EMPTY
        match operation:
            case "create":
                return self._created(queue, str(asked["technique"]))
            case "broadcast":
                return self._broadcast(asked)
            case "list":
                row = f'{{"queue":"{NAME}","technique":"{ANY_TECHNIQUE}"}}'
                return self._right(_listed("queues", row, asked["limit"]))
            case "delete_queue" if queue == MISSING:
                return self._right(f'{{"queue":"{queue}","deleted":false}}')
            case "delete_queue":
                form = f'{{"queue":"{queue}","deleted":(true|false)}}'
                return self._right(form, *self._elsewhere)
            case "count":
                technique = OF_THE_CAMPAIGN if queue in {EMPTY, FULL} else ANY_TECHNIQUE
                number = "0" if is_empty else f"(0|{ID})"
                form = f'{{"queue":"{queue}","technique":"{technique}","messages":{number}}}'
            case "send":
                form = f'{self._begin}"id":{ID}}}'
            case "peek":
                row = "{" + _message(asked)
                form = _listed("messages", row, 0 if is_empty else asked["limit"])
            case "pop":
                taken = "" if is_empty else f"|{_message(asked)}"
                form = f'{self._begin}("id":null}}{taken})'
            case _:  # delete_message
                deleted = "false" if is_empty else "(true|false)"
                form = f'{{"id":{asked["id"]},"deleted":{deleted}}}'
        return self._of_queue(queue, form, asked)

    def _created(self, queue: str, technique: str) -> Verdict:
        if technique == "memory" and self._elsewhere:
            return self._refused(*self._elsewhere)
        made = f'{self._begin}"queue":"{queue}","technique":"{technique}","created":'
        if queue not in {EMPTY, FULL}:
            others = [it for it in TECHNIQUES if it != technique]
            return self._right(made + "(true|false)}", *map(_exists_with, others))
        if technique != OF_THE_CAMPAIGN:
            return self._refused(_exists_with(OF_THE_CAMPAIGN))
        return self._right(made + "false}")

    def _broadcast(self, asked: Asked) -> Verdict:
        names, used = asked["queues"], [_USED] if "key" in asked else []
        assert isinstance(names, list)  # noqa: S101 - it was checked
        form = rf'{self._begin}"ids":\[{",".join([ID] * len(names))}\]}}'
        unknown = [place for place, it in enumerate(names) if it not in {EMPTY, FULL}]
        missing = [("012", f"queues[{place}]: does not exist") for place in unknown]
        if not unknown:
            return self._right(form, *used)
        if names[unknown[0]] == MISSING:
            return self._refused(missing[0], *used)
        mixed = ("013", "queues: must be of one technique")
        return self._right(form, *missing, mixed, _NO_KEYS, *used, *self._elsewhere)

    def _of_queue(self, name: str, form: str, asked: Asked) -> Verdict:
        """What depends on whether the queue is there, and of which technique it is."""
        found = [_USED] if "key" in asked else []
        if name == MISSING:
            return self._refused(_NO_QUEUE, *found)
        if name not in {EMPTY, FULL}:
            found += [_NO_QUEUE, *self._elsewhere]
            found += [_NO_KEYS] if "key" in asked else []
            found += [_NO_RECEIVERS] if asked.get("receiver") is not None else []
        return self._right(form, *found)

    def _refused(self, error: Error, *others: Error) -> Verdict:
        code, text = error
        rest = tuple(map(self._refused, others))
        return Verdict(code, STATUSES[code], self._id, messages=frozenset({text}), or_else=rest)

    def _right(self, form: str, *others: Error) -> Verdict:
        rest = tuple(map(self._refused, others))
        return Verdict("ok", 200, self._id, pattern=form, or_else=rest)


def _exists_with(technique: str) -> Error:
    return "013", f"queue: exists with the technique {technique}"


def _message(asked: Asked) -> str:
    """As it is peeked and popped, from its first member on."""
    receiver = asked.get("receiver") or "null"
    return f'"id":{ID},"sender":{ID},"receiver":{receiver},"body":{BODY},"sentAt":{ID}}}'


def _listed(member: str, row: str, most: object) -> str:
    """An object with one member, an array of at most so many rows."""
    rows = f"(?:{row}(?:,{row}){{0,{int(str(most)) - 1}}})?" if most else ""
    return rf'{{"{member}":\[{rows}\]}}'
