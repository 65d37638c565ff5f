"""The oracle of messages says of every example what the example says; and what has none."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restbench_robustness.bodies import MESSAGE_SOURCES
from restbench_robustness.bodies.examples import FOLDER, body_of
from restbench_robustness.bodies.messages import EXAMPLES as OPERATIONS
from restbench_robustness.bodies.messages import ours
from restbench_robustness.comparison import unlike_verdict
from restbench_robustness.oracle import Limits, MessagesOracle, Request, Verdict
from restbench_robustness.oracle.message_answers import EMPTY, FULL, MISSING
from restbench_robustness.wire import Answer, Message, Route

sys.set_int_max_str_digits(0)
OTHER_PROCESSES = ("process-per-request", "executor-per-request")
ORACLE = MessagesOracle(["serial", *OTHER_PROCESSES], Limits())
TIMING = ", ".join(
    f"{stage};dur=0.001"
    for stage in ("queue", "parse", "compute", "serialize", "connection", "database")
)
EXAMPLES: dict[str, str] = {
    path.stem: path.read_text() for path in sorted(FOLDER.glob("*-messages-*.json"))
}
#: No matter of the request.
OF_THE_DATABASE = {"database-down", "database-lost-at-commit", "queue-without-room"}
JUDGED = [n for n, it in EXAMPLES.items() if json.loads(it).get("given") not in OF_THE_DATABASE]
#: That a queue is one of another process, the database alone knows.
WRONG = [
    name
    for name in JUDGED
    if name[:3] in {"002", "003", "007", "009"}
    and "queue-" not in json.loads(EXAMPLES[name]).get("given", "")
]


def named(text: str) -> dict[str, Any]:
    """With a queue that the oracle does not know."""
    loaded = json.loads(text)
    technique = loaded.get("techniques", ["skip-locked"])[0]
    strategy = loaded.get("strategies", ["serial"])[0]
    names = {"run": "x0123456789ab", "technique": technique, "strategy": strategy, "id": "1"}
    for name, it in names.items():
        text = text.replace(f"{{{name}}}", it)
    return dict(json.loads(text))


def answer_of(example: dict[str, Any]) -> Answer:
    text = example.get("responseText") or json.dumps(
        example["response"], ensure_ascii=False, separators=(",", ":")
    )
    headers = {"content-type": "application/json", "content-length": str(len(text.encode()))}
    allow = {"allow": "GET, POST, DELETE", "server-timing": TIMING}
    return Answer(example["status"], headers | allow, text.encode())


def judged(request: dict[str, Any]) -> Verdict:
    body, headers = body_of(request), request.get("headers", {})
    sent = Request(request["method"], request["path"], headers.get("Content-Type"), body, len(body))
    verdict = ORACLE.judge(sent)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize("name", JUDGED)
def test_the_oracle_agrees_with_the_example(name: str) -> None:
    example = named(EXAMPLES[name])
    verdict = judged(example["request"])
    message = Message(b"", path=example["request"]["path"])
    assert unlike_verdict(message, verdict, answer_of(example)) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_the_request_has_one_answer(name: str) -> None:
    example = named(EXAMPLES[name])
    verdict = judged(example["request"])
    assert verdict.or_else == ()
    assert verdict.messages == {example["response"]["errorMessage"]}
    assert verdict.request_id == example["response"]["requestId"]
    told = example.get("responseHeaders", {}).get("Allow")
    assert told is None or told in (verdict.allow or "")


def post(path: str, **members: Any) -> Verdict:
    body = {"requestId": 7, **members}
    headers = {"Content-Type": "application/json"}
    path = f"/messages/serial{path}"
    return judged({"method": "POST", "path": path, "headers": headers, "body": body})


def get(path: str, method: str = "GET") -> Verdict:
    return judged({"method": method, "path": f"/messages/serial{path}"})


def test_of_the_campaign_s_queues_there_is_one_answer() -> None:
    made = f'{{"requestId":"7","queue":"{EMPTY}","technique":"skip-locked","created":false}}'
    nothing = '{"requestId":"7","id":null}'
    message = '{"id":1,"sender":1,"receiver":null,"body":"x","sentAt":1}'
    taken = f'{{"requestId":"7",{message[1:]}'
    for verdict, right, wrong in (
        (post("/queues", queue=EMPTY), made, made.replace("false", "true")),
        (post(f"/queues/{EMPTY}/pop", client=1), nothing, taken),
        (get(f"/queues/{EMPTY}/messages"), '{"messages":[]}', f'{{"messages":[{message}]}}'),
        (
            get(f"/queues/{MISSING}", "DELETE"),
            f'{{"queue":"{MISSING}","deleted":false}}',
            f'{{"queue":"{MISSING}","deleted":true}}',
        ),
        (
            get(f"/queues/{EMPTY}"),
            f'{{"queue":"{EMPTY}","technique":"skip-locked","messages":0}}',
            f'{{"queue":"{EMPTY}","technique":"skip-locked","messages":1}}',
        ),
    ):
        assert verdict.pattern is not None and verdict.or_else == ()
        assert re.fullmatch(verdict.pattern, right)
        assert not re.fullmatch(verdict.pattern, wrong)
    assert post("/queues", queue=FULL, technique="pgmq").code == "013"
    assert post(f"/queues/{MISSING}/messages", sender=1, body="x").code == "012"
    second = post("/broadcast", sender=1, queues=[FULL, MISSING], body="x")
    assert second.messages == {"queues[1]: does not exist"}
    sent = post(f"/queues/{FULL}/messages", sender=1, body="x")
    assert sent.or_else == () and sent.pattern is not None


def test_a_wrong_answer_to_a_right_request_is_told() -> None:
    verdict = post(f"/queues/{FULL}/messages", sender=1, body="x", key="k")
    for status, text in (
        (200, '{"requestId":"7","id":0}'),
        (200, '{"requestId":"8","id":1}'),
        (200, '{"requestId":"7","id":1,"x":1}'),
        (404, '{"requestId":7,"errorCode":"012","errorMessage":"queue: does not exist"}'),
        (500, '{"requestId":7,"errorCode":"099","errorMessage":"a fault"}'),
    ):
        answer = answer_of({"status": status, "responseText": text})
        assert unlike_verdict(Message(b"", path="/messages/"), verdict, answer), text


RIGHT = [it for name, it in OPERATIONS.items() if name.startswith(("ok-", "012-", "013-"))]


@given(st.sampled_from(RIGHT).flatmap(ours))
def test_a_right_request_is_never_an_error_of_the_request(message: Message) -> None:
    verdict = ORACLE.judge(message.as_received(Route("serial", "")))
    assert verdict is not None
    assert verdict.code in {"ok", "012", "013"}


@pytest.mark.parametrize("source", MESSAGE_SOURCES, ids=lambda it: it.name)
def test_no_message_of_a_campaign_fills_or_deletes_what_must_stay(source: Any) -> None:
    @given(source.messages)
    def check(message: Message) -> None:
        verdict = ORACLE.judge(message.as_received(Route("serial", "")))
        assert verdict is not None
        changes = verdict.status == 200 and (message.method, message.path.rpartition("/")[2])
        if changes == ("POST", "messages"):
            assert EMPTY not in message.path
        if changes and message.method == "DELETE" and "/messages/" not in message.path[10:]:
            assert EMPTY not in message.path and FULL not in message.path

    check()
