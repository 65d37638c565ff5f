"""The runner of examples and probes, against a server that answers everything alike."""

import itertools
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import conversation
import pytest
import run
from answers import Answer, Expectation, unlike
from cases import OF_ONE_PROCESS, TECHNIQUES, examples, offered, try_example
from conversation import try_probe
from probes import PROBES
from races import RACES, ROUNDS, broadcasts, pops, replays
from service import Outcome, Service

WRONG = Outcome("probe", "cut-off-body", "closed", ("'closed', not '400 002'",))
RIGHT = Outcome("probe", "cut-off-body", "400 002", ())
KEY = ("probe", "cut-off-body")


class Refuses(BaseHTTPRequestHandler):
    """Every request is 404 in the contract's form, and the connection closed."""

    status = 404

    def body(self) -> bytes:
        return b'{"requestId":null,"errorCode":"009","errorMessage":"no"}'

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = self.body()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
    setattr(Refuses, f"do_{method}", Refuses.answer)


class DoesAnew(Refuses):
    """Every request is done anew, whatever its key, but one message is always left."""

    status = 200
    ids = itertools.count(1)

    def body(self) -> bytes:
        number = next(self.ids)
        return b'{"id":%d,"ids":[%d],"messages":1}' % (number, number)


@contextmanager
def serving(handler: type[Refuses], pid: int | None = None) -> Iterator[Service]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        strategies = {"matrix": ["serial"], "messages": ["serial", "process-per-request"]}
        try:
            yield Service("127.0.0.1", server.server_port, strategies, 1000, 0.1, pid, True)
        finally:
            server.shutdown()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Refuses) as found:
        yield found


def test_a_difference_that_is_not_listed_fails() -> None:
    assert list(run.verdicts([WRONG], {})) == ["probe cut-off-body: 'closed', not '400 002'"]


def test_a_difference_that_is_listed_passes() -> None:
    assert list(run.verdicts([WRONG], {KEY: "closed"})) == []


def test_another_difference_than_the_listed_one_fails() -> None:
    assert list(run.verdicts([WRONG], {KEY: "silent"})) != []


def test_a_listed_difference_that_no_longer_happens_fails() -> None:
    assert list(run.verdicts([RIGHT], {KEY: "closed"})) != []


def test_a_row_of_a_front_is_not_one_of_the_bare_framework() -> None:
    assert KEY in run.deviations("tomcat", "nginx")
    assert run.deviations("tomcat", "nginx").keys() != run.deviations("tomcat", None).keys()


def test_every_row_names_what_there_is_and_why() -> None:
    known = {"example": set(examples()), "probe": {probe.name for probe in PROBES}}
    for row in run.rows():
        (kind,) = {"example", "probe", "promise"} & set(row)
        if kind != "promise":  # those are looked at in robustness/tests
            assert row[kind] in known[kind]
        assert {"framework", "front"} & set(row)
        assert row["why"]
        assert row["answer"]


@pytest.mark.parametrize("framework", ["tomcat", "flask"])
def test_no_row_of_a_default_framework_names_an_example(framework: str) -> None:
    assert not [row for row in run.rows() if row.get("framework") == framework and "example" in row]


def test_every_example_that_is_answered_wrongly_is_told(service: Service) -> None:
    outcomes = [try_example(service, *item) for item in examples().items()]
    right = {outcome.name for outcome in outcomes if not outcome.faults}
    assert right == set()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["http://127.0.0.1:{closed}"], "no service of the contract answers there: [Errno 111]"),
        (["http://127.0.0.1"], "no service of the contract answers there: give http://HOST:PORT"),
        (["http://127.0.0.1:{other}"], "no service of the contract answers there: 'strategies'"),
        (["http://127.0.0.1:{other}", "--technique", "skip"], "invalid choice: 'skip'"),
    ],
)
def test_a_wrong_address_or_technique_is_told_in_a_line(
    service: Service, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ports = {"closed": closed.getsockname()[1], "other": service.port}
        given = [each.format(**ports) for each in arguments]
        with pytest.raises(SystemExit, match="2"):
            run.main([*given, "--framework", "tomcat"])
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_a_probe_tells_what_came(service: Service) -> None:
    probes = {probe.name: probe for probe in PROBES}
    kept = try_probe(service, probes["kept-connection"])
    assert kept.answer == "404 009 closed"
    assert kept.faults
    named = try_probe(service, probes["product-in-an-answer"])
    assert named.answer == "404 009 python+version", "BaseHTTP/0.6 Python/3.11.2"


def test_a_race_that_nobody_wins_is_told(service: Service) -> None:
    assert [race.__name__ for race in RACES if not any(race(service))] == []


@pytest.mark.parametrize(
    ("race", "told"), [(replays, "not one answer: "), (pops, "not one message: ")]
)
def test_a_key_whose_requests_have_two_answers_is_told(
    race: Callable[[Service], Iterator[str]], told: str
) -> None:
    with serving(DoesAnew) as one:
        faults = list(race(one))
    assert [each[: len(told)] for each in faults] == [told] * ROUNDS


def test_a_broadcast_whose_key_has_two_answers_is_told() -> None:
    with serving(DoesAnew) as one:
        faults = list(broadcasts(one))
    told = [each.partition(":")[0] for each in faults if ": not one answer: " in each]
    assert told == [each for each in TECHNIQUES if each != OF_ONE_PROCESS]


TERM = next(probe for probe in PROBES if probe.name == "term-in-flight")


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """What is sent TERM in the place of a service."""
    with subprocess.Popen(["sleep", "600"]) as running:
        yield running
        running.kill()


@pytest.mark.parametrize(("is_told", "part"), [(True, 600), (False, 20)])
def test_term_comes_when_the_service_has_the_request_and_not_before(
    victim: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, is_told: bool, part: float
) -> None:
    """Or has nobody left to say so."""
    monkeypatch.setattr(conversation, "PART", part)
    asked, looks = itertools.count(1), []

    class Computes(Refuses):
        protocol_version, status = "HTTP/1.1", 200

        def body(self) -> bytes:
            if self.path != "/metrics":
                time.sleep(0.1)
                if next(asked) > 1:
                    victim.wait()
                return b"{}"
            looks.append(victim.poll())
            if not is_told:
                victim.wait()
            return b"restbench_requests_in_flight %d.0\n" % (len(looks) > 2)

    with serving(Computes, victim.pid) as one:
        assert try_probe(one, TERM).answer == "200 200"
    assert looks == [None] * (3 if is_told else 1)
    assert victim.returncode == -signal.SIGTERM


def test_a_second_of_work_has_more_time_until_it_counts_as_silent(
    victim: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the first answer took longer than every other one may take."""
    monkeypatch.setattr(conversation, "SILENT_S", 0.3)

    class IsBusy(Refuses):
        protocol_version, status = "HTTP/1.1", 200

        def body(self) -> bytes:
            time.sleep(0.6)
            return b"restbench_requests_in_flight 1.0\n"

    with serving(IsBusy, victim.pid) as one:
        assert try_probe(one, TERM).answer == "200 200"
        (other,) = (each for each in PROBES if each.name == "upgrade-to-websocket")
        assert try_probe(one, other).answer == "silent"


def test_a_request_that_has_its_answer_before_term_proves_nothing(
    victim: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "PART", 600_000)

    class IsSooner(Refuses):
        protocol_version, status = "HTTP/1.1", 200

        def body(self) -> bytes:
            return b"restbench_requests_in_flight 0.0\n"

    with serving(IsSooner, victim.pid) as one:
        found = try_probe(one, TERM)
    assert found.faults
    assert found.answer == "200 answered already"


def test_examples_of_messages_are_left_out_by_name_where_there_is_no_database(
    service: Service,
) -> None:
    with_one, none_left_out = offered(service)
    without, left_out = offered(replace(service, has_database=False))
    assert none_left_out == []
    assert len(left_out) > 250
    assert set(with_one) - set(without) == set(left_out)
    assert all("-messages-" in name for name in left_out)


SENT = {
    "request": {"path": "/messages/serial/queues/a/pop"},
    "status": 200,
    "response": {"id": 1, "sender": 3, "body": "x"},
    "varying": {"id": None},
}


def popped(text: str, example: dict[str, Any], earlier: dict[str, Any] | None = None) -> list[str]:
    """What is told of the body of an answer."""
    found = unlike(Expectation(example, earlier or {}), Answer(200, HTTPMessage(), text.encode()))
    return [fault for fault in found if fault.startswith("body")]


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ('{"id":9,"sender":3,"body":"x"}', True),
        ('{"id":0,"sender":3,"body":"x"}', False),
        ('{"id":9.0,"sender":3,"body":"x"}', False),
        ('{"id":"9","sender":3,"body":"x"}', False),
        ('{"id":true,"sender":3,"body":"x"}', False),
        ('{"id":null,"sender":3,"body":"x"}', False),
        ('{"id":9,"sender":4,"body":"x"}', False),
        ('{"id":9,"body":"x","sender":3}', False),
        ('{"id":9,"sender":3}', False),
        ('{"id": 9, "sender": 3, "body": "x"}', False),
        ("[]", False),
        ("", False),
    ],
)
def test_an_answer_is_right_but_for_what_varies(text: str, is_right: bool) -> None:
    assert (popped(text, SENT) == []) == is_right


def test_what_is_as_before_is_compared_with_the_answer_before() -> None:
    example = {**SENT, "varying": {"id": "before"}}
    text = '{"id":9,"sender":3,"body":"x"}'
    assert popped(text, example, {"id": 9}) == []
    assert popped(text, example, {"id": 8}) != []
    assert popped(text, example) != []


def test_members_of_each_object_in_an_array_may_vary() -> None:
    listed = {"messages": [{"id": 1, "body": "x"}, {"id": 1, "body": "y"}]}
    example = {**SENT, "response": listed, "varying": {"messages": {"id": None}}}
    assert popped('{"messages":[{"id":4,"body":"x"},{"id":5,"body":"y"}]}', example) == []
    assert popped('{"messages":[{"id":4,"body":"x"},{"id":5,"body":"x"}]}', example) != []
    assert popped('{"messages":[{"id":4,"body":"x"}]}', example) != []


def test_a_header_that_must_not_be_there_is_told() -> None:
    headers = HTTPMessage()
    headers["Idempotent-Replayed"] = "true"
    example = {**SENT, "responseHeaders": {"Idempotent-Replayed": None}}
    found = list(unlike(Expectation(example), Answer(200, headers, b"{}")))
    assert "Idempotent-Replayed: true, not None" in found
