"""The bytes of a request's body, never more than the limit, each held before it is read."""

from io import BytesIO

from flask import Request
from gunicorn.http.errors import ParseException

from .errors import RefusedError
from .memory_budget import Hold

STEP_BYTES, STEP_BYTES_OF_UNKNOWN_LENGTH = 1024 * 1024, 64 * 1024
"""Read at a time. As much memory at most is held for a body ahead of what has come: a sender that
promises much and sends little costs little."""


def check_declared_length(request: Request, limit_bytes: int) -> None:
    """Refuse a body that says it is too large without reading it. Raises RefusedError 007."""
    if request.content_length is not None and request.content_length > limit_bytes:
        raise _too_large(limit_bytes)


def read_body(request: Request, limit_bytes: int, hold: Hold) -> bytes:
    """The whole body, chunked ones too.

    Raises RefusedError 007 one byte past the limit, 008 where `hold` cannot grow with it, 002 where
    it does not come whole and in time. Werkzeug's own limit would cut a chunked body off in
    silence, so its stream is not used.
    """
    try:
        body = _read(request, limit_bytes, hold)
    except TimeoutError as error:
        raise RefusedError("002", f"the body could not be received {error}") from error
    except (OSError, ParseException) as error:  # gunicorn's own errors of chunks are among them
        raise RefusedError("002", "the body could not be received whole") from error
    if request.content_length is not None and len(body) < request.content_length:
        raise RefusedError("002", f"the body ends after {len(body)} bytes")
    hold.resize(len(body))
    return body


def _read(request: Request, limit_bytes: int, hold: Hold) -> bytes:
    stream, declared = request.environ["wsgi.input"], request.content_length
    most, body = limit_bytes + 1 if declared is None else declared, BytesIO()
    step = STEP_BYTES_OF_UNKNOWN_LENGTH if declared is None else STEP_BYTES
    while (received := body.tell()) < most:
        hold.resize(min(received + step, most))
        piece = stream.read(min(step, most - received))
        if not piece:
            break
        body.write(piece)
    if received > limit_bytes:
        raise _too_large(limit_bytes)
    return body.getvalue()


def _too_large(limit_bytes: int) -> RefusedError:
    return RefusedError("007", f"the body is larger than {limit_bytes} bytes")
