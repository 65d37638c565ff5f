"""gunicorn's settings as a worker has them: constant."""

from typing import Any


class Constants:
    """Each looked up once: gunicorn's object calls two methods for each of a request's twenty."""

    def __init__(self, settings: Any) -> None:
        """`settings` is gunicorn's."""
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        """Asked for what is not there yet."""
        value = getattr(self._settings, name)
        setattr(self, name, value)
        return value
