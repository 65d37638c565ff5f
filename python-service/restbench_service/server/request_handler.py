"""What a thread does with a request: run the app, send its response, look for the next request."""

import logging
from collections.abc import Callable
from typing import Any

from gunicorn.http import wsgi
from gunicorn.http.errors import ParseException

from ..errors import described
from ..settings import Settings
from . import refusal
from .connection import Connection, Head
from .response import Response

AT_ONCE_SECONDS = 0.005
"""What a thread waits for the next request on a connection: longer than a client takes that asks
again as soon as it has its answer, too short for idle clients to occupy threads."""

_LOG = logging.getLogger(__name__)


class RequestHandler:
    """Used by all threads at once."""

    def __init__(
        self,
        app: Any,
        constants: Any,
        settings: Settings,
        is_stopping: Callable[[], bool],
        has_spare_threads: Callable[[], bool],
    ) -> None:
        """`app` is the WSGI application, `constants` are gunicorn's settings."""
        self._app, self._constants, self._settings = app, constants, settings
        self._is_stopping, self._has_spare_threads = is_stopping, has_spare_threads

    def serve(self, connection: Connection) -> Head | None:
        """Answer the request whose head is there, and those that follow it at once.

        How far the next one's head has come then; None where the connection is of no more use.
        """
        while self._answer(connection):
            head = connection.next_head(self._patience_seconds())
            if head is not Head.WHOLE:
                return head
            connection.sock.receive_within(self._settings.receive_timeout_seconds)
        return None

    def _patience_seconds(self) -> float:
        """To have the next request from the loop takes two more turns at the interpreter lock."""
        is_free = self._has_spare_threads() and not self._is_stopping()
        return AT_ONCE_SECONDS if is_free else 0

    def _answer(self, connection: Connection) -> bool:
        """Answer one request; whether the connection is good for another."""
        try:
            request = next(connection.parser)
            keep = self._run_app(request, connection)
            return keep and connection.finish_body(self._settings.max_body_bytes)
        except (StopIteration, OSError) as error:
            _LOG.debug("a client is gone or too slow: %s", described(error))
        except ParseException:
            connection.offer(refusal.not_received("because it is not well-formed HTTP"))
        except Exception as error:
            _LOG.error("a request failed outside of the app: %s", described(error))
            connection.offer(refusal.fault())
        return False

    def _run_app(self, request: Any, connection: Connection) -> bool:
        """Whether both sides want to keep the connection."""
        response, environ = wsgi.create(
            request,
            connection.sock,
            connection.client,
            connection.server,
            self._constants,
            Response,
        )
        environ["wsgi.multithread"] = True
        if self._is_stopping():
            response.force_close()
        parts = self._app(environ, response.start_response)
        try:
            for part in parts:
                response.write(part)
            response.close()
        finally:
            parts.close()
        return not response.should_close()
