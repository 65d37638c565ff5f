"""Errors as the contract has them: codes, status, the JSON, and what the log tells of a fault."""

import json
import logging

from ..execution.faults import PoolFailedError, WorkerDiedError, places

STATUS_OF_CODE = {
    "001": 422,
    "002": 400,
    "003": 422,
    "004": 422,
    "005": 422,
    "006": 422,
    "007": 413,
    "008": 503,
    "010": 413,
    "011": 413,
    "012": 404,
    "013": 409,
    "014": 503,
    "015": 503,
    "099": 500,
}
"""Status of each code that has one status; 009 has several."""
FAULT = "a fault of the service; its log says more"
MAX_MESSAGE_CHARACTERS = 300

_LOG = logging.getLogger(__name__)


class Refused(Exception):
    """A request that is refused for a reason outside its JSON."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        """The status is the code's own unless it has several."""
        super().__init__(code, message)
        self.code, self.message, self.status = code, message, status


def error_body(code: str, message: str, request_id: str | int | None = None) -> bytes:
    """The contract's JSON for an error."""
    members = {
        "requestId": request_id,
        "errorCode": code,
        "errorMessage": message[:MAX_MESSAGE_CHARACTERS],
    }
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def log_fault(request_id: str | int | None, error: BaseException) -> None:
    """One line for the request and one for each place the error came through."""
    # ascii() of an id, which has 128 characters at most, leaves no way to forge or break a line
    _LOG.error("request %a failed: %s", request_id, described(error))


def described(error: BaseException | None) -> str:
    """What is wrong and where, for the log: types and lines of code.

    Not the text of an error, in which there may be values of a request, except for our own.
    """
    links = []
    while error is not None:
        ours = isinstance(error, WorkerDiedError | PoolFailedError)
        name = f"{type(error).__name__}: {error}" if ours else type(error).__name__
        links.append(name + places(error))
        error = error.__cause__
    return "\ncaused by ".join(links)
