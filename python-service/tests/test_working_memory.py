"""What the kernels may hold together: what never fits, what does not fit now."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from time import sleep
from typing import Any

import pytest
from contract_example import EXAMPLES, body_of, check_error, given, paths_of
from live_service import JSON, STRATEGIES
from restbench_service.workloads.look import Look
from test_killed_processes import SMALL
from werkzeug.test import TestResponse

from restbench_service.execution.clock import StageClock
from restbench_service.execution.serial import Serial
from restbench_service.execution.strategy import Strategy
from restbench_service.settings import Settings
from restbench_service.web import MOST_LOOKED_AT_BYTES, create_app
from restbench_service.workloads.npb.workload import NpbWorkload
from restbench_service.workloads.workload import Workload

LONG = b" " * MOST_LOOKED_AT_BYTES
IS_S = b'{"requestId":1,"class":"S"}'


@pytest.mark.parametrize("name", given("memory-limit-100-mib"))
def test_a_class_above_the_memory_of_the_service_is_refused(name: str) -> None:
    table: dict[str, Strategy] = {strategy: NeverAsked() for strategy in STRATEGIES}
    settings = Settings(working_memory_bytes=116 * 2**20, input_cache_bytes=16 * 2**20)
    client = create_app(settings, table).test_client()
    sent = EXAMPLES[name]["request"]
    for path in paths_of(EXAMPLES[name]):
        response = client.post(path, data=body_of(EXAMPLES[name]), headers=sent["headers"])
        assert response.status_code == EXAMPLES[name]["status"]
        check_error(EXAMPLES[name], path, response.text)


class NeverAsked(Serial):
    """Reads the request and no more."""

    def __init__(self) -> None:
        super().__init__(None)

    def execute(self, workload: Workload[Any, Any], body: bytes, _: StageClock) -> bytes:
        workload.parse(body)
        raise AssertionError("not refused")


class Holding(Serial):
    """Its first request stays until it is let go; who only looks does not."""

    def __init__(self) -> None:
        super().__init__(None)
        self.is_held, self.let_go = Event(), Event()

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        if not isinstance(workload, Look):
            self.is_held.set()
            assert self.let_go.wait(60)
        return super().execute(workload, body, clock)


@pytest.mark.parametrize("more", [b"", LONG])
@pytest.mark.parametrize("name", given("memory-held"))
def test_a_request_whose_memory_is_held_by_another_is_told_to_come_later(
    name: str, more: bytes
) -> None:
    example, strategy = EXAMPLES[name], Holding()
    sent, body = example["request"], body_of(example) + more
    need_bytes = NpbWorkload("MG", 2**30, 0).working_bytes(body)
    settings = Settings(working_memory_bytes=2 * need_bytes - 1, input_cache_bytes=0)
    app = create_app(settings, {"serial": strategy})

    def post() -> TestResponse:
        return app.test_client().post(sent["path"], data=body, headers=sent["headers"])

    with ThreadPoolExecutor(1) as others:
        other = others.submit(post)
        assert strategy.is_held.wait(60)
        refused = post()
        strategy.let_go.set()
        assert other.result().get_json()["verified"] is True
    assert refused.status_code == example["status"]
    assert refused.headers["Retry-After"] == "1"
    check_error(example, sent["path"], refused.text)
    assert post().status_code == 200


def test_a_request_that_needs_no_memory_waits_for_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    is_looking, look_on = Event(), Event()

    def look(_: NpbWorkload, __: bytes) -> int:
        is_looking.set()
        assert look_on.wait(60)
        return 0

    monkeypatch.setattr(NpbWorkload, "working_bytes", look)
    app = create_app(Settings(), {"serial": Serial(None)})

    def post(path: str, body: bytes) -> int:
        return app.test_client().post(path, data=body, headers=JSON).status_code

    with ThreadPoolExecutor(2) as users:
        looked_at = users.submit(post, "/npb-is/serial", IS_S)
        assert is_looking.wait(60)
        try:
            assert users.submit(post, "/matrix/serial", SMALL[0]).result(60) == 200
        finally:
            look_on.set()
        assert looked_at.result(60) == 200


class Reader(Serial):
    """Tells what it was asked to read."""

    def __init__(self) -> None:
        super().__init__(None)
        self.read: list[str] = []

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        self.read.append(type(workload).__name__)
        return super().execute(workload, body, clock)


@pytest.mark.parametrize(
    ("body", "status", "read"),
    [
        (IS_S, 200, ["NpbWorkload"]),
        (IS_S + LONG, 200, ["Look", "NpbWorkload"]),
        (LONG + b"{", 400, ["Look", "NpbWorkload"]),
    ],
)
def test_a_long_body_is_read_where_the_technique_reads(
    body: bytes, status: int, read: list[str]
) -> None:
    strategy = Reader()
    app = create_app(Settings(), {"serial": strategy})
    assert app.test_client().post("/npb-is/serial", data=body, headers=JSON).status_code == status
    assert strategy.read == read


def test_requests_are_looked_at_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a look at a body takes is held by no budget."""
    inside = Lock()

    def look(_: NpbWorkload, __: bytes) -> int:
        assert inside.acquire(blocking=False), "two at once"
        sleep(0.05)  # long enough for the others to come
        inside.release()
        return 0

    monkeypatch.setattr(NpbWorkload, "working_bytes", look)
    app = create_app(Settings(), {"serial": Serial(None)})

    def post(_: int) -> int:
        return app.test_client().post("/npb-is/serial", data="{", headers=JSON).status_code

    with ThreadPoolExecutor(4) as users:
        assert list(users.map(post, range(4))) == [400] * 4
