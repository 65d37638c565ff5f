"""The statements of contract/database, as the role of services: what each of them does."""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from database_server import STATEMENTS, Session, session

from restbench.deploy.database import Database

pytestmark = pytest.mark.live
MARK = hashlib.sha256(b"send\na\n0\nhello").digest()
#: What would harm where text of a request became text of SQL.
HOSTILE = "'; DROP TABLE messages.message;-- \\ $1 %s :name \N{SNOWMAN}"


def key() -> str:
    return uuid.uuid4().hex


def keyed(client: int = 1, mark: bytes = MARK, word: str | None = None) -> dict[str, Any]:
    return {"client": client, "key": word or key(), "fingerprint": mark}


def sending(word: str, body: str = "hello") -> dict[str, Any]:
    return {"receiver": 0, "sender": 1, "body": body, "key": word, "fingerprint": MARK}


POPS = ("skip-locked", "blocking", "plain")


@pytest.mark.parametrize("name", POPS)
def test_a_pop_takes_the_oldest_of_one_receiver_with_all_that_was_sent(
    ours: Session, name: str
) -> None:
    queue = ours.queue()
    before_us = time.time_ns() // 1000
    first = ours.send(queue, "first", sender=2**63 - 1)
    addressed = ours.send(queue, "to five", receiver=5)
    second = ours.send(queue, "second")
    popped = ours.one(f"pop-{name}", queue_id=queue, receiver=0)
    sent = {"id": first, "sender": 2**63 - 1, "body": "first"}
    assert popped == sent | {"sent_at": popped["sent_at"]}
    assert before_us - 1_000_000 < popped["sent_at"] < time.time_ns() // 1000 + 1_000_000
    peeked = ours.all("peek", queue_id=queue, receiver=0, limit=100)
    assert [each["id"] for each in peeked] == [second]
    assert ours.value("count", queue_id=queue) == 2
    to_five = ours.one(f"pop-{name}", queue_id=queue, receiver=5)
    assert to_five["id"] == addressed
    assert ours.one(f"pop-{name}", queue_id=queue, receiver=5) is None


def kept(ours: Session, word: str) -> dict[str, object] | None:
    """A receipt: its fingerprint, and its answer, whose members are columns, too."""
    found = ours.one("read-receipt", client=1, key=word)
    if found is None:
        return None
    answer = found.pop("answer")
    columns = {name: found[name] for name in answer}
    assert columns == answer
    return {"fingerprint": found["fingerprint"], "answer": answer}


def receipt(answer: object) -> dict[str, object]:
    """Of a request whose fingerprint is MARK."""
    return {"fingerprint": MARK, "answer": answer}


@pytest.mark.parametrize("name", POPS)
def test_a_key_that_was_used_undoes_the_pop(ours: Session, name: str) -> None:
    queue, asked = ours.queue(), keyed()
    messages = [ours.send(queue, "one"), ours.send(queue, "two")]
    taken = ours.one(f"pop-{name}-with-key", queue_id=queue, receiver=0, **asked)
    with pytest.raises(psycopg.errors.UniqueViolation):
        ours.one(f"pop-{name}-with-key", queue_id=queue, receiver=0, **asked)
    assert kept(ours, asked["key"]) == receipt(taken)
    left = ours.all("peek", queue_id=queue, receiver=0, limit=100)
    assert [each["id"] for each in left] == messages[1:]


def test_an_empty_pop_leaves_no_receipt(ours: Session) -> None:
    queue, asked = ours.queue(), keyed()
    assert ours.one("pop-skip-locked-with-key", queue_id=queue, receiver=0, **asked) is None
    assert kept(ours, asked["key"]) is None


def test_the_function_keeps_the_same_receipts_as_the_statements(ours: Session) -> None:
    queue, asked, word = ours.queue("function"), keyed(), key()
    sent = ours.value("send-function", queue_id=queue, **sending(word))
    assert kept(ours, word) == receipt({"id": sent})
    with pytest.raises(psycopg.errors.UniqueViolation):
        ours.value("send-function", queue_id=queue, **sending(word))
    assert ours.value("count", queue_id=queue) == 1
    popped = ours.one("pop-function", queue_id=queue, receiver=0, **asked)
    assert kept(ours, asked["key"]) == receipt(popped)
    ours.value("send-function", queue_id=queue, **sending(key()))
    with pytest.raises(psycopg.errors.UniqueViolation):
        ours.one("pop-function", queue_id=queue, receiver=0, **asked)
    assert ours.value("count", queue_id=queue) == 1


def test_one_key_at_once_has_one_effect(database: Database, ours: Session) -> None:
    queue, word = ours.queue(), key()
    together = threading.Barrier(4)

    def sent(_number: int) -> bool:
        with session(database) as one:
            together.wait()
            try:
                return one.value("send-with-key", queue_id=queue, **sending(word)) > 0
            except psycopg.errors.UniqueViolation:
                return False

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(sent, range(4))) == [False, False, False, True]
    assert ours.value("count", queue_id=queue) == 1


def test_a_key_is_of_its_client_alone(ours: Session) -> None:
    queue, word = ours.queue(), key()
    ours.value("send-with-key", queue_id=queue, **sending(word))
    ours.value("send-with-key", queue_id=queue, **(sending(word) | {"sender": 2}))
    assert ours.value("count", queue_id=queue) == 2


def test_statements_keep_a_receipt_in_their_transaction(ours: Session) -> None:
    asked = keyed()
    answer = '{"id": 9223372036854775807}'
    ours.all("keep-receipt", answer=answer, **asked)
    assert kept(ours, asked["key"]) == receipt({"id": 2**63 - 1})


def test_receipts_are_purged_by_age_and_by_an_index(database: Database, ours: Session) -> None:
    old, older, new = keyed(), keyed(), keyed()
    for each in (old, older, new):
        ours.all("keep-receipt", answer="{}", **each)
    with database.connect() as owner:
        age = "UPDATE messages.receipt SET at = at - interval '601 s' WHERE key = ANY (%s)"
        owner.execute(age, [[old["key"], older["key"]]])
    with ours.connection.transaction():
        ours.connection.execute("SET LOCAL enable_bitmapscan = on")
        purged = [ours.value("purge-receipts", seconds=600, most=1) for _ in range(3)]
        assert purged == [1, 1, 0]
        purge = STATEMENTS["purge-receipts"].replace(":seconds", "600").replace(":most", "1")
        plan = ours.connection.execute(f"EXPLAIN {purge}".encode())
        assert any("receipt_at" in line["QUERY PLAN"] for line in plan)
    assert kept(ours, old["key"]) is None
    assert kept(ours, older["key"]) is None
    assert kept(ours, new["key"]) is not None


def test_a_broadcast_answers_in_the_order_that_was_asked(ours: Session) -> None:
    queues = [ours.queue() for _ in range(3)]
    asked = [queues[2], queues[0], queues[1]]
    to_all = {"sender": 1, "body": "all", "asked_ids": asked, "ascending_ids": sorted(asked)}
    ids = ours.value("broadcast", **to_all)
    for queue, message in zip(asked, ids, strict=True):
        (found,) = ours.all("peek", queue_id=queue, receiver=0, limit=2)
        assert found["id"] == message
    word = key()
    ids = ours.value("broadcast-with-key", **to_all, key=word, fingerprint=MARK)
    assert kept(ours, word) == receipt({"ids": ids})


@pytest.mark.parametrize("name", ["broadcast", "broadcast-with-key"])
def test_a_broadcast_to_a_queue_that_is_gone_sends_nothing(ours: Session, name: str) -> None:
    queue, word = ours.queue(), key()
    asked = [queue, 2**62]
    more = {"key": word, "fingerprint": MARK} if "key" in name else {}
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        ours.value(name, sender=1, body="all", asked_ids=asked, ascending_ids=asked, **more)
    assert ours.value("count", queue_id=queue) == 0
    assert kept(ours, word) is None


def test_a_queue_of_pgmq_is_its_table(database: Database, ours: Session) -> None:
    queue, asked, word = ours.queue("pgmq"), keyed(), key()
    name = f"q{queue}"
    first = ours.value("send-pgmq", pgmq_queue=name, sender=2**63 - 1, body=HOSTILE)
    second = ours.value(
        "send-pgmq-with-key", pgmq_queue=name, sender=1, body="two", key=word, fingerprint=MARK
    )
    assert kept(ours, word) == receipt({"id": second})
    assert ours.value("count-pgmq", queue_id=queue) == 2
    peeked = ours.all("peek-pgmq", queue_id=queue, limit=1)
    popped = ours.one("pop-pgmq-with-key", pgmq_queue=name, **asked)
    assert peeked == [popped]
    assert (popped["id"], popped["sender"], popped["body"]) == (first, 2**63 - 1, HOSTILE)
    with pytest.raises(psycopg.errors.UniqueViolation):
        ours.one("pop-pgmq-with-key", pgmq_queue=name, **asked)
    assert ours.value("count-pgmq", queue_id=queue) == 1
    assert ours.value("delete-pgmq", pgmq_queue=name, id=second) is True
    assert ours.value("delete-pgmq", pgmq_queue=name, id=second) is False
    assert ours.one("pop-pgmq", pgmq_queue=name) is None
    with database.connect() as owner:
        known = owner.execute("SELECT name FROM messages.queue WHERE id = %s", [queue]).fetchall()
        assert ours.value("delete-queue", queue=known[0][0]) is True
        assert owner.execute("SELECT to_regclass(%s)", [f"pgmq.q_{name}"]).fetchall() == [(None,)]


def test_a_deleted_queue_takes_its_messages_along_and_refuses_more(ours: Session) -> None:
    name = f"gone-{key()}"
    made = ours.one("create-queue", queue=name, technique="skip-locked")
    ours.send(made["id"])
    assert ours.one("find-queue", queue=name) == {"id": made["id"], "technique": "skip-locked"}
    assert ours.value("delete-queue", queue=name) is True
    assert ours.value("delete-queue", queue=name) is False
    assert ours.value("count", queue_id=made["id"]) == 0
    assert ours.one("find-queue", queue=name) is None
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        ours.send(made["id"])
    again = ours.one("create-queue", queue=name, technique="blocking")
    assert again["id"] != made["id"]
    assert (again["technique"], again["created"]) == ("blocking", True)


@pytest.mark.parametrize("technique", ["skip-locked", "pgmq"])
def test_of_those_who_create_a_queue_at_once_one_does(database: Database, technique: str) -> None:
    name, together = f"at-once-{key()}", threading.Barrier(6)

    def create(_number: int) -> tuple[int, bool]:
        with session(database) as one:
            together.wait()
            made = one.one("create-queue", queue=name, technique=technique)
            assert made["technique"] == technique
            return made["id"], made["created"]

    with ThreadPoolExecutor(6) as threads:
        made = list(threads.map(create, range(6)))
    assert len({number for number, _ in made}) == 1
    assert [created for _, created in made].count(True) == 1


#: Drops the queue once, between the look that finds it and the one that reads it.
DROPPED_BETWEEN = """
CREATE SEQUENCE public.looks;
CREATE FUNCTION public.drop_between() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('public.looks') = 1 THEN DELETE FROM messages.queue WHERE name = 'to-and-fro'; END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER between AFTER INSERT ON messages.queue
  FOR EACH STATEMENT EXECUTE FUNCTION public.drop_between();
"""


def test_a_queue_that_another_drops_while_it_is_asked_for_is_made(
    database: Database, ours: Session
) -> None:
    before = ours.one("create-queue", queue="to-and-fro", technique="blocking")
    with database.connect() as owner:
        owner.execute(DROPPED_BETWEEN)
        try:
            made = ours.one("create-queue", queue="to-and-fro", technique="skip-locked")
        finally:
            owner.execute(
                "DROP FUNCTION public.drop_between CASCADE; DROP SEQUENCE public.looks;"
                "DELETE FROM messages.queue WHERE name = 'to-and-fro'"
            )
    assert before is not None
    assert (made["technique"], made["created"]) == ("skip-locked", True)


def test_queues_are_listed_by_name_after_another(ours: Session) -> None:
    word = f"list-{key()}"
    for end in ("-b", "_a", "-a", "c", "0"):
        ours.one("create-queue", queue=word + end, technique="blocking")
    found = ours.all("list-queues", after=word, limit=4)
    assert [each["name"].removeprefix(word) for each in found] == ["-a", "-b", "0", "_a"]
    found = ours.all("list-queues", after=f"{word}_a", limit=1)
    assert found == [{"name": f"{word}c", "technique": "blocking"}]


@pytest.mark.parametrize("name", ["", "A", "1a", "a b", "a" * 64, HOSTILE])
def test_a_name_that_the_contract_forbids_is_refused_here_too(ours: Session, name: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        ours.one("create-queue", queue=name, technique="skip-locked")


def test_hostile_text_is_kept_as_it_is(ours: Session) -> None:
    queue = ours.queue()
    word = f"{HOSTILE[:30]}{key()}"
    ours.value("send-with-key", queue_id=queue, **sending(word, HOSTILE))
    assert kept(ours, word) is not None
    assert ours.one("find-queue", queue=HOSTILE) is None
    assert ours.value("delete-queue", queue=HOSTILE) is False
    ours.all("list-queues", after=HOSTILE, limit=1)
    popped = ours.one("pop-skip-locked", queue_id=queue, receiver=0)
    assert popped["body"] == HOSTILE


def test_a_message_is_deleted_by_its_number_within_its_queue(ours: Session) -> None:
    queue, other = ours.queue(), ours.queue()
    message = ours.send(queue, receiver=7)
    assert ours.value("delete", queue_id=other, id=message) == 0
    assert ours.value("delete", queue_id=queue, id=message) == 1
    assert ours.value("delete", queue_id=queue, id=message) == 0


def test_every_statement_is_run_by_a_test() -> None:
    """By name, here or where two sessions meet."""
    here = Path(__file__)
    texts = here.read_text() + here.with_name("test_message_techniques.py").read_text()
    texts += "".join(f'"pop-{name}" "pop-{name}-with-key"' for name in POPS)
    assert not [name for name in STATEMENTS if f'"{name}"' not in texts and name != "send"]
