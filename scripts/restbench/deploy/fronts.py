"""The reverse proxies before a service. One listens where the service would, the service on a port
of its own behind it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from restbench import ROOT
from restbench.deploy.programs import PYTHON_SERVICE
from restbench.experiment.cell import Front
from restbench.failures import EnvironmentProblem
from restbench.machine import ports

NGINX_TEMPLATE = ROOT / "fronts" / "nginx.conf.template"
#: What a front of root's runs as: nobody's, who may do nothing else.
NOBODY = 65534
#: Writable by root alone, so no other user can be there first; nobody may pass through it.
ROOTS_FOLDER = Path("/run")


@dataclass(frozen=True)
class Place:
    """Where a front listens and what it stands before, on 127.0.0.1."""

    port: int
    service_port: int
    folder: Path
    """Its log, and what it writes."""
    protects: bool
    """Whether it reads requests whole before it hands them on, as where a service is exposed.
    Where it is measured it does not."""


def apache(place: Place) -> list[str]:
    """Debian's Apache httpd, as in the study."""
    # Of a front that was killed: its number may be another process' now, and Apache believe in it.
    (place.folder / "httpd.pid").unlink(missing_ok=True)
    settings = [
        f"RESTBENCH_PORT={place.service_port}",
        f"RESTBENCH_FRONT_PORT={place.port}",
        f"RESTBENCH_FRONT_RUN={place.folder.resolve()}",
    ]
    configuration = str(PYTHON_SERVICE / "apache" / "httpd.conf")
    return ["env", *settings, program("apache"), "-f", configuration, "-DFOREGROUND"]


def nginx(place: Place) -> list[str]:
    """Of any user: nothing outside of its folder is read or written."""
    folder = nginx_folder(place)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    configuration = folder / "nginx.conf"
    configuration.write_text(_filled_in(place, folder), encoding="utf-8")
    if (user := user_of("nginx")) is not None:
        os.chown(folder, user, user)
    # Without -e it would first write to a log of the system's.
    return [program("nginx"), "-p", str(folder), "-c", str(configuration), "-e", "stderr"]


def nginx_folder(place: Place) -> Path:
    """For its configuration and bodies. Nobody could not pass through a folder of root's alone."""
    ours = place.folder.resolve() / "nginx"
    return ours if user_of("nginx") is None else ROOTS_FOLDER / f"restbench-nginx-{place.port}"


def user_of(front: Front) -> int | None:
    """Whom it runs as: us, or nobody for root. Apache becomes another by itself."""
    return NOBODY if front == "nginx" and os.geteuid() == 0 else None


def _filled_in(place: Place, folder: Path) -> str:
    """The template with its `${NAME}`s; nginx' own variables have no braces in it."""
    buffers = place.protects
    values = {
        "FRONT_RUN": str(folder),
        "FRONT_LISTEN": f"{ports.HOST}:{place.port}",
        "FRONT_BACKEND": f"{ports.HOST}:{place.service_port}",
        "FRONT_REQUEST_BUFFERING": "on" if buffers else "off",
        "FRONT_MAX_BODY_BYTES": _set("RESTBENCH_MAX_BODY_BYTES", 64 << 20) if buffers else "0",
        "FRONT_RECEIVE_SECONDS": _set("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", 20),
    }
    return re.sub(
        r"\$\{(\w+)\}", lambda found: values[found[1]], NGINX_TEMPLATE.read_text(encoding="utf-8")
    )


def _set(variable: str, default: int) -> str:
    """A limit that the service has from the same environment, with its default there."""
    return os.environ.get(variable, str(default))


#: Each front with its program and the Debian package that has it.
PROGRAMS: dict[Front, tuple[str, str]] = {
    "apache": ("apache2", "apache2-bin"),
    "nginx": ("nginx", "nginx"),
}
FRONTS: dict[Front, Callable[[Place], list[str]]] = {"apache": apache, "nginx": nginx}


def program(front: Front) -> str:
    """The front's program; EnvironmentProblem where it is not installed."""
    name, package = PROGRAMS[front]
    # Debian has them where an ordinary user's PATH does not look.
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if found is None:
        raise EnvironmentProblem(f"{name} is missing: apt-get install {package}")
    return found
