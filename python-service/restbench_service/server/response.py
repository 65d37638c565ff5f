"""gunicorn's response without its name in it, and with the headers that all have."""

from gunicorn.http import wsgi

from ..security_headers import CLOSED

_LINES = {name.lower(): f"{name}: {value}\r\n" for name, value in CLOSED.items()}


class Response(wsgi.Response):
    """As gunicorn's, but for the headers. One that the app sets itself is the app's."""

    def default_headers(self) -> list[str]:
        """Status line, Date, Connection, security, and Transfer-Encoding where it is needed."""
        lines: list[str] = super().default_headers()
        own = {name.lower() for name, _ in self.headers}
        lines += [line for name, line in _LINES.items() if name not in own]
        return [line for line in lines if not line.startswith("Server:")]
