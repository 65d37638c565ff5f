"""The one place that turns errors into responses."""

import json
import logging

from flask import Flask, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from .execution.faults import PoolFailedError, WorkerDiedError, places
from .workloads.workload import InvalidRequestError

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
    "099": 500,
}
"""Status of each code that has one status; 009 has several."""
MAX_MESSAGE_CHARACTERS = 300
RETRY_AFTER = {"Retry-After": "1"}
"""With every 008: requests take from milliseconds to seconds."""

_LOG = logging.getLogger(__name__)


class RefusedError(Exception):
    """A request that is refused for a reason outside its JSON."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        """The status is the code's own unless it has several."""
        super().__init__(code, message)
        self.code, self.message = code, message
        self.status = STATUS_OF_CODE[code] if status is None else status


class FaultError(Exception):
    """A stage failed by a fault of the service; the cause is its __cause__."""

    def __init__(self, request_id: str | int | None) -> None:
        """The id is None where it could not be read."""
        super().__init__(request_id)
        self.request_id = request_id


def handle_errors(app: Flask) -> None:
    """Give every error of the app the contract's form."""
    app.register_error_handler(InvalidRequestError, _invalid)
    app.register_error_handler(RefusedError, _refused)
    app.register_error_handler(FaultError, _fault)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _unforeseen)


def _invalid(error: InvalidRequestError) -> Response:
    return _response(STATUS_OF_CODE[error.code], error.code, error.message, error.request_id)


def _refused(error: RefusedError) -> Response:
    response = _response(error.status, error.code, error.message)
    if error.code == "008":
        response.headers.update(RETRY_AFTER)
    return response


def _fault(error: FaultError) -> Response:
    # ascii() of an id, which has 128 characters at most, leaves no way to forge or break a line
    _LOG.error("request %a failed: %s", error.request_id, described(error.__cause__))
    return _response(500, "099", "a fault of the service; its log says more", error.request_id)


def _http(error: HTTPException) -> Response:
    if isinstance(error, NotFound):
        return _response(404, "009", "no such path; GET /strategies lists the techniques")
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = _response(405, "009", f"wrong method; this path has {allowed}")
        response.headers["Allow"] = allowed
        return response
    if error.code is None or error.code >= 500:
        return _unforeseen(error)
    if error.code < 400:
        return Response(error.get_body(), error.code, dict(error.get_headers()))
    code = "007" if error.code == STATUS_OF_CODE["007"] else "002"
    return _response(error.code, code, f"the request is refused with status {error.code}")


def _unforeseen(error: Exception) -> Response:
    _LOG.error("request failed before its id was known: %s", described(error))
    return _response(500, "099", "a fault of the service; its log says more")


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


def error_body(code: str, message: str, request_id: str | int | None = None) -> bytes:
    """The contract's JSON for an error."""
    members = {
        "requestId": request_id,
        "errorCode": code,
        "errorMessage": message[:MAX_MESSAGE_CHARACTERS],
    }
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _response(
    status: int, code: str, message: str, request_id: str | int | None = None
) -> Response:
    return Response(error_body(code, message, request_id), status, mimetype="application/json")
