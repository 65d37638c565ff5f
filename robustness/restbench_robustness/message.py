"""One HTTP request to be sent as it stands, and the route it is sent to."""

from __future__ import annotations

from dataclasses import dataclass

from .oracle import Request

JSON_TYPE = (("Content-Type", "application/json"),)
#: Stands in a path for the strategy of the route.
STRATEGY = "{strategy}"


@dataclass(frozen=True)
class Route:
    """What a message is multiplied by, where it does not say so itself."""

    strategy: str
    kernel: str


@dataclass(frozen=True, repr=False)
class Message:
    """A request; what it leaves open (strategy, kernel) the route decides."""

    body: bytes
    method: str = "POST"
    path: str = f"/matrix/{STRATEGY}"
    query: str | None = None
    """With it the route's kernel is not sent."""
    headers: tuple[tuple[str, str], ...] = JSON_TYPE
    chunk_bytes: int | None = None
    """Sent in chunks of so many bytes, without Content-Length; 0: the body is chunks already."""
    missing_bytes: int = 0
    """Content-Length announces so many bytes more than come; negative: fewer. In chunks, any
    number above 0: the last chunk does not come."""
    is_http: bool = True
    """False: HTTP itself forbids it or has it refused, so the contract says nothing of it."""
    host: str | None = None
    """None: the service's own. A Host among the headers is a second one."""

    def __repr__(self) -> str:
        """Short: a body may have megabytes."""
        return f"Message({self.method} {self.path}, {len(self.body)} bytes)"

    def identity(self) -> bytes:
        """Equal for equal messages."""
        around = (self.method, self.path, self.query, self.host, self.headers)
        return repr((*around, self.chunk_bytes, self.missing_bytes)).encode() + self.body

    def target(self, route: Route) -> str:
        """Path and query as they are sent."""
        query = f"kernel={route.kernel}" if self.query is None else self.query
        path = self.path.replace(STRATEGY, route.strategy)
        return f"{path}?{query}" if query else path

    def head(self, route: Route, own_host: str) -> bytes:
        """The request line and the headers."""
        host = own_host if self.host is None else self.host
        lines = [f"{self.method} {self.target(route)} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.chunk_bytes is not None:
            lines.append("Transfer-Encoding: chunked")
        elif self.announced_bytes or self.method not in {"GET", "HEAD"}:
            lines.append(f"Content-Length: {self.announced_bytes}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def payload(self) -> bytes:
        """What follows the head."""
        if not self.chunk_bytes:
            return self.body
        pieces = [
            self.body[start : start + self.chunk_bytes]
            for start in range(0, len(self.body), self.chunk_bytes)
        ]
        chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]
        return b"".join(chunks) + (b"" if self.missing_bytes else b"0\r\n\r\n")

    @property
    def announced_bytes(self) -> int:
        """Content-Length, where it is sent."""
        return max(0, len(self.body) + self.missing_bytes)

    @property
    def is_whole(self) -> bool:
        """Whether all that was announced comes, and no more."""
        return self.announced_bytes == len(self.body) and not self.missing_bytes

    def as_received(self, route: Route) -> Request:
        """What a service can know of it, for the oracle."""
        chunked = self.chunk_bytes is not None
        types = [value for name, value in self.headers if name.lower() == "content-type"]
        return Request(
            method=self.method,
            target=self.target(route),
            content_type=types[0] if types else None,
            body=self.body if chunked else self.body[: self.announced_bytes],
            declared_bytes=None if chunked else self.announced_bytes,
            is_whole=self.missing_bytes <= 0,
        )
