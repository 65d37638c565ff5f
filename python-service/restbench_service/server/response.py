"""gunicorn's response without its name in it, and with the headers that all have."""

from functools import lru_cache
from time import time

from gunicorn import util
from gunicorn.http import wsgi

from ..security_headers import CLOSED

_LINES = {name.lower(): f"{name}: {value}\r\n" for name, value in CLOSED.items()}
_ALL_LINES = "".join(_LINES.values())
_SENT_TOGETHER_BYTES = 64 * 1024  # a longer body is not worth copying


class Response(wsgi.Response):
    """As gunicorn's, but for the headers. One that the app sets itself is the app's.

    Head and body leave in one piece: to send each would give the interpreter lock away twice.
    """

    headers_sent: bool
    _head = b""

    def send_headers(self) -> None:
        """Keep them for the first piece of the body."""
        if not self.headers_sent:
            self._head = "".join(self._lines()).encode("latin-1")
            self.headers_sent = True

    def close(self) -> None:
        """End the response; one without a body consists of what has been kept."""
        super().close()
        self._send_head()

    def _lines(self) -> list[str]:
        """Status line, Date, Connection, security, Transfer-Encoding if needed; then the app's."""
        major, minor = self.req.version
        connection = "close" if self.should_close() else "keep-alive"
        return [
            f"HTTP/{major}.{minor} {self.status}\r\nDate: {_date(int(time()))}\r\n",
            f"Connection: {connection}\r\n",
            "Transfer-Encoding: chunked\r\n" if self.chunked else "",
            _security({name.lower() for name, _ in self.headers}),
            *[f"{name}: {value}\r\n" for name, value in self.headers],
            "\r\n",
        ]

    def _emit_body(self, data: bytes) -> None:
        if self.chunked or len(data) > _SENT_TOGETHER_BYTES:
            self._send_head()
        head, self._head = self._head, b""
        util.write(self.sock, head + data if head else data, self.chunked)

    def _send_head(self) -> None:
        head, self._head = self._head, b""
        if head:
            util.write(self.sock, head)


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """HTTP's date, made once a second (RFC 9110, section 5.6.7)."""
    return str(util.http_date(second))


def _security(own: set[str]) -> str:
    """The lines that the app has not set itself."""
    if own.isdisjoint(_LINES):
        return _ALL_LINES
    return "".join(line for name, line in _LINES.items() if name not in own)
