"""gunicorn's response without its name in it, and with the headers that all have."""

from gunicorn import util
from gunicorn.http import wsgi

from ..security_headers import CLOSED

_LINES = {name.lower(): f"{name}: {value}\r\n" for name, value in CLOSED.items()}
_SENT_TOGETHER_BYTES = 64 * 1024  # a longer body is not worth copying


class Response(wsgi.Response):
    """As gunicorn's, but for the headers. One that the app sets itself is the app's.

    Head and body leave in one piece: to send each would give the interpreter lock away twice.
    """

    headers_sent: bool
    _head = b""

    def default_headers(self) -> list[str]:
        """Status line, Date, Connection, security, and Transfer-Encoding where it is needed."""
        lines: list[str] = super().default_headers()
        own = {name.lower() for name, _ in self.headers}
        lines += [line for name, line in _LINES.items() if name not in own]
        return [line for line in lines if not line.startswith("Server:")]

    def send_headers(self) -> None:
        """Keep them for the first piece of the body."""
        if not self.headers_sent:
            lines = self.default_headers() + [
                f"{name}: {value}\r\n" for name, value in self.headers
            ]
            self._head = "".join([*lines, "\r\n"]).encode("latin-1")
            self.headers_sent = True

    def close(self) -> None:
        """End the response; one without a body consists of what has been kept."""
        super().close()
        self._send_head()

    def _emit_body(self, data: bytes) -> None:
        if self.chunked or len(data) > _SENT_TOGETHER_BYTES:
            self._send_head()
        head, self._head = self._head, b""
        util.write(self.sock, head + data if head else data, self.chunked)

    def _send_head(self) -> None:
        head, self._head = self._head, b""
        if head:
            util.write(self.sock, head)
