"""The contract on the wire: its examples and probes against every framework, and behind each front.
What differs stands in contract/deviations.toml."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
import wire
from ports import free_port
from techniques_seen import seen_to_do
from waiting import await_true

from restbench import ROOT
from restbench.deploy import fronts, programs, serve, service
from restbench.deploy.database import Database
from restbench.deploy.service import Service
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, FRAMEWORKS, Framework, Front, ServiceName
from restbench.machine import jvm, process


class Place(NamedTuple):
    """Where the contract holds."""

    framework: Framework
    front: Front = "none"
    handoff: str = ""
    """Where an event loop runs requests."""
    is_measured: bool = False
    """As in a run: the front hands bodies on as they come, to two instances, over Unix sockets in
    Python. Else it protects one."""

    @property
    def front_name(self) -> str:
        """In contract/deviations.toml."""
        return f"{self.front}-measured" if self.is_measured else self.front

    @property
    def name(self) -> str:
        return "-".join(each for each in (self.framework, self.front_name, self.handoff) if each)


#: Every framework, and the default one behind each front.
PLACES: dict[ServiceName, list[Place]] = {
    "java": [
        Place("tomcat"),
        Place("tomcat", "nginx"),
        Place("tomcat", "haproxy"),
        Place("tomcat", "apache"),
        Place("tomcat", "nginx", is_measured=True),
        Place("tomcat", "haproxy", is_measured=True),
        Place("servlet"),
        Place("jetty"),
        Place("reactor-netty", handoff="thread"),
        Place("reactor-netty", handoff="loop"),
        Place("vertx", handoff="thread"),
        Place("vertx", handoff="loop"),
        Place("helidon"),
    ],
    "python": [
        Place("flask"),
        Place("flask", "nginx"),
        Place("flask", "haproxy"),
        Place("flask", "apache"),
        Place("flask", "nginx", is_measured=True),
        Place("flask", "haproxy", is_measured=True),
        Place("flask-granian"),
        Place("fastapi", handoff="thread"),
        Place("fastapi", handoff="loop"),
        Place("fastapi-gunicorn", handoff="thread"),
        Place("fastapi-gunicorn", handoff="loop"),
        Place("aiohttp", handoff="thread"),
        Place("aiohttp", handoff="loop"),
        Place("rsgi", handoff="thread"),
        Place("rsgi", handoff="loop"),
    ],
}
#: Under which successes are tried in a framework: on the thread that has the request, and answered
#: by another.
TRIED: dict[ServiceName, tuple[str, ...]] = {
    "java": ("serial", "pinned"),
    "python": ("serial", "process-per-request"),
}
#: Helidon's class files are of this Java.
HELIDON_JAVA = 21
#: Of each Java service, as they are all up at once and no test is about speed.
JVM = "-Xms64m -Xmx512m -XX:TieredStopAtLevel=1"
RECEIVE_S = "2"
#: Of a service without a front: longer than a head that never ends is watched, for some servers
#: have one time for both.
KEEP_ALIVE_S = "20"
#: What is in flight at a stop is to end, however busy the others are.
STOP_TIMEOUT_S = "120"
#: Of bodies, so that one of 4 MiB more is sent within RECEIVE_S on a busy machine too. It is larger
#: in Python: of a body that is refused unread Granian still waits for 8 MiB, not for 20.
BODY_LIMIT_BYTES: dict[ServiceName, int] = {"java": 4 << 20, "python": 16 << 20}
THROWN = r"Traceback|Exception in thread"
RUNNER = ROOT / "contract" / "run.py"
#: Connections that may wait to be accepted. gunicorn's ASGI worker has asyncio's default, and no
#: setting for it.
BACKLOG, OWN_BACKLOG = 1024, {"fastapi-gunicorn": 100}
#: An idle service takes no more of a core, seen for so long.
IDLE_SHARE, IDLE_S = 0.005, 4.0


def tries_all(name: ServiceName, place: Place) -> bool:
    """Whether all strategies and techniques are tried there: where a Python service is what it is
    by default. Java's own tests have all of them (ContractExamplesTest, MessagesContractTest)."""
    is_default = (place.framework, place.front) == (DEFAULT_FRAMEWORKS[name], "none")
    return is_default and name == "python"


def tried(name: ServiceName, place: Place) -> tuple[str, ...]:
    """The strategies under which successes are tried there; none: all."""
    if place.front != "none":
        return ("serial",)
    return () if tries_all(name, place) else TRIED[name]


def started_at(
    place: Place, name: ServiceName, folder: Path, database: Mapping[str, str]
) -> Service:
    """A service in its framework, and its front; without the database where it has one."""
    settings = {"RESTBENCH_STOP_TIMEOUT_SECONDS": STOP_TIMEOUT_S}
    if place.handoff:
        settings["RESTBENCH_HANDOFF"] = place.handoff
    bare = {**database, "RESTBENCH_KEEP_ALIVE_SECONDS": KEEP_ALIVE_S}
    if name == "python" and tried(name, place):  # the pools of others would only be started
        settings["RESTBENCH_STRATEGIES"] = ",".join(tried(name, place))
    return service.start(
        name,
        place.front,
        None,
        folder / place.name,
        protected=not place.is_measured,
        settings=settings | (bare if place.front == "none" else {}),
        port=free_port(),
        framework=place.framework,
        instances=(None, None) if place.is_measured else (),
        link="unix" if place.is_measured and name == "python" else "tcp",
    )


def busy(up: Mapping[Place, Service]) -> dict[Place, float]:
    """Milliseconds of CPU time that those took for which it is too much."""
    before = {place: process.cpu_ms(each.pids()) for place, each in up.items()}
    time.sleep(IDLE_S)
    used = {place: process.cpu_ms(each.pids()) - before[place] for place, each in up.items()}
    return {place: ms for place, ms in used.items() if ms > 1000 * IDLE_SHARE * IDLE_S}


def contract_run(name: ServiceName, place: Place, at: Service) -> subprocess.Popen[str]:
    """Examples and probes; the last of these ends the service."""
    asked = ["--framework", place.framework, "--receive-seconds", RECEIVE_S]
    asked += ["--pid", str(at.processes[0].pid)]
    asked += [] if place.front == "none" else ["--front", place.front_name]
    options = {  # no framework knows techniques: one is as good as all
        "--strategy": tried(name, place),
        "--technique": () if tries_all(name, place) else ("skip-locked",),
    }
    asked += [part for option, values in options.items() for it in values for part in (option, it)]
    line = [sys.executable, str(RUNNER), at.base_url, *asked]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_every_framework_has_a_place_where_it_is_proven() -> None:
    for name, places in PLACES.items():
        assert {each.framework for each in places if each.front == "none"} == {*FRAMEWORKS[name]}


def test_every_deviation_is_listed_once_and_of_a_place_that_is_tried() -> None:
    """Else nobody would see that it no longer happens."""
    rows = tomllib.loads((ROOT / "contract" / "deviations.toml").read_text())["deviation"]
    seen = Counter(tuple(sorted({**row, "answer": "", "why": ""}.items())) for row in rows)
    assert [row for row, count in seen.items() if count > 1] == []
    every = [each for of in PLACES.values() for each in of]

    def is_tried(row: dict[str, str], place: Place) -> bool:
        has_database = place.front == "none"
        return (
            row.get("framework", place.framework) == place.framework
            and row.get("front", "none") == place.front_name
            and ("-messages-" not in row.get("example", "") or has_database)
        )

    assert [row for row in rows if not any(is_tried(row, each) for each in every)] == []


@pytest.mark.live
@pytest.mark.parametrize("name", PLACES)
def test_every_framework_answers_as_the_contract_says(
    name: ServiceName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a language at once: idle they take nothing, a request's own thread is known by its
    name, and then they mostly wait for a server to lose patience."""
    for front in fronts.FRONTS:
        fronts.program(front)
    monkeypatch.setenv("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", RECEIVE_S)
    monkeypatch.setenv("RESTBENCH_MAX_BODY_BYTES", str(BODY_LIMIT_BYTES[name]))
    monkeypatch.setenv("JAVA_OPTIONS", JVM)
    is_old = name == "java" and jvm.version() < HELIDON_JAVA
    places = [each for each in PLACES[name] if not (is_old and each.framework == "helidon")]
    with ExitStack() as stack:
        database = Database(tmp_path / "database")
        stack.callback(database.stop)
        database.start()
        database.migrate()
        of_database = database.environment() | {"RESTBENCH_DATABASE_CONNECTIONS": "4"}
        up: dict[Place, Service] = {}
        for place in places:
            up[place] = started_at(place, name, tmp_path, of_database)
            stack.callback(up[place].stop)
            assert up[place].health()["framework"] == place.framework
        bare = [each for each in places if each.front == "none"]
        assert_each_line_does_something(up[bare[0]])
        idle = {each: stack.enter_context(wire.kept(up[each].address)) for each in bare}
        for each, client in idle.items():
            listens = OWN_BACKLOG.get(each.framework, BACKLOG)
            assert wire.backlog(up[each].address[1]) == listens, each.name
            assert wire.sends_at_once(client, up[each].pids()), each.name
        # The thread that does everything for a request has its name from the framework.
        proofs = {each: seen_to_do(up[each], "serial") for each in bare}
        assert not {each: it for each, it in proofs.items() if not it.does}
        assert await_true(lambda: not busy(up)), busy(up)
        for client in idle.values():
            wire.await_end(client)
        runs: dict[Place, subprocess.Popen[str]] = {}
        told: dict[str, str] = {}
        # Fronts last: next to the bare servers a long body is not sent through one within its time.
        for wave in (bare, [each for each in places if each not in bare]):
            begun = {place: contract_run(name, place, up[place]) for place in wave}
            told |= {place.name: run.communicate()[0] for place, run in begun.items()}
            runs |= begun
        logs = {place.name: logged(tmp_path / place.name) for place in runs}
    wrong = [f"{place.name}: {told[place.name]}" for place, run in runs.items() if run.returncode]
    assert not wrong, "\n".join(wrong)
    thrown = [f"{it}: {log}" for it, log in logs.items() if re.search(THROWN, log)]
    assert not thrown, "\n".join(thrown)


def assert_each_line_does_something(service: Service) -> None:
    """Of those that `make serve` prints for messages: the database is new."""
    lines = [shlex.split(line) for line in serve.messages_lines(service)]
    said = [subprocess.run(each, capture_output=True, check=True).stdout for each in lines]
    made, also, listed, sent, to_all, counted, peeked, popped, *gone = map(json.loads, said)
    assert [made["created"], also["created"], *(each["deleted"] for each in gone)] == [True] * 4
    assert {"a", "b"} <= {each["queue"] for each in listed["queues"]}
    assert [sent["id"], *to_all["ids"]] == [1, 2, 3]
    assert counted["messages"] == len(peeked["messages"]) == 2
    assert popped["body"] == "hello"


def logged(folder: Path) -> str:
    """Of the service, or of each instance."""
    return "\n".join(each.read_text() for each in folder.glob("service*.log"))


@pytest.mark.live
def test_helidon_below_java_21_is_one_line_that_says_so() -> None:
    """The same jar, on any such Java of this machine."""
    homes = (home for folder in jvm.FOLDERS for home in Path(folder).expanduser().glob("*"))
    older = [it for it in homes if jvm._version(it)[0] in range(jvm.OLDEST, HELIDON_JAVA)]
    if not older:
        pytest.skip("no Java below 21 on this machine")
    ended = subprocess.run(
        [str(older[0] / "bin" / "java"), "-jar", str(programs.JAR)],
        env={"RESTBENCH_FRAMEWORK": "helidon", "RESTBENCH_PORT": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "tomcat, servlet, jetty" in ended.stderr and "needs Java 21" in ended.stderr
