"""How the service is started: the settings are checked, then the framework's server takes over."""

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

from .environment import InvalidSettingError
from .frameworks import FRAMEWORKS
from .process import (
    allow_descriptors,
    become,
    ensure_environment,
    find_temporary_folder,
    free_address,
    free_socket,
    name_metrics_folder,
)
from .settings import Settings


def main() -> None:
    """Become the framework's server."""
    settings = prepared_settings()
    _require_free(settings)
    become(FRAMEWORKS[settings.framework].command, os.environ)


def _require_free(settings: Settings) -> None:
    """Exits with 1 and one line if the port or the socket is taken."""
    if settings.socket_path is not None:
        if owner := free_socket(settings.socket_path):
            sys.exit(f"RESTBENCH_HOST={settings.host!r}: in use by {owner}")
        return
    try:
        free_address(settings.host, settings.port)
    except OSError as error:
        sys.exit(f"{settings.host}:{settings.port}: {error.strerror}")


def prepared_settings() -> Settings:
    """The checked settings; gives this process the environment and the limits that they need.

    Exits with 2 and one line if a setting is wrong. Restarts the program to change its environment.
    """
    try:
        settings = Settings.from_environment(os.environ)
        _check_framework(settings)
        _check_strategies(settings.strategies)
        _check_machine(settings)
    except InvalidSettingError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    name_metrics_folder(settings.workers)
    ensure_environment(settings.blas_threads)
    return settings


def _check_framework(settings: Settings) -> None:
    """Raises InvalidSettingError if the framework is missing or does not support a setting."""
    name = settings.framework
    missing = {
        each: [package for package in it.packages if find_spec(package) is None]
        for each, it in FRAMEWORKS.items()
    }
    installed = ", ".join(each for each, packages in missing.items() if not packages)
    if name not in FRAMEWORKS:
        raise InvalidSettingError(f"RESTBENCH_FRAMEWORK={name!r}: must be one of {installed}")
    if missing[name]:
        raise InvalidSettingError(
            f"RESTBENCH_FRAMEWORK={name!r}: not installed ({', '.join(missing[name])}): "
            f"make frameworks; there is {installed}"
        )
    framework = FRAMEWORKS[name]
    if "RESTBENCH_HANDOFF" in os.environ and not framework.is_asynchronous:
        handoff = os.environ["RESTBENCH_HANDOFF"]
        raise InvalidSettingError(
            f"RESTBENCH_HANDOFF={handoff!r}: must be left out: {name} has no event loop"
        )
    if settings.workers > 1 and not framework.has_workers:
        names = ", ".join(each for each, it in FRAMEWORKS.items() if it.has_workers)
        raise InvalidSettingError(
            f"RESTBENCH_WORKERS={settings.workers}: {name} has one; several have {names}"
        )


def _check_strategies(names: tuple[str, ...] | None) -> None:
    """Raises InvalidSettingError for an unknown name."""
    if names is None:
        return
    # Only if needed: this imports numpy, whose environment is not set yet.
    from .execution.strategies import TECHNIQUES  # noqa: PLC0415

    unknown = [name for name in names if name not in TECHNIQUES]
    if unknown:
        raise InvalidSettingError(
            f"RESTBENCH_STRATEGIES: {unknown[0]!r} must be one of {', '.join(TECHNIQUES)}"
        )


def _check_machine(settings: Settings) -> None:
    """Raises InvalidSettingError for a low limit of open files, a host that cannot be resolved, or
    no folder for temporary files or for the Unix socket.
    """
    if not allow_descriptors(settings.descriptors):
        raise InvalidSettingError(
            f"{settings.descriptors} open files are needed for RESTBENCH_MAX_CONNECTIONS="
            f"{settings.max_connections}, the limit (ulimit -Hn) is lower"
        )
    path = settings.socket_path
    if path is None:
        try:
            socket.getaddrinfo(settings.host, settings.port)
        except socket.gaierror:
            raise InvalidSettingError(
                f"RESTBENCH_HOST={settings.host!r}: must be an address or the name of this machine"
            ) from None
    elif not os.access(f"{Path(path).parent}/", os.W_OK | os.X_OK):
        raise InvalidSettingError(
            f"RESTBENCH_HOST={settings.host!r}: the folder is missing or not writable"
        )
    if find_temporary_folder() is None:
        raise InvalidSettingError(
            "no folder for temporary files can be written: give the service one "
            "(docker run --tmpfs /tmp), or name one in TMPDIR"
        )
