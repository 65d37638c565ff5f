"""One client's connection, from one request to the next."""

import socket
from contextlib import suppress
from enum import Enum, auto
from typing import Any

from gunicorn.http.errors import ParseException

from .timed_socket import TimedSocket

MAX_HEAD_BYTES = 64 * 1024
"""Request line and headers. A benchmark's have some 200 bytes; gunicorn's own limit is 820 kB."""
_PIECE_BYTES = 64 * 1024
_END_OF_HEAD = b"\r\n\r\n"


class Head(Enum):
    """How far the head of the next request has come."""

    NOTHING = auto()
    PART = auto()
    WHOLE = auto()
    TOO_LARGE = auto()
    GONE = auto()
    """The client has closed the connection."""


class Connection:
    """Collects a request's head without waiting, so that a slow sender occupies no thread.

    `deadline` is when the loop gives up waiting for the client, who is expected to send a request,
    or, where `is_idle`, may send another one, or, where it `lingers`, to close the connection.
    """

    def __init__(
        self, connection: socket.socket, sock: TimedSocket, parser: Any, client: Any, server: Any
    ) -> None:
        """`parser` is gunicorn's for `sock`; `client` and `server` are addresses."""
        self._connection = connection
        self.sock, self.parser, self.client, self.server = sock, parser, client, server
        self.waits_since = self.deadline = 0.0
        self.is_idle = self.lingers = False
        self._head = bytearray()

    @property
    def has_begun(self) -> bool:
        """Whether a part of a request has come."""
        return bool(self._head)

    def fileno(self) -> int:
        """For the loop's selector."""
        return self._connection.fileno()

    def receive_head(self, seconds: float = 0) -> Head:
        """Take what has come, or comes first within the time.

        Once the head is WHOLE the parser has it, and what came after.
        """
        try:
            piece = self.sock.receive_soon(_PIECE_BYTES, seconds)
        except BlockingIOError:
            return self._progress(0)
        except OSError:
            return Head.GONE
        if not piece:
            return Head.GONE
        searched = len(self._head)
        self._head += piece
        return self._progress(searched)

    def next_head(self, seconds: float) -> Head:
        """After a response: what has come of the next request, or comes within the time."""
        self._head += self.parser.unreader.take_buffered()
        head = self._progress(0)
        return self.receive_head(seconds) if head is Head.NOTHING and seconds else head

    def finish_body(self, limit_bytes: int) -> bool:
        """Read and drop what is left of the request's body, so that the next can be read.

        False where it is too much, comes too late or is malformed: the connection is of no more
        use then.
        """
        body = self.parser.mesg.body
        left = limit_bytes
        if body.failed or getattr(body.reader, "length", 0) > limit_bytes:
            return False
        with suppress(ParseException, OSError):  # the response is sent: this is no matter for one
            while left >= 0:
                piece = body.read(_PIECE_BYTES)
                if not piece:
                    return True
                left -= len(piece)
        return False

    def offer(self, response: bytes) -> None:
        """Send a short response without waiting; a client that cannot take it gets none."""
        with suppress(OSError):
            self._connection.send(response, socket.MSG_DONTWAIT)

    def end_sending(self) -> bool:
        """Our end of the connection; False if the client has closed its end before.

        To close at once would make the kernel throw away an answer that is still on its way to a
        client who is still sending (RFC 9112, section 9.6).
        """
        self.lingers = True
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            return False
        return True

    def drop_what_comes(self) -> bool:
        """Whether the client may still be sending."""
        try:
            return self.sock.receive_what_is_there(_PIECE_BYTES) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()

    def _progress(self, searched: int) -> Head:
        if self._head.find(_END_OF_HEAD, max(0, searched - len(_END_OF_HEAD) + 1)) >= 0:
            self.parser.unreader.unread(bytes(self._head))
            self._head.clear()
            return Head.WHOLE
        if len(self._head) > MAX_HEAD_BYTES:
            return Head.TOO_LARGE
        return Head.PART if self._head else Head.NOTHING
