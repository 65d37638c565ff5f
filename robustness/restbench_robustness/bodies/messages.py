"""Operations on queues: the contract's examples, applied to the queues of the campaign, unchanged
or with changed members, changed path, query and method, or changed text."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hypothesis import strategies as st

from restbench_robustness.oracle.message_answers import EMPTY, FULL, MISSING
from restbench_robustness.wire import Message

from .documents import Members, Raw, ids, write
from .examples import examples
from .faults import change, junk, spoilt_bytes
from .http import framed

EXAMPLES = examples("/messages")
POSTS = [it for it in EXAMPLES.values() if it.method == "POST"]
#: Paths of operations that neither send to a queue nor delete one.
HARMLESS = re.compile("/(queues|pop|messages/[^/]+)$")


def members_of(message: Message) -> dict[str, Raw]:
    """The members of a request as JSON text; empty where the body is not a JSON object."""
    try:
        found = json.loads(message.body)
    except ValueError:
        return {}
    members = found.items() if isinstance(found, dict) else ()
    return {name: Raw(json.dumps(value)) for name, value in members}


DOCUMENTS = [(it, members) for it in POSTS if (members := members_of(it))]
VALUES = {
    name: sorted({members[name] for _, members in DOCUMENTS if name in members})
    for name in {name for _, members in DOCUMENTS for name in members}
}
"""The values that each member has in any of DOCUMENTS."""


@st.composite
def ours(draw: st.DrawFn, message: Message) -> Message:
    """The message with all placeholders filled. `{run}-a` becomes a queue of the campaign, so that
    nothing is sent to the queue EMPTY, and no existing queue is deleted."""
    if message.method == "GET" or HARMLESS.search(message.path):
        queues = [EMPTY, FULL]
    else:
        queues = [MISSING] if message.method == "DELETE" else [FULL]
    filled = {
        "{run}-a": draw(st.sampled_from(queues)),
        "{run}": "fuzz",
        "{id}": "1",
        "{technique}": draw(st.sampled_from(["skip-locked", "blocking", "pgmq"])),
    }
    path, query, body = message.path, message.query or "", message.body
    for name, it in filled.items():
        path, query = path.replace(name, it), query.replace(name, it)
        body = body.replace(name.encode(), it.encode())
    return replace(message, path=path, query=query, body=body)


operations = st.sampled_from([*EXAMPLES.values()])


@st.composite
def member_messages(draw: st.DrawFn) -> Message:
    """A request with one to three changed members. The first violation in the contract's order
    decides the answer."""
    message, found = draw(st.sampled_from(DOCUMENTS))
    members = Members(found.items())
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        if members:
            index = draw(st.integers(0, len(members) - 1))
            known = st.sampled_from(VALUES.get(members[index][0], [Raw("null")]))
            change(draw, (members, index), st.one_of(known, known, known, junk, ids))
    return draw(ours(replace(message, body=write(members))))


@st.composite
def surrounded_messages(draw: st.DrawFn) -> Message:
    """A request with the method, the path or the query of another operation."""
    message, other = draw(operations), draw(operations)
    match draw(st.sampled_from(["path", "parameters", "both", "method"])):
        case "path":
            message = replace(message, path=other.path)
        case "parameters":
            message = replace(message, query=f"{message.query}&{other.query}")
        case "both":
            message = replace(message, path=other.path, query=other.query)
        case "method":
            message = replace(message, method=other.method)
    return draw(ours(message))


@st.composite
def text_messages(draw: st.DrawFn) -> Message:
    """A request after one to three changes to the bytes of its body, with any framing."""
    message = draw(st.sampled_from(POSTS).flatmap(ours))
    spoilt = replace(message, body=draw(spoilt_bytes(message.body)))
    return draw(framed(spoilt)) if draw(st.booleans()) else spoilt
