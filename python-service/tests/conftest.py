from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import blas_threads  # noqa: F401 - see there
import pytest
from hypothesis import HealthCheck, settings
from live_database import LiveDatabase, started_database
from live_service import PRELOADED, LiveService, running
from message_calls import Caller, calling_at

from restbench_service.execution.strategies import Start, start_strategies
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.messages.database import Database

settings.register_profile(
    "any machine",  # the same examples each time, and no clock
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service with two processes a pool, for tests that leave it as it was. It is started in an
    environment that is not yet what it has to be."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("MALLOC_ARENA_MAX")
            patch.setenv("OPENBLAS_NUM_THREADS", "7")
            patch.setenv("OPENBLAS_VERBOSE", "0")
            log = tmp_path_factory.mktemp("service") / "log"
            live = stack.enter_context(running(log, PROCESSES="2"))
        yield live


@pytest.fixture(scope="session")
def strategies() -> Iterator[dict[str, Strategy]]:
    """The techniques in this process, with two processes a pool."""
    table = start_strategies(Start(2, None, PRELOADED))
    for strategy in table.values():
        strategy.await_ready()
    yield table
    for strategy in table.values():
        strategy.close()


@pytest.fixture
def prefix(name: str) -> str:
    """Of the names of the processes that belong to PER_ELEMENT and PER_REQUEST, such as PE-."""
    first, _, last = name.split("-")
    return f"{first[0]}{last[0]}-".upper()


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDatabase]:
    """One server for the session."""
    with started_database(tmp_path_factory.mktemp("database")) as live:
        yield live


@pytest.fixture(scope="module")
def caller(database: LiveDatabase) -> Iterator[Caller]:
    """Of the workload messages in this process."""
    with calling_at(database) as caller:
        yield caller


@pytest.fixture
def own(database: LiveDatabase) -> Iterator[Database]:
    """A service's access to the database, without the service."""
    own = Database(database.settings(), connections=1)
    own.open()
    yield own
    own.close()


@pytest.fixture
def users() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


@pytest.fixture
def signal(tmp_path: Path) -> Iterator[Path]:
    """The file that held requests wait for; it is there in the end whatever happens."""
    path = tmp_path / "go on"
    yield path
    path.touch()
