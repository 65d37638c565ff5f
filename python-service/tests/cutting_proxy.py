"""A proxy before a PostgreSQL that ends a connection at a chosen statement."""

import socket
import struct
from contextlib import suppress
from threading import Lock, Thread
from typing import Literal

Cut = Literal["before", "within", "behind", "after", "silent"]
"""The statement: it does not reach the server; a part of it does; all of it does, and its answer is
lost; it is answered; its answer never comes, and the connection stays."""
EXECUTE, QUERY, PARSE = b"EQP"
LENGTH = struct.Struct("!I")


class CuttingProxy:
    """Forwards until it is armed; then the n-th statement ends its connection."""

    def __init__(self, port: int) -> None:
        """`port` is where PostgreSQL listens; neither TLS nor GSS is understood."""
        self._server_port = port
        self._guard = Lock()
        self._left, self._cut = 0, "before"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cuts = self.ended = 0
        """Statements at which it has cut, and connections that have ended so."""
        self.statements = 0
        """That were forwarded, for who sets it to 0."""
        self.parsed = 0
        """Texts that the server had to parse, likewise; of simple queries none is counted."""
        Thread(target=self._accept, daemon=True).start()

    def arm(self, statement: int, cut: Cut) -> None:
        """`statement` counts from 1, over all connections together."""
        with self._guard:
            self._left, self._cut = statement, cut

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with (
            client,
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self._server_port)) as server,
        ):
            try:
                self._forward(client, server)
            finally:
                for end in (client, server):  # to close is not enough while a thread reads
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
                self.ended = self.cuts

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        ending = Ending(client, server)
        Thread(target=ending.forward_answers, daemon=True).start()
        messages = Messages()
        while data := client.recv(65536):
            statements = messages.statements(data)
            self.parsed, messages.parsed = self.parsed + messages.parsed, 0
            if (cut := self._cut_at(statements)) is None:
                server.sendall(data)
                continue
            self.cuts += 1
            if cut == "within":
                server.sendall(data[: len(data) // 2])
            elif cut != "before":
                ending.hold(is_answered=cut == "after")
                server.sendall(data)
                ending.wait()
            while cut == "silent" and client.recv(65536):
                pass
            return

    def _cut_at(self, statements: int) -> str | None:
        with self._guard:
            self.statements += statements
            if not self._left or not statements:
                return None
            self._left = max(0, self._left - statements)
            return None if self._left else self._cut


class Messages:
    """What a client has sent, as PostgreSQL's protocol cuts it."""

    def __init__(self) -> None:
        self._rest, self._has_started = b"", False
        self.parsed = 0

    def statements(self, data: bytes) -> int:
        """That are complete with these bytes."""
        self._rest += data
        found = 0
        while True:
            head = 1 if self._has_started else 0  # the first message has no type
            if len(self._rest) < head + LENGTH.size:
                return found
            size = head + LENGTH.unpack_from(self._rest, head)[0]
            if len(self._rest) < size:
                return found
            found += self._has_started and self._rest[0] in (EXECUTE, QUERY)
            self.parsed += self._has_started and self._rest[0] == PARSE
            self._rest, self._has_started = self._rest[size:], True


class Ending:
    """What the server answers, until it is not to be passed on any more."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._client, self._server = client, server
        self._is_held, self._is_answered = False, False
        self._answered = Lock()

    def hold(self, is_answered: bool) -> None:
        """The next answer is the last."""
        self._answered.acquire()
        self._is_held, self._is_answered = True, is_answered

    def wait(self) -> None:
        """For that answer."""
        self._answered.acquire(timeout=30)

    def forward_answers(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(65536):
                is_held = self._is_held  # not later: the next statement may come at once
                if not is_held or self._is_answered:
                    self._client.sendall(data)
                if is_held:
                    self._answered.release()
                    return
