"""Operations on queues: right on the campaign's queues, spoilt in members, path, query and text."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from hypothesis import strategies as st

from restbench_robustness.oracle.message_answers import EMPTY, FULL, MISSING
from restbench_robustness.wire import JSON_TYPE, Message

from .documents import Members, Value, ids, spaces, write
from .faults import Spot, junk, put, spoilt_bytes, spots
from .http import framed

ROOT = "/messages/{strategy}"
EDGE_IDS = (1, 2, 2**31, 2**32, 2**53 + 1, 2**63 - 1)
WRONG_IDS = (0, -1, 2**63, 2**64 + 1)
KEYS = ("k", "!", "~" * 64, "'", "\\", '"', "k1")
TEXTS = (
    "x", "a message", "'; DROP TABLE message;--", "$1 :body %s {}", "\\", '"', "\x01\x1f\x7f",
    "\t\r\n", "\u2028\ufeff\uffff", "😀", "e\u0301", "NULL", "\\x00", "\x00", "",
)  # fmt: skip
LONG_TEXTS = tuple(
    letter * count for letter in ("x", "é", "😀") for count in (65_535, 65_536, 65_537)
)
NAMES = (
    EMPTY, MISSING, "A", "a" * 64, "0a", "-", "%61", "a.b", "a%20", "a;b", "a'", "%C3%A9", "a:b",
    "a@b", "queues", "fuzz-empt", "Fuzz-empty",
)  # fmt: skip
NUMBERS = (
    "0", "1", "-1", "+1", "01", "1e3", "1.0", "100", "101", "1000", "1001", "9223372036854775807",
    "9223372036854775808", "", "x", "%31", "%D9%A1", "1%00", "1%20", "0x1", "1_0", "null", "9" * 40,
)  # fmt: skip
IDS = tuple(it for it in NUMBERS if it and "%00" not in it)
"""In a path: of an escaped NUL a server may say what it likes, contract/deviations.toml."""
AFTERS = ("a", "fuzz-", "zzz", "A", "", "%61", "a%00", "a%FF", "a+b", "a" * 63, "a" * 64, "a%2Fb")
PATHS = (
    "", "/", "/queues/", "//queues", "/Queues", "/queues/a/peek", "/queues//messages", "/topics",
    "/queues/a/messages/", "/queues/a/messages/1/x", "/queues/a/pop/1", "/broadcast/a",
    "/queues/a/",
)  # fmt: skip
METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS")


class Operation(NamedTuple):
    """What it is sent to, and the members that its request has."""

    method: str
    path: str
    members: tuple[str, ...] = ()


OPERATIONS = (
    Operation("POST", "/queues", ("queue", "technique")),
    Operation("GET", "/queues"),
    Operation("GET", f"/queues/{EMPTY}"),
    Operation("GET", f"/queues/{FULL}"),
    Operation("DELETE", f"/queues/{MISSING}"),
    Operation("POST", f"/queues/{FULL}/messages", ("sender", "receiver", "body", "key")),
    Operation("POST", f"/queues/{MISSING}/messages", ("sender", "receiver", "body", "key")),
    Operation("GET", f"/queues/{EMPTY}/messages"),
    Operation("GET", f"/queues/{FULL}/messages"),
    Operation("POST", f"/queues/{EMPTY}/pop", ("client", "receiver", "key")),
    Operation("POST", f"/queues/{FULL}/pop", ("client", "receiver", "key")),
    Operation("DELETE", f"/queues/{EMPTY}/messages/1"),
    Operation("DELETE", f"/queues/{MISSING}/messages/1"),
    Operation("POST", "/broadcast", ("sender", "queues", "body", "key")),
)
right_ids = st.one_of(st.integers(1, 9), st.sampled_from(EDGE_IDS))
VALUES: dict[str, st.SearchStrategy[Value]] = {
    "queue": st.sampled_from([EMPTY, FULL]),
    "technique": st.sampled_from(["skip-locked", "blocking", "memory", "pgmq"]),
    "sender": right_ids,
    "client": right_ids,
    "receiver": st.one_of(st.none(), right_ids),
    "body": st.one_of(st.sampled_from(TEXTS[:-2]), st.text(min_size=1, max_size=40)).map(
        lambda text: text.replace("\x00", "0")
    ),
    "key": st.one_of(st.sampled_from(KEYS), st.text("!aZ09~", min_size=1, max_size=64)),
    "queues": st.sampled_from([[FULL], [FULL, MISSING], [MISSING, FULL]]).map(list),
}
OPTIONAL = {"technique", "receiver", "key"}
WRONG: dict[str, st.SearchStrategy[Value]] = {
    "body": st.sampled_from([*TEXTS, *LONG_TEXTS]),
    "key": st.sampled_from(["", "k" * 65, " ", "a b", "\t", "é", "\x7f", "\x00", "k\n"]),
    "queues": st.sampled_from([[], [FULL, FULL], ["A"], [None], [f"q{i}" for i in range(101)]]).map(
        list
    ),
    "queue": st.sampled_from(["", "A", "0", "a" * 64, "a\n", "a\x00", "é", "a b"]),
    "technique": st.sampled_from(["", "Skip-locked", "fastest", "skip-locked ", "memory\x00"]),
}


@st.composite
def document(draw: st.DrawFn, operation: Operation) -> Members:
    """The members of a right request, in any order, those that may be missing often so."""
    members: list[tuple[str, Value]] = [("requestId", draw(ids))]
    for name in operation.members:
        if name not in OPTIONAL or draw(st.booleans()):
            members.append((name, draw(VALUES[name])))
    return Members(draw(st.permutations(members)))


def message_of(operation: Operation, body: bytes) -> Message:
    """As it is sent when nothing is wrong around it."""
    is_post = operation.method == "POST"
    headers = JSON_TYPE if is_post else ()
    path = ROOT + operation.path
    return Message(body if is_post else b"", operation.method, path, query="", headers=headers)


operations = st.sampled_from(OPERATIONS)
posts = st.sampled_from([it for it in OPERATIONS if it.method == "POST"])


@st.composite
def right_messages(draw: st.DrawFn) -> Message:
    """An operation with nothing wrong in it."""
    operation = draw(operations)
    return message_of(operation, write(draw(document(operation)), draw(spaces)))


@st.composite
def member_messages(draw: st.DrawFn) -> Message:
    """Members that break their rules, one to three; the first of the contract's order decides."""
    operation = draw(posts)
    members = draw(document(operation))
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        spot: Spot = draw(st.sampled_from(spots(members) or [(members, 0)]))
        owner, index = spot
        if not members or owner is not members:
            continue
        name = str(members[index][0])
        rule = WRONG.get(name, st.sampled_from(WRONG_IDS))
        match draw(st.sampled_from(["rule", "rule", "junk", "drop", "null"])):
            case "rule":
                put(spot, draw(rule))
            case "junk":
                put(spot, draw(junk))
            case "null":
                put(spot, None)
            case _:
                members.pop(index)
    return message_of(operation, write(members))


@st.composite
def path_messages(draw: st.DrawFn) -> Message:
    """Names, ids, paths and methods of every kind before what may be right."""
    operation = draw(operations)
    message = message_of(operation, write(draw(document(operation))))
    name, number = draw(st.sampled_from(NAMES)), draw(st.sampled_from(IDS))
    match draw(st.sampled_from(["name", "name", "id", "path", "method"])):
        case "name" if operation.path.startswith("/queues/") and _keeps_empty(operation, name):
            parts = operation.path.split("/")
            return replace(message, path=ROOT + "/".join([*parts[:2], name, *parts[3:]]))
        case "id":
            path = f"{ROOT}/queues/{EMPTY}/messages/{number}"
            return replace(message, method="DELETE", path=path, body=b"", headers=())
        case "method":
            method = draw(st.sampled_from([it for it in METHODS if it != "DELETE"]))
            return replace(message, method=method)
    path = ROOT + draw(st.sampled_from(PATHS))
    return replace(message, path=path)


def _keeps_empty(operation: Operation, name: str) -> bool:
    """Nothing is sent to the queue that stays empty, and none of the campaign's is deleted."""
    reads = operation.method == "GET" or operation.path.endswith("/pop")
    return reads or name != EMPTY


@st.composite
def query_messages(draw: st.DrawFn) -> Message:
    """Parameters of every form."""
    operation = draw(operations)
    limits = [f"limit={it}" for it in NUMBERS]
    receivers = [f"receiver={it}" for it in NUMBERS]
    afters = [f"after={it}" for it in AFTERS]
    other = ["limit", "l%69mit=0", "LIMIT=0", "kernel=x", "delay=1", "delay=x", "&&", "x=%zz"]
    pieces = st.lists(
        st.sampled_from([*limits, *receivers, *afters, *other]), min_size=1, max_size=3
    )
    message = message_of(operation, write(draw(document(operation))))
    return replace(message, query="&".join(draw(pieces)))


@st.composite
def text_messages(draw: st.DrawFn) -> Message:
    """A right request as text, after one to three changes to its bytes, framed in any way."""
    operation = draw(posts)
    body = write(draw(document(operation)), draw(spaces))
    message = message_of(operation, draw(spoilt_bytes(body)))
    return draw(framed(message)) if draw(st.booleans()) else message
