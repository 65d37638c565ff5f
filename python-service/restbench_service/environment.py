"""Values read from the environment and checked; an error names the variable and what is allowed."""

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOST_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
DATABASE = re.compile(
    "postgresql://[A-Za-z0-9_-]+@([A-Za-z0-9.-]+):([1-9][0-9]{0,4})/[A-Za-z0-9_-]+"
)
HIGHEST_PORT = 65535
UNIX = "unix:"
LONGEST_SOCKET_PATH = 107
"""In bytes, without the terminating zero (linux/un.h)."""


class InvalidSettingError(Exception):
    """A variable of the environment has a value that is not allowed; the text is one line."""


class Environment:
    """Typed access to the variables. Each method raises InvalidSettingError."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """An integer from `low` to `high`; the default, which is not checked, when unset."""
        text = self._variables.get(name)
        if text is None:
            return default
        if re.fullmatch("[0-9]{1,15}", text) and low <= int(text) <= high:
            return int(text)
        raise _wrong(name, text, f"must be an integer from {low} to {high}")

    def host(self, name: str, default: str) -> str:
        """An IP address, a host name, or unix: and the path of a socket."""
        text = self._variables.get(name, default)
        if text.startswith(f"{UNIX}/"):
            if len(os.fsencode(text.removeprefix(UNIX))) <= LONGEST_SOCKET_PATH:
                return text
            raise _wrong(name, text, f"a socket's path has at most {LONGEST_SOCKET_PATH} bytes")
        if _is_host(text):
            return text
        raise _wrong(name, text, "must be an IP address, a host name or unix:/PATH")

    def database(self, name: str) -> str | None:
        """postgresql://USER@HOST:PORT/DATABASE; None when unset. An error omits the value."""
        text = self._variables.get(name)
        if text is None:
            return None
        found = DATABASE.fullmatch(text)
        if found is None or not (_is_host(found[1]) and int(found[2]) <= HIGHEST_PORT):
            form = "postgresql://USER@HOST:PORT/DATABASE"
            raise InvalidSettingError(f"{name}: must be {form}, without a password")
        return text

    def readable(self, name: str) -> str | None:
        """The path of a file of text that can be read; None when unset."""
        path = self._variables.get(name)
        try:
            if path is not None:
                Path(path).read_text("utf-8")
        except UnicodeDecodeError:
            raise _wrong(name, str(path), "must be a file in UTF-8") from None
        except (OSError, ValueError):
            raise _wrong(name, str(path), "must be a file that can be read") from None
        return path

    def existing(self, name: str) -> str | None:
        """A path that exists, readable or not; None when unset."""
        path = self._variables.get(name)
        if path is None or os.access(path, os.F_OK):
            return path
        raise _wrong(name, path, "must be a path that exists")

    def names(self, name: str) -> tuple[str, ...] | None:
        """The names in a comma-separated list, each once; None when unset."""
        text = self._variables.get(name)
        if text is None:
            return None
        names = tuple(text.split(","))
        if all(names) and len(set(names)) == len(names):
            return names
        raise _wrong(name, text, "must be a list of names with commas, each once")

    def choice(self, name: str, default: str, allowed: Iterable[str]) -> str:
        """One of the allowed words."""
        text = self._variables.get(name, default)
        if text in allowed:
            return text
        raise _wrong(name, text, f"must be one of {', '.join(allowed)}")


def _wrong(name: str, value: str, rule: str) -> InvalidSettingError:
    return InvalidSettingError(f"{name}={value!r}: {rule}")


def _is_host(text: str) -> bool:
    """Whether it is an IP address or a host name, which does not end with a digit."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return HOST_NAME.fullmatch(text) is not None and not text[-1].isdigit()
    return True
