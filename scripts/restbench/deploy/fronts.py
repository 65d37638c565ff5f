"""The reverse proxies before a service. One listens where the service would, the service on a port
of its own behind it."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from restbench import ROOT
from restbench.deploy.programs import PYTHON_SERVICE
from restbench.experiment.cell import Front
from restbench.failures import EnvironmentProblem
from restbench.machine import ports

#: A folder for each front whose configuration is ours: a template and what is put next to it.
TEMPLATES = ROOT / "fronts"
#: What a front of root's runs as: nobody's, who may do nothing else.
NOBODY = 65534
#: Writable by root alone, so no other user can be there first; nobody may pass through it.
ROOTS_FOLDER = Path("/run")


@dataclass(frozen=True)
class Place:
    """Where a front listens on 127.0.0.1, and what it stands before."""

    port: int
    services: Sequence[str]
    """Of each instance of the service `address:port`, or `unix:` and the path of a socket."""
    folder: Path
    """Its log, and what it writes."""
    protects: bool
    """Whether it reads requests whole before it hands them on, as where a service is exposed.
    Where it is measured it does not."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables that the service has beside those of the environment."""


def apache(place: Place) -> list[str]:
    """Debian's Apache httpd, as in the study."""
    # Of a front that was killed: its number may be another process' now, and Apache believe in it.
    (place.folder / "httpd.pid").unlink(missing_ok=True)
    settings = [
        f"RESTBENCH_PORT={place.services[0].rpartition(':')[2]}",
        f"RESTBENCH_FRONT_PORT={place.port}",
        f"RESTBENCH_FRONT_RUN={place.folder.resolve()}",
        f"RESTBENCH_RECEIVE_TIMEOUT_SECONDS={_receive_seconds(place)}",
        f"RESTBENCH_MAX_BODY_BYTES={_body_limit(place)}",
    ]
    configuration = str(PYTHON_SERVICE / "apache" / "httpd.conf")
    return ["env", *settings, program("apache"), "-f", configuration, "-DFOREGROUND"]


def nginx(place: Place) -> list[str]:
    """Of any user: nothing outside of its folder is read or written."""
    servers = " ".join(f"server {each} max_fails=0;" for each in place.services)
    configuration = _configured("nginx", place, servers)
    folder = str(configuration.parent)
    # Without -e it would first write to a log of the system's.
    return [program("nginx"), "-p", folder, "-c", str(configuration), "-e", "stderr"]


def haproxy(place: Place) -> list[str]:
    """Of any user, as nginx. It keeps a buffer of a request, not the whole."""
    servers = [
        f"server instance-{index} {each.replace('unix:', 'unix@')}"
        for index, each in enumerate(place.services)
    ]
    configuration = _configured("haproxy", place, "\n    ".join(servers))
    # It goes to where it was started from and back, and nobody may not be there.
    return [program("haproxy"), "-db", "-C", str(configuration.parent), "-f", str(configuration)]


def own_folder(front: Front, place: Place) -> Path:
    """For its configuration and bodies. Nobody could not pass through a folder of root's alone."""
    if user_of(front) is None:
        return place.folder.resolve() / front
    return ROOTS_FOLDER / f"restbench-{front}-{place.port}"


def user_of(front: Front) -> int | None:
    """Whom it runs as: us, or nobody for root. Apache becomes another by itself."""
    return NOBODY if front in ("nginx", "haproxy") and os.geteuid() == 0 else None


def _configured(front: Front, place: Place, servers: str) -> Path:
    """Its configuration, in a folder of its own: the template with its `${NAME}`s filled in, and
    the files next to it. nginx' own variables have no braces."""
    folder = own_folder(front, place)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    filled = {
        "FRONT_SERVERS": servers,
        "FRONT_REQUEST_BUFFERING": "on" if place.protects else "off",
        "FRONT_MAX_BODY_BYTES": _body_limit(place) if place.protects else "0",
        "FRONT_RUN": str(folder),
        "FRONT_LISTEN": f"{ports.HOST}:{place.port}",
        "FRONT_RECEIVE_SECONDS": _receive_seconds(place),
    }
    for source in sorted((TEMPLATES / front).iterdir()):
        text = source.read_text(encoding="utf-8")
        if source.suffix == ".template":
            text = re.sub(r"\$\{(\w+)\}", lambda found: filled[found[1]], text)
            configuration = folder / source.stem
        (folder / source.name.removesuffix(".template")).write_text(text, encoding="utf-8")
    if (user := user_of(front)) is not None:
        os.chown(folder, user, user)
    return configuration


def _receive_seconds(place: Place) -> str:
    return _set(place, "RESTBENCH_RECEIVE_TIMEOUT_SECONDS", 20)


def _body_limit(place: Place) -> str:
    return _set(place, "RESTBENCH_MAX_BODY_BYTES", 64 << 20)


def _set(place: Place, variable: str, default: int) -> str:
    """A limit as the service has it, with its default there."""
    return (os.environ | dict(place.settings)).get(variable, str(default))


#: Each front with its program and the Debian package that has it.
PROGRAMS: dict[Front, tuple[str, str]] = {
    "apache": ("apache2", "apache2-bin"),
    "nginx": ("nginx", "nginx"),
    "haproxy": ("haproxy", "haproxy"),
}
FRONTS: dict[Front, Callable[[Place], list[str]]] = {
    "apache": apache,
    "nginx": nginx,
    "haproxy": haproxy,
}
#: What lets a front finish its requests before it ends, where that is not TERM.
DRAINED_BY = {"nginx": signal.SIGQUIT, "haproxy": signal.SIGUSR1}


def program(front: Front) -> str:
    """The front's program; EnvironmentProblem where it is not installed."""
    name, package = PROGRAMS[front]
    # Debian has them where an ordinary user's PATH does not look.
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if found is None:
        raise EnvironmentProblem(f"{name} is missing: apt-get install {package}")
    return found
