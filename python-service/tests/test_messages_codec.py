"""What is read of a request of messages, and what is told of its path, without a database.

The contract's examples have the rules of each member; here is what they cannot say.
"""

import hashlib
import json

import pytest
from live_database import unused_address

from restbench_service.codec.codec import Answer
from restbench_service.codec.messages import OPERATIONS, MessagesJson
from restbench_service.coded_workloads import coded_workloads
from restbench_service.core.routes import Routes
from restbench_service.execution.techniques import Serial
from restbench_service.workloads.messages.database import statements, with_driver_parameters
from restbench_service.workloads.messages.requests import (
    TECHNIQUES,
    Broadcast,
    Message,
    Outcome,
    Pop,
    Send,
    fingerprint,
)
from restbench_service.workloads.messages.techniques import QUEUE_TECHNIQUES
from restbench_service.workloads.workload import InvalidRequestError

LIMITS = (1000, 65536)


def codec(operation: str, *values: str) -> MessagesJson:
    return MessagesJson(operation, *LIMITS, "serial", values)


def test_a_fingerprint_is_the_same_in_both_services() -> None:
    send = Send("a", client=3, receiver=0, body="x", key="k", request_id=1)
    assert fingerprint(send) == hashlib.sha256(b"send\na\n0\nx").digest()
    assert fingerprint(send).hex() == (
        "946d557943f69f3a71cbbd8bb87ee95279241f60657d5d991968560d7bfbc94c"
    )
    broadcast = Broadcast(("a", "b"), client=3, body="é", key="k", request_id=1)
    assert fingerprint(broadcast) == hashlib.sha256("broadcast\na,b\n0\né".encode()).digest()
    pop = Pop("a", client=3, receiver=5, key="k", request_id=1)
    assert fingerprint(pop) == hashlib.sha256(b"pop\na\n5\n").digest()


def test_the_tables_have_the_same_techniques() -> None:
    assert tuple(QUEUE_TECHNIQUES) == TECHNIQUES


def test_every_statement_that_a_technique_names_is_in_the_contract() -> None:
    for technique in QUEUE_TECHNIQUES.values():
        for name in (technique.send, technique.pop):
            assert name in statements()
            assert technique.key != "with-key" or f"{name}-with-key" in statements()


def test_parameters_are_named_in_the_driver_s_form_and_casts_are_left() -> None:
    text = "SELECT :a, b::text, '50%' WHERE c = :a_b"
    assert with_driver_parameters(text) == b"SELECT %(a)s, b::text, '50%%' WHERE c = %(a_b)s"


def test_a_path_is_split_as_it_is_sent() -> None:
    table = coded_workloads(unused_address().settings(max_delay_millis=0))
    routes = Routes(table, {name: Serial(None) for name in ("serial", "adaptive")})
    found = {
        path: list(routes.at(f"/messages/serial{path}"))
        for path in ("/queues", "/queues/a", "/queues/a/messages", "/queues/a/pop", "/broadcast")
    }
    assert found == {
        "/queues": ["GET", "POST"],
        "/queues/a": ["GET", "DELETE"],
        "/queues/a/messages": ["GET", "POST"],
        "/queues/a/pop": ["POST"],
        "/broadcast": ["POST"],
    }
    for path in ("", "/", "/queues/", "/queues//pop", "//queues", "/queues/a/pops", "/Queues"):
        assert not routes.at(f"/messages/serial{path}")
    assert not routes.at("/messages/adaptive/queues/a")
    assert not routes.at("/matrix/serial/queues/a")
    assert routes.at("/matrix/adaptive")
    route = routes.at("/messages/serial/queues/%2F/messages/1%20")["DELETE"]
    assert route.codec == MessagesJson("delete-message", 0, 65536, "serial", ("%2F", "1%20"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_error_of_the_path_has_the_id_of_a_right_body_and_else_none(operation: str) -> None:
    values = ("A", "1")[: OPERATIONS[operation][1].count("{")]
    body = b'{"requestId":9}'
    with pytest.raises(InvalidRequestError) as refused:
        codec(operation, *values).decode(body, "" if values else "delay=x")
    assert refused.value.code == "003"
    is_post = OPERATIONS[operation][0] == "POST"
    assert refused.value.request_id == (9 if is_post else None)
    assert codec(operation, *values).identify(body) == (9 if is_post else None)


@pytest.mark.parametrize("queues", ["[1e999]", '["a",["b"]]', '{"a":1}', '["a","a"]', "[null]"])
def test_what_is_no_list_of_names_is_one_fault(queues: str) -> None:
    body = f'{{"requestId":1,"sender":1,"queues":{queues},"body":"x"}}'.encode()
    with pytest.raises(InvalidRequestError, match="queues: must be an array of 1 to 100"):
        codec("broadcast").decode(body, "")


def test_a_limit_of_characters_counts_code_points() -> None:
    small = MessagesJson("send", 0, 2, "serial", ("a",))
    body = json.dumps({"requestId": 1, "sender": 1, "body": "😀😀"}).encode()
    assert small.decode(body, "") == Send("a", 1, 0, "😀😀", None, request_id=1, strategy="serial")
    with pytest.raises(InvalidRequestError) as refused:
        small.decode(body.replace(b'"}', b'x"}'), "")
    assert (refused.value.code, refused.value.message) == (
        "007",
        "body: the number of characters is 3, the limit is 2",
    )


def test_a_replay_is_told_in_a_header() -> None:
    pop = Pop("a", 5, 0, "k", request_id=7)
    answers = [
        codec("pop", "a").encode(Outcome(pop, Message(1, 2, "b", 3), is_replay, {}))
        for is_replay in (False, True)
    ]
    assert answers[0] == answers[1]
    assert not isinstance(answers[0], Answer)
    assert isinstance(answers[1], Answer)
    assert answers[1].headers == {"Idempotent-Replayed": "true"}
