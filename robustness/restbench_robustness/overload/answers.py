"""The only right answers to a request, and what a real answer is judged to be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from restbench_robustness.answer import Answer


class Verdict(StrEnum):
    """What became of one request."""

    RIGHT = "right"
    """200 with the exact product, or the contract's error for a body that deserves it."""
    REFUSED = "refused"
    """503 with code 008 and Retry-After."""
    FAULT = "fault"
    """500 with code 099."""
    LOST = "lost"
    """The connection was refused, closed or reset before a whole answer had come."""
    HUNG = "hung"
    """No whole answer within the stated time."""
    WRONG = "wrong"
    """Anything else."""


@dataclass(frozen=True)
class Right:
    """The right answer: the whole body where `rows` is given, else status and error code."""

    status: int
    request_id: int
    code: str = ""
    rows: bytes = b""

    def __call__(self, answer: Answer) -> Verdict:
        """What this answer to the request is."""
        if answer.status == 503:
            return Verdict.REFUSED if _refused(answer) else Verdict.WRONG
        if answer.status == 500 and _told(answer).get("errorCode") == "099":
            return Verdict.FAULT
        return Verdict.RIGHT if self._is(answer) else Verdict.WRONG

    def _is(self, answer: Answer) -> bool:
        if answer.status != self.status:
            return False
        if self.rows:
            head = b'{"requestId":"%d","rows":' % self.request_id
            return answer.body == b"".join((head, self.rows, b"}"))
        echoed = None if self.code == "002" else self.request_id
        told = _told(answer)
        return (told.get("errorCode"), told.get("requestId", "missing")) == (self.code, echoed)


def _refused(answer: Answer) -> bool:
    later = answer.headers.get("retry-after", "")
    return _told(answer).get("errorCode") == "008" and later.isdigit() and int(later) >= 1


def _told(answer: Answer) -> dict[str, Any]:
    try:
        told = json.loads(answer.body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
