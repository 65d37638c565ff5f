"""Replies, complete except for the headers that the server adds: Date, Connection, Content-Length.

No reply may be cached, framed or read as another type. Replies are data, so a browser that shows
one may load and run nothing (Content-Security-Policy level 3, Fetch's nosniff); only the page for
the contract loads its own files. Errors have the contract's codes; a fault is also logged.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..codec.codec import Answer
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
NO_PATH = "no such path or strategy; GET /strategies lists the strategies"
NO_WORKER = "the service has no worker free for this request now"
NO_MEMORY = "the requests in flight hold the memory that this one needs"
STOPPING = "the service is stopping"
JSON = "application/json"
DATA_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
PAGE_HEADERS = {
    **DATA_HEADERS,
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; "
    "img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}
"""For Swagger UI: its style sheet has icons as data: images; the hash allows its logo's style."""
_JSON_HEADERS = {"Content-Type": JSON, **DATA_HEADERS}
_RETRY_LATER = {**_JSON_HEADERS, "Retry-After": "1"}
"""Headers of each 503. Requests take milliseconds to seconds, so a retry can succeed after 1 s."""
_LOG = logging.getLogger(__name__)


class RequestRefused(Exception):
    """A request that is refused for a reason outside its JSON."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        """`status` is needed only for a code that has several."""
        super().__init__(code, message)
        self.code, self.message, self.status = code, message, status


class Reply(NamedTuple):
    """A response. The framework calls `sent` when the connection has the body or has failed."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    sent: Callable[[], None] = lambda: None


def page(body: bytes, content_type: str = JSON, headers: Mapping[str, str] = DATA_HEADERS) -> Reply:
    """A page of the service, with status 200."""
    return Reply(200, {"Content-Type": content_type, **headers}, body)


def answer(body: bytes, server_timing: str, sent: Callable[[], None]) -> Reply:
    """The reply to a computed request."""
    headers = {**_JSON_HEADERS, "Server-Timing": server_timing}
    if isinstance(body, Answer):
        headers |= body.headers
    return Reply(200, headers, body, sent)


def error(
    code: str, message: str, request_id: str | int | None = None, status: int | None = None
) -> Reply:
    """An error in the contract's JSON; `status` is needed only for a code that has several."""
    status = status or STATUS_OF_CODE[code]
    headers = _RETRY_LATER if status == 503 else _JSON_HEADERS
    members = {"requestId": request_id, "errorCode": code, "errorMessage": message}
    body = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()
    return Reply(status, headers, body)


def unforeseen(
    failure: BaseException, has_changed_data: bool = False, request_id: str | int | None = None
) -> Reply:
    """Error 008 where memory was short, unless data may have been changed; otherwise error 099."""
    if isinstance(failure, MemoryError) and not has_changed_data:
        return error("008", NO_MEMORY)
    return error("099", FAULT, request_id)


def refusal(refused: RequestRefused) -> Reply:
    """The error reply to a refused request."""
    return error(refused.code, refused.message, status=refused.status)


def wrong_method(*allowed: str) -> Reply:
    """Error 009 with status 405; `allowed` are the path's methods."""
    methods = f"method {allowed[0]}" if len(allowed) == 1 else f"methods {' and '.join(allowed)}"
    reply = error("009", f"this path has the {methods} only", status=405)
    return reply._replace(headers={**reply.headers, "Allow": ", ".join(allowed)})


def log_fault(request_id: str | int | None, error: BaseException) -> None:
    """Log one line for the request and one for each line of code that the error passed."""
    # ascii() of an id, which has 128 characters at most, leaves no way to forge or break a line
    _LOG.error("request %a failed: %s", request_id, described(error))


def described(error: BaseException | None) -> str:
    """The types of an error and its causes, with the lines of code they passed, for the log.

    An error's text can contain values of a request, so only the service's own errors show it.
    """
    links = []
    while error is not None:
        ours = isinstance(error, WorkerDiedError | PoolFailedError)
        name = f"{type(error).__name__}: {error}" if ours else type(error).__name__
        links.append(name + places(error))
        error = error.__cause__
    return "\ncaused by ".join(links)
