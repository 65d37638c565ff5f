"""The contract on the wire: its examples and probes against every framework, and behind each front.
What differs stands in contract/deviations.toml."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from ports import free_port

from restbench import ROOT
from restbench.deploy import fronts, programs, service
from restbench.deploy.database import Database
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, Framework, Front, Link, ServiceName
from restbench.machine import jvm

#: Every framework, and the default one behind each front that is ours, over each link. Where work
#: runs is for an event loop alone.
PLACES: dict[ServiceName, list[tuple[Framework, Front, str, Link]]] = {
    "java": [
        ("tomcat", "none", "", "tcp"),
        ("tomcat", "nginx", "", "tcp"),
        ("tomcat", "haproxy", "", "tcp"),
        ("servlet", "none", "", "tcp"),
        ("jetty", "none", "", "tcp"),
        ("reactor-netty", "none", "thread", "tcp"),
        ("vertx", "none", "thread", "tcp"),
        ("vertx", "none", "loop", "tcp"),
        ("helidon", "none", "", "tcp"),
    ],
    "python": [
        ("flask", "none", "", "tcp"),
        ("flask", "nginx", "", "tcp"),
        ("flask", "haproxy", "", "tcp"),
        ("flask", "nginx", "", "unix"),
        ("flask", "haproxy", "", "unix"),
        ("flask-granian", "none", "", "tcp"),
        ("fastapi", "none", "thread", "tcp"),
        ("fastapi", "none", "loop", "tcp"),
        ("fastapi-gunicorn", "none", "thread", "tcp"),
        ("aiohttp", "none", "thread", "tcp"),
        ("rsgi", "none", "thread", "tcp"),
    ],
}
#: Java's: how the threads of the server begin that parses HTTP.
SERVER_THREADS = {
    "tomcat": "http-nio-",
    "servlet": "http-nio-",
    "jetty": "http-jetty-",
    "reactor-netty": "reactor-loop-",
    "vertx": "vert.x-event",
    "helidon": "server-@default",
}
#: Helidon's class files are of this Java.
HELIDON_JAVA = 21
#: Of each Java service, as they are all up at once and no test is about speed.
JVM = "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1"
RECEIVE_S = "2"
THROWN = r"Traceback|Exception in thread"
RUNNER = ROOT / "contract" / "run.py"


def java_version(program: str) -> int:
    """Such as 17."""
    told = subprocess.run([program, "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "(\d+)', told)
    assert found, told
    return int(found[1])


def has_thread(pid: int, prefix: str) -> bool:
    """Whether a thread's name, of which the kernel keeps 15 characters, begins so."""
    names = (path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/comm"))
    return any(name.startswith(prefix) for name in names)


@pytest.mark.live
@pytest.mark.parametrize("name", PLACES)
def test_every_framework_answers_as_the_contract_says(
    name: ServiceName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a language at once: they mostly wait for a server to lose patience."""
    for front in fronts.TEMPLATES.iterdir():
        fronts.program(front.name)
    monkeypatch.setenv("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", RECEIVE_S)
    monkeypatch.setenv("JAVA_OPTIONS", JVM)
    with ExitStack() as stack:
        database = Database(tmp_path / "database")
        stack.callback(database.stop)
        database.start()
        database.migrate()
        of_database = database.environment() | {"RESTBENCH_DATABASE_CONNECTIONS": "4"}
        runs: dict[str, subprocess.Popen[str]] = {}
        for framework, front, handoff, link in PLACES[name]:
            if framework == "helidon" and java_version(jvm.java()) < HELIDON_JAVA:
                continue
            monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
            monkeypatch.setenv(f"{name.upper()}_FRAMEWORK", framework)
            folder = tmp_path / f"{framework}-{front}-{handoff}-{link}"
            settings = {"RESTBENCH_HANDOFF": handoff} if handoff else {}
            settings |= of_database if front == "none" else {}
            started = service.start(
                name, front, None, folder, protected=True, settings=settings, link=link
            )
            stack.callback(started.stop)
            assert started.health()["framework"] == framework
            if name == "java":
                assert has_thread(started.processes[0].pid, SERVER_THREADS[framework])
            asked = ["--framework", framework, "--receive-seconds", RECEIVE_S]
            asked += ["--pid", str(started.processes[0].pid)]
            asked += [] if front == "none" else ["--front", front]
            if framework != DEFAULT_FRAMEWORKS[name]:
                asked += ["--technique", "skip-locked"]  # of others no framework knows
            if name == "java" and framework != DEFAULT_FRAMEWORKS[name]:
                asked += ["--strategy", "serial"]  # ContractExamplesTest has the others
            runs[folder.name] = subprocess.Popen(
                [sys.executable, str(RUNNER), started.base_url, *asked],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        told = {place: run.communicate()[0] for place, run in runs.items()}
        logs = {place: (tmp_path / place / "service.log").read_text() for place in runs}
    wrong = [f"{place}: {told[place]}" for place, run in runs.items() if run.returncode]
    assert not wrong, "\n".join(wrong)
    thrown = [f"{it}: {log}" for it, log in logs.items() if re.search(THROWN, log)]
    assert not thrown, "\n".join(thrown)


@pytest.mark.live
def test_helidon_below_java_21_is_one_line_that_says_so() -> None:
    """The same jar, on any such Java of this machine."""
    folders = (Path(folder).expanduser() for folder in jvm.FOLDERS)
    programs_found = [str(it) for folder in folders for it in folder.glob("*/bin/java")]
    older = [it for it in programs_found if java_version(it) in range(jvm.OLDEST, HELIDON_JAVA)]
    if not older:
        pytest.skip("no Java below 21 on this machine")
    ended = subprocess.run(
        [older[0], "-jar", str(programs.JAR)],
        env={"RESTBENCH_FRAMEWORK": "helidon", "RESTBENCH_PORT": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "tomcat, servlet, jetty" in ended.stderr and "needs Java 21" in ended.stderr
