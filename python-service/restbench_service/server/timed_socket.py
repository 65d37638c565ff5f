"""A client's socket as gunicorn's parser and responses use it, with a deadline for each direction.

The deadlines are the kernel's (SO_RCVTIMEO, SO_SNDTIMEO): a socket with Python's timeout polls
before each call, which gives the interpreter lock away once more, and threads that compute keep it
for 5 ms each time (sys.getswitchinterval).
"""

import math
import socket
import struct
from time import monotonic

RECEIVE_TIMEOUT = "in time (RESTBENCH_RECEIVE_TIMEOUT_SECONDS)"
SEND_TIMEOUT = "in time (RESTBENCH_SEND_TIMEOUT_SECONDS)"
"""The texts of their TimeoutErrors."""
_LATEST = 2
"""Receive timeouts after which a request is given up even if something of it is always there."""
_TIMEVAL = struct.Struct("ll")  # seconds, microseconds: struct timeval of 64-bit Linux


class TimedSocket:
    """Blocking reads until `receive_by`, writes of at most `send_seconds` each."""

    def __init__(self, connection: socket.socket, send_seconds: float) -> None:
        """The connection is in blocking mode and stays so."""
        self._connection = connection
        self._send_seconds = send_seconds
        self.receive_by = math.inf
        """When receiving ends, on the monotonic clock."""
        self._receive_latest = math.inf

    def receive_within(self, seconds: float) -> None:
        """From now on."""
        now = monotonic()
        self.receive_by, self._receive_latest = now + seconds, now + _LATEST * seconds

    def recv(self, size: int) -> bytes:
        """As socket.recv. Raises TimeoutError where it would have to wait beyond `receive_by`.

        What has come is given even later: then it is we who are slow. But not for ever, or a client
        that sends without end, a byte of body in KiB of chunk extensions, would never be late.
        """
        if monotonic() > self._receive_latest:
            raise TimeoutError(RECEIVE_TIMEOUT)
        try:
            return self.receive_what_is_there(size)
        except BlockingIOError:
            self._set_timeout(socket.SO_RCVTIMEO, self.receive_by)
        try:
            return self._connection.recv(size)
        except BlockingIOError:
            raise TimeoutError(RECEIVE_TIMEOUT) from None

    def receive_soon(self, size: int, seconds: float) -> bytes:
        """As recv, with a time of its own. Raises BlockingIOError where nothing comes in it."""
        if not seconds:
            return self.receive_what_is_there(size)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(seconds))
        return self._connection.recv(size)

    def receive_what_is_there(self, size: int) -> bytes:
        """As recv, without waiting. Raises BlockingIOError where nothing is there."""
        return self._connection.recv(size, socket.MSG_DONTWAIT)

    def send(self, data: bytes) -> int:
        """As socket.send. Raises TimeoutError."""
        self.sendall(data)
        return len(data)

    def sendall(self, data: bytes) -> None:
        """As socket.sendall. Raises TimeoutError for a client that does not take it in time."""
        rest = memoryview(data)
        rest = rest[self._send_what_is_taken(rest) :]
        send_by = monotonic() + self._send_seconds
        while rest:
            self._set_timeout(socket.SO_SNDTIMEO, send_by)
            try:
                rest = rest[self._connection.send(rest) :]
            except BlockingIOError:
                raise TimeoutError(SEND_TIMEOUT) from None

    def _send_what_is_taken(self, data: memoryview) -> int:
        """Without waiting; usually that is all, and no deadline has to be set."""
        try:
            return self._connection.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def has_peer(self) -> bool:
        """False once the client has closed its end, or only its sending half.

        A look at what has arrived, which takes nothing away: the end of the stream means so.
        """
        try:
            return self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def _set_timeout(self, direction: int, deadline: float) -> None:
        remaining = deadline - monotonic()
        if remaining <= 0:
            raise TimeoutError(RECEIVE_TIMEOUT if direction == socket.SO_RCVTIMEO else SEND_TIMEOUT)
        if remaining < math.inf:
            self._connection.setsockopt(socket.SOL_SOCKET, direction, _timeval(remaining))


def _timeval(seconds: float) -> bytes:
    """Never none at all, which would mean to wait without end."""
    whole, fraction = divmod(seconds, 1)
    return _TIMEVAL.pack(int(whole), max(1, int(fraction * 1e6)))
