"""The service under test: started as the harness starts it, asked as a normal client asks."""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from restbench import service
from restbench.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.service import Service
from restbench_robustness.answer import Answer
from restbench_robustness.overload import tree
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.mix import LOW, Request, valid

#: A normal request must be answered within this, even where clients misbehave meanwhile.
IN_TIME_S = 5.0


@dataclass(frozen=True)
class UnderTest:
    """A running service. `folder` has its log, `temporary` is for its temporary files alone."""

    service: Service
    folder: Path
    temporary: Path
    health: dict[str, Any]

    @property
    def name(self) -> ServiceName:
        """`java` or `python`."""
        return self.service.name

    @property
    def root_pid(self) -> int:
        """The process that was started; the service's others descend from it."""
        return self.service.processes[0].pid

    def limit(self, setting: str) -> int:
        """A setting as /health shows it, in its unit."""
        shown = self.health["settings"]
        if setting not in shown:
            raise EnvironmentProblem(f"the {self.name} service's /health shows no {setting}")
        return int(shown[setting])

    def tree(self) -> tree.Tree:
        """All its processes as the kernel sees them now."""
        return tree.look(self.service.pids())

    def ask(
        self, method: str, path: str, body: bytes = b"", timeout_s: float | None = None
    ) -> Answer:
        """One request on a connection of its own. OSError or HTTPException where none comes.

        `timeout_s` bounds each wait for bytes; None: IN_TIME_S.
        """
        host, port = self.service.address
        connection = http.client.HTTPConnection(host, port, timeout=timeout_s or IN_TIME_S)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, headers, answer.read())
        finally:
            connection.close()

    def normal(self, strategy: str, number: int = 1) -> Verdict:
        """What becomes of one normal request: low, right, on a new connection, in time."""
        return self.verdict(strategy, _NORMAL.request(number), IN_TIME_S)

    def verdict(self, strategy: str, request: Request, timeout_s: float) -> Verdict:
        """What becomes of a request on a new connection."""
        began = time.monotonic()
        try:
            path = f"/matrix/{strategy}{request.query}"
            answer = self.ask("POST", path, request.body, timeout_s)
        except TimeoutError:
            return Verdict.HUNG
        except (OSError, http.client.HTTPException):
            return Verdict.LOST
        late = time.monotonic() - began > timeout_s
        return Verdict.HUNG if late else request.right(answer)

    def in_flight(self) -> int:
        """Requests in flight, as the service itself counts them."""
        return int(sum(self.metric("restbench_requests_in_flight")))

    def metric(self, name: str, label: str = "") -> list[float]:
        """The values of a metric, of all series that have this label."""
        text = self.ask("GET", "/metrics").body.decode()
        found = re.findall(rf"^{name}(\{{.*\}})? (\S+)$", text, re.MULTILINE)
        return [float(value) for labels, value in found if label in labels]


_NORMAL = valid("normal", LOW)


@contextmanager
def started(
    name: ServiceName, folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[UnderTest]:
    """A fresh service; `settings` are variables of its environment. Call from the main thread."""
    temporary = folder / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    # The JVM's launcher reads this variable; Python reads TMPDIR.
    own = {
        "TMPDIR": str(temporary.resolve()),
        "JDK_JAVA_OPTIONS": f'"-Djava.io.tmpdir={temporary.resolve()}"',
        **(settings or {}),
    }
    running = service.start(name, "none", None, folder, settings=own)
    try:
        yield UnderTest(running, folder, temporary, running.health())
    finally:
        running.stop()
