"""gunicorn's response without its name in it."""

from gunicorn.http import wsgi


class Response(wsgi.Response):
    """As gunicorn's, but for the banner."""

    def default_headers(self) -> list[str]:
        """Status line, Date, Connection and, where needed, Transfer-Encoding."""
        lines: list[str] = super().default_headers()
        return [line for line in lines if not line.startswith("Server:")]
