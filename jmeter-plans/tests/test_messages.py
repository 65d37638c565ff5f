"""Users who send messages to queues and pop them: what they ask for, and how they judge answers."""

import json
import re
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stub_service import Answer, StubService
from trials import CORRECT, ERROR, WRONG, Done, Load, loading

SEND, POP, EMPTY = 0, 1, 2
CHARACTERS, QUEUES = 64, 3
USER = 1_000_000_000
TIMING = "queue;dur=0.1, compute;dur=2, connection;dur=0.5, database;dur=1.25"
Spoil = Callable[[dict[str, object]], dict[str, object]]


class Queues:
    """A service of queues; what a pop answers can be spoilt."""

    def __init__(self, spoil: Spoil = lambda answer: answer) -> None:
        self.service = StubService(self.answer)
        self.spoil = spoil
        self.kept: dict[str, deque[str]] = defaultdict(deque)
        self.asked: list[tuple[str, dict[str, object]]] = []

    def answer(self, request_id: str) -> Answer:
        place = self.service.request_ids.index(request_id)
        path, request = self.service.paths[place], json.loads(self.service.bodies[place])
        self.asked.append((path, request))
        queue, _, what = path.rpartition("/")
        told: dict[str, object] = {"requestId": request_id, "id": len(self.asked)}
        if what == "messages":
            self.kept[queue].append(request["body"])
        elif self.kept[queue]:
            told |= {"sender": 1, "receiver": None, "body": self.kept[queue].popleft()}
            told = self.spoil(told | {"sentAt": 1})
        else:
            told["id"] = None
        status = told.pop("status", 200)
        assert isinstance(status, int)
        return Answer(status, json.dumps(told, separators=(",", ":")).encode(), TIMING)


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    with loading(tmp_path_factory.mktemp("messages"), users=4) as found:
        yield found


def payload(load: Load, sends: int = 1, keys: str = "false") -> Path:
    folder = load.folder / f"messages-{sends}-{keys}"
    folder.mkdir(exist_ok=True)
    said = {"queues": QUEUES, "characters": CHARACTERS, "sends": sends, "keys": keys}
    lines = "".join(f"{name}={value}\n" for name, value in said.items())
    (folder / "messages.properties").write_text(lines)
    (folder / "filler.txt").write_text("abcdefghij" * 20)
    return folder


def loaded(load: Load, folder: Path, *queues: Queues, users: int = 1) -> Done:
    urls = " ".join(f"http://127.0.0.1:{each.service.port}/messages/s/queues/q-" for each in queues)
    load.order("cell", "serial", urls, folder)
    return load.trial(users=users, keep_ms=600)


def test_a_user_pops_from_the_queue_that_it_has_sent_to(load: Load) -> None:
    queues = Queues()
    with queues.service:
        done = loaded(load, payload(load), queues)
    assert done.kinds == ["send", "pop", "empty"]
    assert set(done.outcomes) == {CORRECT}, done.first_error
    assert [each.kind for each in done.records][:4] == [SEND, POP, SEND, POP]
    assert {(each.connection_ms, each.database_ms) for each in done.records} == {(0.5, 1.25)}
    pairs = list(zip(done.records[::2], done.records[1::2], strict=False))
    assert all(sent.token == popped.token >= USER for sent, popped in pairs)
    assert len({sent.token for sent, _ in pairs}) == len(pairs)
    paths = [path for path, _ in queues.asked]
    assert all(re.fullmatch(r"/messages/s/queues/q-[123]/(messages|pop)", each) for each in paths)
    assert len({each.rpartition("/")[0] for each in paths}) == QUEUES, "queues are drawn"
    assert all(
        one.rpartition("/")[0] == two.rpartition("/")[0]
        for one, two in zip(paths[::2], paths[1::2], strict=False)
    )


def test_a_body_has_its_length_its_token_and_its_crc(load: Load) -> None:
    queues = Queues()
    with queues.service:
        loaded(load, payload(load), queues, users=2)
    sent = [(path, request) for path, request in queues.asked if path.endswith("/messages")]
    for path, request in sent:
        body = str(request["body"])
        assert len(body) == CHARACTERS
        assert body[-8:] == f"{zlib.crc32(body[:-8].encode()):08x}"
        queue, user, number = body.partition(" ")[0].split(".")
        assert path.endswith(f"/q-{int(queue)}/messages")
        assert int(user) == request["sender"]
        assert int(number) >= 1
    assert {request["sender"] for _, request in sent} == {1, 2}
    assert len({str(request["body"])[:21] for _, request in sent}) == len(sent)


def test_the_studys_load_sends_twice_and_pops_once(load: Load) -> None:
    queues = Queues()
    with queues.service:
        done = loaded(load, payload(load, sends=2), queues)
    assert [each.kind for each in done.records][:6] == [SEND, SEND, POP, SEND, SEND, POP]


def test_requests_have_keys_of_their_own_where_they_are_asked_for(load: Load) -> None:
    queues = Queues()
    with queues.service:
        loaded(load, payload(load, keys="true"), queues, users=2)
    keys = [request["key"] for _, request in queues.asked]
    assert len(set(keys)) == len(keys)
    pops = [request for path, request in queues.asked if path.endswith("/pop")]
    assert {request["client"] for request in pops} == {1, 2}


def altered(answer: dict[str, object]) -> dict[str, object]:
    return answer | {"body": str(answer["body"])[:-9] + "!" + str(answer["body"])[-8:]}


def shortened(answer: dict[str, object]) -> dict[str, object]:
    return answer | {"body": str(answer["body"])[:-1]}


def of_another_queue(answer: dict[str, object]) -> dict[str, object]:
    body = f"999999{str(answer['body'])[6:-8]}"
    return answer | {"body": f"{body}{zlib.crc32(body.encode()):08x}"}


def of_another_request(answer: dict[str, object]) -> dict[str, object]:
    return answer | {"requestId": "u999-000000001"}


@pytest.mark.parametrize(
    ("spoil", "said", "has_token"),
    [
        (altered, "R4: a message that was altered", False),
        (shortened, "R4: a message of another length", False),
        (of_another_queue, "R5: a message of another queue", True),
        (of_another_request, "not the JSON of this request's id", False),
    ],
)
def test_a_message_that_is_not_what_was_sent_is_a_wrong_answer(
    load: Load, spoil: Spoil, said: str, has_token: bool
) -> None:
    queues = Queues(spoil)
    with queues.service:
        done = loaded(load, payload(load), queues)
    assert {(each.kind, each.outcome) for each in done.records} == {(SEND, CORRECT), (POP, WRONG)}
    assert done.first_error == said
    assert all((each.token > 0) is has_token for each in done.records if each.kind == POP)


def test_a_pop_that_finds_nothing_is_right_and_of_its_own_kind(load: Load) -> None:
    queues = Queues()
    queues.kept = defaultdict(lambda: deque(maxlen=0))
    with queues.service:
        done = loaded(load, payload(load), queues)
    assert {(each.kind, each.outcome, each.token > 0) for each in done.records} == {
        (SEND, CORRECT, True),
        (EMPTY, CORRECT, False),
    }


def test_a_refusal_is_an_error_with_its_words(load: Load) -> None:
    queues = Queues(lambda _answer: {"status": 503, "errorCode": "014"})
    with queues.service:
        done = loaded(load, payload(load), queues)
    refused = [each for each in done.records if each.kind == POP]
    assert {(each.outcome, each.status, each.code) for each in refused} == {(ERROR, 503, 14)}
    assert done.first_error == 'status 503 {"errorCode":"014"}'


def test_users_go_to_several_addresses_by_their_numbers(load: Load) -> None:
    one, two = Queues(), Queues()
    with one.service, two.service:
        loaded(load, payload(load), one, two, users=4)
    senders = [
        {request.get("sender", request.get("client")) for _, request in each.asked}
        for each in (one, two)
    ]
    assert senders == [{1, 3}, {2, 4}]
