"""What every test starts from: a machine of its own, as far as the lock of benchmarks goes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from command_line import let_go_of_the_machine
from database_server import DEBIAN, Session, session
from page_in_browser import PATIENCE_MS, VIEWS
from playwright.sync_api import Browser, Page, sync_playwright

from restbench.deploy.database import Database
from restbench.machine import watch

#: No test is about speed: a JVM that touches no heap beforehand and compiles simply starts with a
#: third of the CPU time.
os.environ.setdefault("JAVA_OPTIONS", "-Xms64m -XX:TieredStopAtLevel=1")
os.environ[watch.MACHINE] = f"restbench-tests-{os.getpid()}"


@pytest.fixture(autouse=True)
def _lets_go_of_the_machine() -> Iterator[None]:
    yield
    let_go_of_the_machine()


@pytest.fixture(scope="session", params=["package", "debian"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A migrated PostgreSQL for all tests: the package's, and Debian's, which is older."""
    if request.param == "debian" and DEBIAN is None:
        pytest.skip("no PostgreSQL of Debian's: apt-get install postgresql")
    programs = DEBIAN if request.param == "debian" else None
    started = Database(tmp_path_factory.mktemp(request.param), programs)
    started.start()
    try:
        started.migrate()
        yield started
    finally:
        started.stop()


@pytest.fixture
def ours(database: Database) -> Iterator[Session]:
    """As a service connects to it."""
    with session(database) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium; a module that asks for it is skipped where there is none."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium: make chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        yield started
        started.close()


@pytest.fixture
def view() -> tuple[int, str]:
    """The width in pixels and the colour scheme; tests that are about both give theirs."""
    return VIEWS[0]


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser, view: tuple[int, str]) -> Iterator[Page]:
    """The page at the module's `address` in this view; whatever the browser complains of, or asks
    the network for, is a failure of the test."""
    width, scheme = view
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(request.getfixturevalue("address"))
    yield page
    context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith("file:")] == []
