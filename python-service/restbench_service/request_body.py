"""The bytes of a request's body, never more than the limit, each held before it is read."""

from flask import Request
from gunicorn.http.errors import ParseException

from .errors import RefusedError
from .memory_budget import Hold

STEP_BYTES, STEP_BYTES_OF_UNKNOWN_LENGTH = 1024 * 1024, 64 * 1024
"""Read at a time. As much memory at most is held for a body ahead of what has come: a sender that
promises much and sends little costs little."""


class RequestBody:
    """What the client sends after the head, chunked or with a length that it declares.

    Werkzeug's own limit would cut a chunked body off in silence, so its stream is not used.
    """

    def __init__(self, request: Request, limit_bytes: int, hold: Hold) -> None:
        """Raises RefusedError 007 for one that says it is too large: it is not read."""
        self._stream, self._limit_bytes, self._hold = (
            request.environ["wsgi.input"],
            limit_bytes,
            hold,
        )
        self.declared_bytes = request.content_length
        """None where it is not said."""
        if self.declared_bytes is not None and self.declared_bytes > limit_bytes:
            raise self._too_large()

    def read(self) -> bytes:
        """The whole of it.

        Raises RefusedError 007 one byte past the limit, 008 where the hold cannot grow with it,
        002 where it does not come whole and in time.
        """
        try:
            body = self._read()
        except TimeoutError as error:
            raise RefusedError("002", f"the body could not be received {error}") from error
        except (OSError, ParseException) as error:  # gunicorn's own errors of chunks are among them
            raise RefusedError("002", "the body could not be received whole") from error
        if self.declared_bytes is not None and len(body) < self.declared_bytes:
            raise RefusedError("002", f"the body ends after {len(body)} bytes")
        self._hold.resize(len(body))
        return body

    def _read(self) -> bytes:
        declared = self.declared_bytes
        most = self._limit_bytes + 1 if declared is None else declared
        step = STEP_BYTES_OF_UNKNOWN_LENGTH if declared is None else STEP_BYTES
        pieces, received = list[bytes](), 0
        while received < most:
            self._hold.resize(min(received + step, most))
            piece = self._stream.read(min(step, most - received))
            if not piece:
                break
            pieces.append(piece)
            received += len(piece)
        if received > self._limit_bytes:
            raise self._too_large()
        return b"".join(pieces)  # of one piece, as usual, no copy

    def _too_large(self) -> RefusedError:
        return RefusedError("007", f"the body is larger than {self._limit_bytes} bytes")
