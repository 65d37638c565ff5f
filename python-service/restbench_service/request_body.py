"""The bytes of a request's body, never more than the limit."""

from flask import Request

from .errors import RefusedError


def check_declared_length(request: Request, limit_bytes: int) -> None:
    """Refuse a body that says it is too large without reading it. Raises RefusedError 007."""
    if request.content_length is not None and request.content_length > limit_bytes:
        raise _too_large(limit_bytes)


def read_body(request: Request, limit_bytes: int) -> bytes:
    """The whole body, chunked ones too. Raises RefusedError 007 one byte past the limit.

    Werkzeug's own limit would cut a chunked body off in silence, so its stream is not used.
    """
    body: bytes = request.environ["wsgi.input"].read(limit_bytes + 1)
    if len(body) > limit_bytes:
        raise _too_large(limit_bytes)
    return body


def _too_large(limit_bytes: int) -> RefusedError:
    return RefusedError("007", f"the body is larger than {limit_bytes} bytes")
