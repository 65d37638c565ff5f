"""What is read of a request of messages, and what is told of its path, without a database.

The contract's examples have the rules of each member; here is what they cannot say.
"""

import hashlib

import pytest

from restbench_service.codec.messages import OPERATIONS, MessagesJson
from restbench_service.workloads.messages.database import with_driver_parameters
from restbench_service.workloads.messages.requests import Broadcast, Pop, Send, fingerprint
from restbench_service.workloads.workload import InvalidRequestError


def codec(operation: str, *values: str) -> MessagesJson:
    return MessagesJson(operation, 1000, 65536, "serial", values)


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


def test_parameters_are_named_in_the_driver_s_form_and_casts_are_left() -> None:
    text = "SELECT :a, b::text, '50%' WHERE c = :a_b"
    assert with_driver_parameters(text) == b"SELECT %(a)s, b::text, '50%%' WHERE c = %(a_b)s"


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
