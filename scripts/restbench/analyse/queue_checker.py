"""What became of messages: checks a history of requests to queues by the rules that queues promise.

R1: a message that was sent is popped or left; R2: only once; R3: no other message is; R4: its
content is as sent; R5: it is where it was sent to; R6: messages come in order; R7: a queue that is
reported as empty is empty; R8: the counts agree. A request without a certain outcome excuses what
it may have caused, and no more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from restbench.analyse.queue_history import Address, History, RemainingMessage, Request, history
from restbench.grouping import grouped

Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.intp]

RULES: dict[str, str] = {
    "R1": "lost",
    "R2": "duplicated",
    "R3": "invented",
    "R4": "altered",
    "R5": "misrouted",
    "R6": "inverted",
    "R7": "false empty",
    "R8": "count",
}
#: So many violations of a rule are put into words; all are counted.
MOST_WORDED = 20
_NEVER, _FOREVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Finding(NamedTuple):
    """One violation in words."""

    rule: str
    text: str


@dataclass(frozen=True)
class Report:
    """The result of checking a history. It counts operations: all requests of one key are one."""

    counts: Mapping[str, int]
    """Violations by rule; 0 for a rule that holds."""
    findings: tuple[Finding, ...]
    limbo: int
    """Messages that are gone, each of which a pop with neither key nor answer may have taken."""
    recovered: int
    """Sends without a certain outcome whose message was popped or is left: they were done."""
    replayed: int
    """Answers that a service repeated for a key."""
    sends: int
    pops: int
    """The pops that returned a message."""
    unknown: int
    """Operations without a certain outcome."""

    @property
    def violations(self) -> int:
        """The number of violations of all rules."""
        return sum(self.counts.values())


def check(requests: Iterable[Request], left: Iterable[RemainingMessage] = ()) -> Report:
    """Check a history by all rules. Raises ValueError where it sends a token twice without a key.

    No request may be in flight at its end; `left` are the messages that the database has then.
    """
    known = history(requests, left)
    found = _Findings(known.began_ns)
    limbo = _lost(known, found)
    _more_than_once(known, found)
    for pop in chain.from_iterable(known.taken.values()):
        _against_its_send(known, pop, "popped", found)
    for message in known.left:
        _against_its_send(known, message, "left", found)
    for address, timeline in _timelines(known).items():
        _inverted(address, timeline, found)
        _false_empty(address, timeline, found)
    _counted(known, found)
    sends = known.sends.values()
    return Report(
        counts={rule: found.counts[rule] for rule in RULES},
        findings=tuple(sorted(found.worded)),
        limbo=limbo,
        recovered=sum(
            each.outcome == "unknown" and not known.gone(token)
            for token, each in known.sends.items()
        ),
        replayed=known.replayed,
        sends=sum(each.outcome == "ok" for each in sends),
        pops=sum(map(len, known.taken.values())),
        unknown=sum(each.outcome == "unknown" for each in chain(sends, known.pops)),
    )


def count_gap(kept: int, left: int, unknown_sends: int = 0, unknown_pops: int = 0) -> int:
    """R8: by how many messages `left` differs from `kept` (the earlier messages and completed
    sends, less completed pops and deletions), beyond what operations of unknown outcome explain."""
    return max(left - (kept + unknown_sends), kept - unknown_pops - left, 0)


@dataclass
class _Findings:
    """Counts all violations, and puts some into words."""

    began_ns: int
    counts: Counter[str] = field(default_factory=Counter)
    worded: list[Finding] = field(default_factory=list)

    def add(self, rule: str, text: str, *moments_ns: int) -> None:
        """Add a violation; each `@` in its text is replaced by one of the moments."""
        self.counts[rule] += 1
        if self.counts[rule] <= MOST_WORDED:
            for each in moments_ns:
                text = text.replace("@", f"{(each - self.began_ns) / 1e9:.3f} s", 1)
            self.worded.append(Finding(rule, f"{RULES[rule]}: {text}"))


def _lost(of: History, found: _Findings) -> int:
    """Check R1; returns how many messages are in limbo."""
    lost = (each for token, each in of.sends.items() if each.outcome == "ok" and of.gone(token))
    gone = grouped(lost, lambda each: each.address)
    excused = Counter(
        each.address for each in of.pops if each.key is None and each.outcome == "unknown"
    )
    for address, sends in gone.items():
        for send in sends[excused[address] :]:
            text = f"{_named(send)} was sent by @, but no pop returned it, and it is not left"
            found.add("R1", text, send.returned_ns or 0)
    return sum(min(excused[address], len(sends)) for address, sends in gone.items())


def _more_than_once(of: History, found: _Findings) -> None:
    """Check R2 by key, by token and by id. (Ids are from one sequence, or from one per queue.)"""
    for attempts in of.contradictions:
        first = attempts[0]
        found.add("R2", f"key {first.key} of client {first.client} has more than one answer")
    for token in dict.fromkeys((*of.taken, *of.left_by_token)):
        pops, left = of.taken.get(token, ()), of.left_by_token.get(token, ())
        if len(pops) + len(left) > 1:
            parts = [f"client {each.client} until @" for each in pops]
            how = f"popped by {' and '.join(parts)}" if pops else "left"
            also = f", and is left in the queue {len(left)} times" if left else ""
            found.add("R2", f"{token} was {how}{also}", *(each.returned_ns or 0 for each in pops))
    tokens: dict[tuple[str, int], set[str | None]] = defaultdict(set)
    for message in chain[Request | RemainingMessage](*of.taken.values(), of.left):
        if message.id is not None:
            tokens[message.queue, message.id].add(message.token)
    for (queue, number), several in tokens.items():
        if len(several) > 1:
            found.add(
                "R2", f"id {number} of queue {queue} belongs to {' and '.join(map(str, several))}"
            )


def _against_its_send(
    of: History, message: Request | RemainingMessage, how: str, found: _Findings
) -> None:
    """Check R3, R4 and R5 for one message that was popped or is left."""
    send = of.sends.get(message.token or "")
    if message.altered:
        found.add("R4", f"{how} {_named(message)}: its checksum or its length is wrong")
    elif send is None or send.outcome == "fail":
        why = f"refused with {send.status} {send.code}" if send else "never sent"
        found.add("R3", f"{how} {_named(message)}, which was {why}")
    else:
        is_numbered = send.outcome == "ok" and send.id is not None and message.id is not None
        if is_numbered and send.id != message.id:
            found.add("R4", f"{how} {_named(message)} with id {message.id}, sent as {send.id}")
        if send.address != message.address:
            found.add("R5", f"{how} {_named(message)}, sent to {_place(send.address)}")


def _counted(of: History, found: _Findings) -> None:
    """Check R8."""
    outcomes = Counter((each.op, each.outcome) for each in chain(of.sends.values(), of.pops))
    sends, pops = outcomes["send", "ok"], sum(map(len, of.taken.values()))
    unknown = outcomes["send", "unknown"], outcomes["pop", "unknown"]
    if gap := count_gap(sends - pops, len(of.left), *unknown):
        text = f"{sends} sends minus {pops} pops, but {len(of.left)} left: {gap} too many or few"
        found.add("R8", text)


_TIMES = ("send_invoked", "send_returned", "pop_invoked", "pop_returned")
#: A message of one address that was popped or is left. `send_returned` is _FOREVER where the send
#: has no certain end; the times of the pop are _FOREVER where the message is left.
_MESSAGE = np.dtype([("token", "O"), *((name, "i8") for name in _TIMES)])
Messages = npt.NDArray[Any]


def _by_answer(messages: Messages) -> Messages:
    """The messages whose send was answered, in the order of these answers."""
    kept = messages[messages["send_returned"] < _FOREVER]
    found: Messages = kept[np.argsort(kept["send_returned"], kind="stable")]
    return found


@dataclass
class _Timeline:
    rows: list[tuple[str, int, int, int, int]] = field(default_factory=list)
    empty: list[tuple[int, int, int]] = field(default_factory=list)
    """Client, begin and end of each pop that returned no message."""
    uncertain: list[tuple[int, int]] = field(default_factory=list)
    """Begin and end of pops that may have held a message."""

    def messages(self) -> Messages:
        """The rows as an array with the columns of _MESSAGE."""
        return np.array(self.rows, _MESSAGE)

    def held_until(self, before_ns: Ints) -> Ints:
        """For each moment the latest end of the uncertain pops that began before it, or _NEVER."""
        self.uncertain.sort()
        began = np.array([each for each, _ in self.uncertain], np.int64)
        ends = np.array([_NEVER, *(each for _, each in self.uncertain)], np.int64)
        until: Ints = np.maximum.accumulate(ends)[np.searchsorted(began, before_ns)]
        return until


def _timelines(of: History) -> dict[Address, _Timeline]:
    found: dict[Address, _Timeline] = defaultdict(_Timeline)
    for token, send in of.sends.items():
        answered = send.returned_ns or 0 if send.outcome == "ok" else _FOREVER
        pops = [each for each in of.taken.get(token, ()) if each.address == send.address]
        is_left = any(each.address == send.address for each in of.left_by_token.get(token, ()))
        if send.outcome != "fail" and (pops or is_left):
            ended, began = min(
                ((each.returned_ns or 0, each.invoked_ns) for each in pops),
                default=(_FOREVER, _FOREVER),
            )
            row = (token, send.invoked_ns, answered, began, ended)
            found[send.address].rows.append(row)
    for each in of.pops:
        if each.outcome == "ok" and each.token is None:
            times = (each.client, each.invoked_ns, each.returned_ns or 0)
            found[each.address].empty.append(times)
    for address, timeline in found.items():
        timeline.uncertain = [
            (each.invoked_ns, _FOREVER if each.returned_ns is None else each.returned_ns)
            for each in of.uncertain.get(address, ())
        ]
    return found


def _inverted(address: Address, of: _Timeline, found: _Findings) -> None:
    """Check R6. It is violated where a's send was answered before b's send began, and b's pop
    before a's pop began, unless an uncertain pop may have held a until b was popped."""
    messages = of.messages()
    b = messages[messages["pop_invoked"] < _FOREVER]
    a = _by_answer(b)
    low = np.searchsorted(a["send_returned"], of.held_until(b["pop_returned"]))
    high = np.searchsorted(a["send_returned"], b["send_invoked"])
    latest = _largest(a["pop_invoked"], low, high)
    for each in np.flatnonzero(latest > b["pop_returned"]):
        first = int(low[each] + a["pop_invoked"][low[each] : high[each]].argmax())
        text = (
            f"{b['token'][each]} of {_place(address)} was popped by @, but {a['token'][first]}, "
            "which was sent before it, only from @ on"
        )
        found.add("R6", text, int(b["pop_returned"][each]), int(latest[each]))


def _false_empty(address: Address, of: _Timeline, found: _Findings) -> None:
    """Check R7. It is violated where a message's send was answered before an empty pop began, and
    the message is left or its own pop began after the empty pop was answered, unless an uncertain
    pop overlaps the empty one."""
    there = _by_answer(of.messages())
    empty = np.array(of.empty, np.int64).reshape(-1, 3)
    _, began, ended = empty.T
    high = np.searchsorted(there["send_returned"], began)
    latest = _largest(there["pop_invoked"], np.zeros_like(high), high)
    is_excused = of.held_until(ended) > began
    for each in np.flatnonzero((latest > ended) & ~is_excused):
        lay = there["token"][int(there["pop_invoked"][: high[each]].argmax())]
        text = (
            f"{_place(address)} was reported empty to client {empty[each][0]} from @ to @, but "
            f"{lay} was in it"
        )
        found.add("R7", text, int(began[each]), int(ended[each]))


def _largest(values: Ints, low: Indices, high: Indices) -> Ints:
    """The largest of `values[low:high]`, for each pair; _NEVER where there is none."""
    found = np.full(low.size, _NEVER, np.int64)
    wanted, width, largest = high - low, 1, values
    while largest.size:  # largest[i] is that of values[i : i + width]
        mine = np.flatnonzero((wanted >= width) & (wanted < 2 * width))
        found[mine] = np.maximum(largest[low[mine]], largest[high[mine] - width])
        largest = np.maximum(largest[:-width], largest[width:])
        width *= 2
    return found


def _named(message: Request | RemainingMessage) -> str:
    return f"{message.token} of {_place(message.address)}"


def _place(address: Address) -> str:
    queue, receiver = address
    return f"queue {queue}, receiver {receiver}" if receiver else f"queue {queue}"
