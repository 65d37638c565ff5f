"""What is answered when the connection breaks: not done, or unknown, and never a false word."""

from collections.abc import Callable, Iterator

import pytest
from cutting_proxy import Cut, CuttingProxy
from live_database import LiveDatabase, fresh_name
from live_service import wait_until
from message_calls import Caller, Told, calling_at
from test_core import Scripted, assert_nothing_is_left, core_of, handed_over, opened

from restbench_service.core.service import UNKNOWN
from restbench_service.settings import Settings
from restbench_service.workloads.matrix import MatrixWorkload

STATEMENTS = {
    "skip-locked": (1, 1),
    "statements": (3, 4),
    "function": (1, 1),
    "blocking": (1, 1),
    "advisory": (1, 4),
    "repeatable-read": (1, 3),
    "pgmq": (1, 1),
}
"""Of a send, and of a pop of one message: the last one decides."""


@pytest.fixture
def proxy(database: LiveDatabase) -> Iterator[CuttingProxy]:
    port = int(database.url.rpartition(":")[2].partition("/")[0])
    proxy = CuttingProxy(port)
    yield proxy
    proxy.close()


@pytest.fixture
def cut_off(database: LiveDatabase, proxy: CuttingProxy) -> Iterator[Caller]:
    """By way of the proxy, on one connection."""
    with calling_at(database.at(proxy.port), database_connections=1) as caller:
        yield caller


@pytest.fixture(scope="module")
def direct(database: LiveDatabase) -> Iterator[Caller]:
    with calling_at(database, database_connections=2) as caller:
        yield caller


def filled(caller: Caller, technique: str) -> str:
    """A queue that is known with two messages, and statements that are prepared."""
    queue = caller.queue(technique)
    for _ in range(3):
        caller.send(queue)
        caller.pop(queue)
    assert [caller.send(queue).status for _ in range(2)] == [200, 200]
    return queue


@pytest.mark.parametrize("technique", STATEMENTS)
@pytest.mark.parametrize("cut", ["before", "within", "behind"])
@pytest.mark.parametrize("is_pop", [False, True])
def test_a_break_at_the_deciding_statement_is_unknown_and_a_key_tells(  # noqa: PLR0917
    cut_off: Caller, direct: Caller, proxy: CuttingProxy, technique: str, cut: Cut, is_pop: bool
) -> None:
    queue, key = filled(cut_off, technique), fresh_name()
    deciding = STATEMENTS[technique][is_pop]
    if technique == "statements":
        deciding += 1 + is_pop  # the receipt, and the lock of the key
    call: Callable[[], Told] = (
        (lambda: cut_off.pop(queue, key=key)) if is_pop else (lambda: cut_off.send(queue, key=key))
    )
    proxy.arm(deciding, cut)
    told = call()
    assert (told.status, told.code, proxy.cuts) == (503, "015", 1)
    assert told.headers["Retry-After"] == "1"
    is_done = cut == "behind"
    step = -1 if is_pop else 1
    assert direct.count(queue) == 2 + step * is_done
    again = call()
    assert (again.status, "Idempotent-Replayed" in again.headers) == (200, is_done)
    assert direct.count(queue) == 2 + step


@pytest.mark.parametrize("technique", STATEMENTS)
@pytest.mark.parametrize("cut", ["before", "within", "behind"])
def test_a_break_at_the_end_of_a_broadcast_is_unknown_and_a_key_tells(
    cut_off: Caller, direct: Caller, proxy: CuttingProxy, technique: str, cut: Cut
) -> None:
    queues, key = [filled(cut_off, technique) for _ in range(2)], fresh_name()
    assert cut_off.broadcast(*queues, key=fresh_name()).status == 200
    # pgmq's: the transaction's two ends, two messages and the receipt
    proxy.arm(5 if technique == "pgmq" else 1, cut)
    told = cut_off.broadcast(*queues, key=key)
    assert (told.status, told.code, proxy.cuts) == (503, "015", 1)
    is_done = cut == "behind"
    assert [direct.count(queue) for queue in queues] == [3 + is_done] * 2
    again = cut_off.broadcast(*queues, key=key)
    assert (again.status, "Idempotent-Replayed" in again.headers) == (200, is_done)
    assert [direct.count(queue) for queue in queues] == [4, 4]


@pytest.mark.parametrize("technique", [name for name, (_, pop) in STATEMENTS.items() if pop > 1])
@pytest.mark.parametrize("cut", ["before", "behind"])
def test_a_break_before_commit_is_sent_is_not_done(
    cut_off: Caller, direct: Caller, proxy: CuttingProxy, technique: str, cut: Cut
) -> None:
    for statement in range(1, STATEMENTS[technique][1]):
        queue = filled(cut_off, technique)
        proxy.arm(statement, cut)
        told = cut_off.pop(queue)
        assert (told.status, told.code) == (503, "014"), statement
        assert direct.count(queue) == 2
        assert cut_off.pop(queue).status == 200


@pytest.mark.parametrize("technique", STATEMENTS)
def test_a_break_after_the_answer_hurts_nobody(
    cut_off: Caller, direct: Caller, proxy: CuttingProxy, technique: str
) -> None:
    queue = filled(cut_off, technique)
    proxy.arm(STATEMENTS[technique][1], "after")
    assert cut_off.pop(queue).status == 200
    wait_until(lambda: proxy.ended == 1)
    assert cut_off.pop(queue).status == 200
    assert (direct.count(queue), proxy.cuts) == (0, 1)


@pytest.mark.parametrize("technique", STATEMENTS)
def test_no_text_is_parsed_twice_for_a_connection(
    cut_off: Caller, proxy: CuttingProxy, technique: str
) -> None:
    """Statements are prepared; BEGIN and COMMIT are simple queries, which cost less than being
    parsed, bound and described each time."""
    queue = filled(cut_off, technique)
    proxy.parsed = 0
    assert (cut_off.send(queue).status, cut_off.pop(queue).status) == (200, 200)
    assert proxy.parsed == 0


def test_a_break_in_a_question_has_done_nothing(cut_off: Caller, proxy: CuttingProxy) -> None:
    queue = filled(cut_off, "skip-locked")
    for path in ("/queues", f"/queues/{queue}", f"/queues/{queue}/messages"):
        proxy.arm(1, "behind")
        assert cut_off.ask("GET", path).code == "014"
        assert cut_off.ask("GET", path).status == 200


def test_a_queue_that_is_made_or_deleted_when_it_breaks_may_be_so(
    cut_off: Caller, direct: Caller, proxy: CuttingProxy
) -> None:
    name = fresh_name()
    cut_off.queue()
    proxy.arm(1, "behind")
    assert cut_off.ask("POST", "/queues", requestId=1, queue=name).code == "015"
    assert direct.ask("POST", "/queues", requestId=1, queue=name).members["created"] is False
    proxy.arm(2, "behind")  # before it is asked what queue it is
    assert cut_off.ask("DELETE", f"/queues/{name}").code == "015"
    assert direct.ask("DELETE", f"/queues/{name}").members["deleted"] is False


def test_messages_in_memory_go_with_a_queue_whose_deletion_was_unknown(
    cut_off: Caller, proxy: CuttingProxy
) -> None:
    queue, budget = cut_off.queue("memory"), cut_off.core.budget
    assert cut_off.send(queue).status == 200
    proxy.arm(2, "behind")
    assert cut_off.ask("DELETE", f"/queues/{queue}").code == "015"
    assert budget.held_bytes > 0, "it may be there"
    assert cut_off.ask("DELETE", f"/queues/{queue}").members["deleted"] is False
    assert budget.held_bytes == 0


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"SILENT_SECONDS": 1.0, "SILENCE_CHECK_SECONDS": 0.05}.items():
        monkeypatch.setattr(f"restbench_service.workloads.messages.database.{name}", seconds)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_falls_silent_at_the_deciding_statement_leaves_it_unknown(
    cut_off: Caller, direct: Caller, proxy: CuttingProxy, caplog: pytest.LogCaptureFixture
) -> None:
    queue, key = filled(cut_off, "skip-locked"), fresh_name()
    proxy.arm(1, "silent")
    assert cut_off.pop(queue, key=key).code == "015"
    again = cut_off.pop(queue, key=key)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert (direct.count(queue), proxy.cuts) == (1, 1)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["the database fails with SQLSTATE 08006", "the database answers again"]


@pytest.mark.usefixtures("impatient")
def test_a_server_that_falls_silent_before_has_done_nothing(
    cut_off: Caller, direct: Caller, proxy: CuttingProxy
) -> None:
    queue = filled(cut_off, "statements")
    for statement in range(1, STATEMENTS["statements"][1]):
        proxy.arm(statement, "silent")
        assert cut_off.pop(queue).code == "014", statement
    assert direct.count(queue) == 2
    assert cut_off.pop(queue).status == 200


@pytest.mark.parametrize(("is_blocking", "status"), [(True, 200), (False, 503)])
def test_what_is_done_in_a_database_is_told_though_others_have_all_memory(
    monkeypatch: pytest.MonkeyPatch, is_blocking: bool, status: int
) -> None:
    monkeypatch.setattr(MatrixWorkload, "is_blocking", is_blocking)
    strategy = Scripted()
    core = core_of(Settings(memory_budget_bytes=1000, input_cache_bytes=0), serial=strategy)
    other = opened(core, UNKNOWN)
    assert other.take(bytes(300)) is None
    answered = handed_over(core)
    strategy.given[0][1].set_result(bytes(900))
    reply = answered.result()
    assert reply.status == status
    reply.sent()
    other.cut_off()
    assert_nothing_is_left(core)
