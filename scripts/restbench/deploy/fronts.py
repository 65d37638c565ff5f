"""The reverse proxies (fronts), on a service's usual port; the service is on another behind it."""

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

#: A folder for each front with a configuration of ours: a template, and the files next to it.
TEMPLATES = ROOT / "fronts"
#: Id of the user nobody, who has no rights: a front that root starts runs as this user.
NOBODY = 65534
#: Only root may write here: no other user makes a folder first. Every user may pass through.
ROOTS_FOLDER = Path("/run")


@dataclass(frozen=True)
class Place:
    """Where a front listens on 127.0.0.1, and the service behind it."""

    port: int
    services: Sequence[str]
    """`address:port` of each instance of the service, or `unix:` and the path of a socket."""
    folder: Path
    """Folder of the front's log and of other files that it writes."""
    protects: bool
    """Whether the front reads a request completely before it forwards it, to protect an exposed
    service. In measurements it does not."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables of the service in addition to those of our environment."""


def apache(place: Place) -> list[str]:
    """The command line of Debian's Apache httpd, as in the study."""
    # A killed front may have left it: Apache would believe the process with this pid to be itself.
    (place.folder / "httpd.pid").unlink(missing_ok=True)
    receive_s, body_bytes = _limits(place)
    settings = [
        f"RESTBENCH_PORT={place.services[0].rpartition(':')[2]}",
        f"RESTBENCH_FRONT_PORT={place.port}",
        f"RESTBENCH_FRONT_RUN={place.folder.resolve()}",
        f"RESTBENCH_RECEIVE_TIMEOUT_SECONDS={receive_s}",
        f"RESTBENCH_MAX_BODY_BYTES={body_bytes}",
    ]
    configuration = str(PYTHON_SERVICE / "apache" / "httpd.conf")
    return ["env", *settings, program("apache"), "-f", configuration, "-DFOREGROUND"]


def nginx(place: Place) -> list[str]:
    """The command line of nginx, for any user: it uses no file outside of its folder."""
    servers = " ".join(f"server {each} max_fails=0;" for each in place.services)
    configuration = _configured("nginx", place, servers)
    folder = str(configuration.parent)
    # Without -e it would first write to the system's error log.
    return [program("nginx"), "-p", folder, "-c", str(configuration), "-e", "stderr"]


def haproxy(place: Place) -> list[str]:
    """The command line of HAProxy, for any user. It buffers a part of a request, not the whole."""
    servers = [
        f"server instance-{index} {each.replace('unix:', 'unix@')}"
        for index, each in enumerate(place.services)
    ]
    configuration = _configured("haproxy", place, "\n    ".join(servers))
    # HAProxy changes its folder and back to the first one, which may be closed to the user nobody.
    return [program("haproxy"), "-db", "-C", str(configuration.parent), "-f", str(configuration)]


def own_folder(front: Front, place: Place) -> Path:
    """The folder of a front's configuration and request bodies. For root it is not in the service's
    folder, which the user nobody may be unable to reach."""
    if user_of(front) is None:
        return place.folder.resolve() / front
    return ROOTS_FOLDER / f"restbench-{front}-{place.port}"


def user_of(front: Front) -> int | None:
    """Id of a front's user: nobody's if we are root; None: ours. Apache changes it by itself."""
    return NOBODY if front in ("nginx", "haproxy") and os.geteuid() == 0 else None


def _configured(front: Front, place: Place, servers: str) -> Path:
    """Write the front's configuration to its folder and return its path: the template with its
    `${NAME}`s filled in, and the files next to it. nginx' own variables have no braces."""
    folder = own_folder(front, place)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    receive_s, body_bytes = _limits(place)
    filled = {
        "FRONT_SERVERS": servers,
        "FRONT_REQUEST_BUFFERING": "on" if place.protects else "off",
        "FRONT_MAX_BODY_BYTES": body_bytes if place.protects else "0",
        "FRONT_RUN": str(folder),
        "FRONT_LISTEN": f"{ports.HOST}:{place.port}",
        "FRONT_RECEIVE_SECONDS": receive_s,
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


def _limits(place: Place) -> tuple[str, str]:
    """The service's limits, by its environment or default: seconds to receive, bytes of a body."""
    known = os.environ | dict(place.settings)
    receive_s = known.get("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "20")
    return receive_s, known.get("RESTBENCH_MAX_BODY_BYTES", str(64 << 20))


#: The program of each front, and the Debian package that contains it.
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
#: The signal after which a front finishes its requests and ends, where that is not SIGTERM.
DRAINED_BY = {"nginx": signal.SIGQUIT, "haproxy": signal.SIGUSR1}


def program(front: Front) -> str:
    """The path of the front's program; EnvironmentProblem where it is not installed."""
    name, package = PROGRAMS[front]
    # Debian installs them in a folder that is not in an ordinary user's PATH.
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if found is None:
        raise EnvironmentProblem(f"{name} is missing: apt-get install {package}")
    return found
