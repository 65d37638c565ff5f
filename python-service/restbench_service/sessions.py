"""No sessions: nobody is recognised here, and no cookie is set."""

from typing import Any

from flask.sessions import NullSession, SessionInterface

_NONE = NullSession()


class NoSessions(SessionInterface):
    """One empty session for all, which cannot be changed; Flask's own would look for a cookie."""

    def open_session(self, app: Any, request: Any) -> NullSession:  # noqa: ARG002
        """Flask neither saves such a session nor sets a cookie for it."""
        return _NONE
