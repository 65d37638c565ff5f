"""The right answers to a valid operation on the queues that a campaign has created.

For any other queue, each answer is right that some content of the database could explain.
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
"""EMPTY and FULL are queues of skip-locked; EMPTY never has a message. MISSING is never created."""
OF_THE_CAMPAIGN = "skip-locked"
IN_OTHER_PROCESSES = ("process-per-request", "executor-per-request")
# Patterns for values that the service chooses, or that other messages determine.
ID = "[1-9][0-9]{0,18}"
ANY_TECHNIQUE = f"({'|'.join(TECHNIQUES)})"
BODY = r'"(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00[01][0-9a-f])+"'
"""A JSON string of at least one character, escaped as by JSON.stringify."""

Error = tuple[str, str]
"""Error code and error message."""
_NO_QUEUE = ("012", "queue: does not exist")
_USED = ("013", "key: was used before for another request")
_NO_KEYS = ("013", "key: the technique memory has no keys")
_NO_RECEIVERS = ("013", "receiver: the technique pgmq has no receivers")

Asked = dict[str, object]
"""The parameters of an operation by name, from the members, the path and the query."""


class Answers:
    """The right answers to one request to one strategy.

    A `form` is a regular expression that the whole body of a 200 matches.
    """

    def __init__(self, strategy: str, request_id: str | int | None) -> None:
        """`request_id`: the id that the answer echoes."""
        self._id = request_id
        self._begin = escape(f'{{"requestId":{quoted(str(request_id))},')
        one_process = ("003", f"technique: memory is not offered under {strategy}")
        self._elsewhere = [one_process] if strategy in IN_OTHER_PROCESSES else []

    def of(self, operation: str, asked: Asked) -> Verdict:
        """The verdict, with alternatives that are right as well."""
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
        assert isinstance(names, list)  # noqa: S101 - checked before
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
        """The verdict for an operation on one queue. Alternatives depend on whether the queue
        exists, and on its technique."""
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
    """A pattern for a message in the answer to peek or pop, without the opening brace."""
    receiver = asked.get("receiver") or "null"
    return f'"id":{ID},"sender":{ID},"receiver":{receiver},"body":{BODY},"sentAt":{ID}}}'


def _listed(member: str, row: str, most: object) -> str:
    """A pattern for an object with one member, an array of at most `most` rows."""
    rows = f"(?:{row}(?:,{row}){{0,{int(str(most)) - 1}}})?" if most else ""
    return rf'{{"{member}":\[{rows}\]}}'
