"""What became of messages: a history of requests to queues, held against what queues promise.

Eight rules. R1: what was sent is popped or left. R2: once. R3: nothing else is. R4: as it was sent.
R5: from where it was sent to. R6: in order. R7: empty is said of what is empty. R8: the counts
agree. A request without a certain outcome excuses what it may have caused, and no more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Outcome = Literal["ok", "fail", "unknown"]
Address = tuple[str, int]
"""A queue and a receiver, 0 where it is nobody in particular."""
Ints = npt.NDArray[np.int64]

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
#: Refusals of 5xx that say: not done.
NOT_DONE = ("008", "014")
#: Of a rule so many findings are worded; all are counted.
MOST_WORDED = 20
_NEVER, _FOREVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Request(NamedTuple):
    """One request to a queue and its answer; a repetition with the same key is one more."""

    op: Literal["send", "pop"]
    client: int
    key: str | None
    queue: str
    receiver: int
    token: str | None
    """Of the message that was sent, or that came; None of a pop that brought none."""
    id: int | None
    invoked_ns: int
    returned_ns: int | None
    """None where no answer came: it may still have its effect at any time."""
    status: int | None
    code: str | None = None
    """Of a refusal."""
    altered: bool = False
    """Whether the body that came is not what its own checksum says."""
    replayed: bool = False
    """Whether the service says that it answered so before."""

    @property
    def outcome(self) -> Outcome:
        """Whether it was done."""
        if self.status is None:
            return "unknown"
        if self.status == 200:
            return "ok"
        return "fail" if 400 <= self.status < 500 or self.code in NOT_DONE else "unknown"

    @property
    def address(self) -> Address:
        """Where to, or where from."""
        return self.queue, self.receiver


class Left(NamedTuple):
    """A message that was still there when all was over."""

    queue: str
    receiver: int
    id: int
    token: str
    altered: bool = False

    @property
    def address(self) -> Address:
        """Where it lay."""
        return self.queue, self.receiver


class Finding(NamedTuple):
    """One violation in words."""

    rule: str
    text: str


@dataclass(frozen=True)
class Report:
    """What a history comes to."""

    counts: Mapping[str, int]
    """Violations by rule; 0 of those that hold."""
    findings: tuple[Finding, ...]
    limbo: int
    """Messages that are gone, no more than a pop without key and without an answer took each."""
    recovered: int
    """Messages that came although their send was not answered."""
    replayed: int
    """Answers that the service gave once more to a key."""
    sends: int
    pops: int
    """Those that brought a message."""
    empty: int
    unknown: int
    """Operations whose outcome nobody knows."""

    @property
    def violations(self) -> int:
        """Of all rules."""
        return sum(self.counts.values())


def check(requests: Iterable[Request], left: Iterable[Left] = ()) -> Report:
    """Hold a history against all rules; ValueError where it sends a token twice, without a key.

    Nothing may be in flight at its end, and `left` is what the database then has.
    """
    return _History.of(requests, list(left)).report()


def count_gap(kept: int, left: int, unknown_sends: int = 0, unknown_pops: int = 0) -> int:
    """R8: by how many more or fewer messages are `left` than the `kept` ones (those before, and the
    sends less the pops and deletions that were answered), beyond those of unknown outcome."""
    return max(left - (kept + unknown_sends), kept - unknown_pops - left, 0)


@dataclass
class _Findings:
    """Counts all, words some."""

    began_ns: int
    counts: Counter[str] = field(default_factory=Counter)
    worded: list[Finding] = field(default_factory=list)

    def add(self, rule: str, text: str, *times_ns: int) -> None:
        """A violation; `{}` in its text are moments."""
        self.counts[rule] += 1
        if self.counts[rule] <= MOST_WORDED:
            moments = (f"{(each - self.began_ns) / 1e9:.3f} s" for each in times_ns)
            self.worded.append(Finding(rule, f"{RULES[rule]}: {text.format(*moments)}"))


@dataclass
class _History:
    """Operations: the requests of one key are one."""

    sends: dict[str, Request]
    pops: list[Request]
    left: list[Left]
    uncertain: dict[Address, list[Request]]
    """Pops that may have held a message which they did not bring."""
    taken: dict[str, list[Request]]
    """Pops by the token they brought."""
    lying: dict[str, list[Left]]
    replayed: int
    found: _Findings

    @staticmethod
    def of(requests: Iterable[Request], left: list[Left]) -> _History:
        """Repetitions with one key put together."""
        alone: list[Request] = []
        keyed: dict[tuple[int, str, str], list[Request]] = defaultdict(list)
        for each in requests:
            if each.key is None:
                alone.append(each)
            else:
                keyed[each.client, each.op, each.key].append(each)
        every = chain(alone, chain.from_iterable(keyed.values()))
        found = _Findings(min((each.invoked_ns for each in every), default=0))
        operations = [*alone, *(_put_together(each, found) for each in keyed.values())]
        sends: dict[str, Request] = {}
        for each in operations:
            if each.op == "send":
                if each.token is None or each.token in sends:
                    raise ValueError(f"token {each.token} is sent twice: a checker needs one each")
                sends[each.token] = each
        pops = [each for each in operations if each.op == "pop"]
        repeated = (it for of in keyed.values() if len(of) > 1 for it in of if it.op == "pop")
        unsure = (each for each in pops if each.outcome != "ok")
        uncertain: dict[Address, list[Request]] = defaultdict(list)
        for each in chain(unsure, repeated):
            uncertain[each.address].append(each)
        taken: dict[str, list[Request]] = defaultdict(list)
        for each in pops:
            if each.outcome == "ok" and each.token is not None:
                taken[each.token].append(each)
        lying: dict[str, list[Left]] = defaultdict(list)
        for message in left:
            lying[message.token].append(message)
        replayed = sum(it.replayed for of in keyed.values() for it in of)
        return _History(sends, pops, left, uncertain, taken, lying, replayed, found)

    def report(self) -> Report:
        """All rules."""
        limbo = self._lost()
        self._more_than_once()
        self._against_sends()
        by_address = _timelines(self)
        for address, times in by_address.items():
            self._inverted(address, times)
            self._false_empty(address, times)
        self._counted()
        kept = (each for each in self.sends if each in self.taken or each in self.lying)
        unknown = [it for it in chain(self.sends.values(), self.pops) if it.outcome == "unknown"]
        return Report(
            counts={rule: self.found.counts[rule] for rule in RULES},
            findings=tuple(sorted(self.found.worded)),
            limbo=limbo,
            recovered=sum(self.sends[each].outcome == "unknown" for each in kept),
            replayed=self.replayed,
            sends=sum(each.outcome == "ok" for each in self.sends.values()),
            pops=sum(map(len, self.taken.values())),
            empty=sum(each.outcome == "ok" and each.token is None for each in self.pops),
            unknown=len(unknown),
        )

    def _lost(self) -> int:
        """R1; how many are gone that a pop without key may have taken, whose answer was lost."""
        gone: dict[Address, list[Request]] = defaultdict(list)
        for token, send in self.sends.items():
            if send.outcome == "ok" and token not in self.taken and token not in self.lying:
                gone[send.address].append(send)
        excused = Counter(
            each.address for each in self.pops if each.key is None and each.outcome == "unknown"
        )
        limbo = 0
        for address, sends in gone.items():
            limbo += min(excused[address], len(sends))
            for send in sends[excused[address] :]:
                at = send.returned_ns or 0
                text = f"{_named(send)} was answered 200 at {{}}; no pop brought it, none is left"
                self.found.add("R1", text, at)
        return limbo

    def _more_than_once(self) -> None:
        """R2, by token and by id."""
        ids: dict[tuple[str, int], set[str]] = defaultdict(set)
        for message in chain(chain.from_iterable(self.taken.values()), self.left):
            if message.id is not None and message.token is not None:
                ids[message.queue, message.id].add(message.token)
        for token in dict.fromkeys((*self.taken, *self.lying)):
            pops, left = self.taken.get(token, []), self.lying.get(token, [])
            if len(pops) + len(left) > 1:
                clients = ", ".join(f"client {each.client}" for each in pops)
                also = " and is still left" if left else ""
                moments = [each.returned_ns or 0 for each in pops]
                at = " and ".join("{}" for _ in moments)
                self.found.add("R2", f"{token} was popped by {clients} at {at}{also}", *moments)
        for (queue, number), tokens in ids.items():
            if len(tokens) > 1:
                names = ", ".join(sorted(tokens))
                self.found.add("R2", f"id {number} of queue {queue} is of {names}")

    def _against_sends(self) -> None:
        """R3, R4, R5."""
        pops = chain.from_iterable(self.taken.values())
        for message in chain(pops, self.left):
            how = "popped" if isinstance(message, Request) else "left"
            send = self.sends.get(message.token or "")
            if message.altered:
                text = f"{how} {_named(message)}: its body is not of its checksum or length"
                self.found.add("R4", text)
                continue
            if send is None or send.outcome == "fail":
                why = "nobody sent" if send is None else f"was refused ({send.status} {send.code})"
                self.found.add("R3", f"{how} {_named(message)}, which {why}")
                continue
            if send.outcome == "ok" and None not in (send.id, message.id) != message.id != send.id:
                self.found.add("R4", f"{how} {_named(message)}: id {message.id}, sent as {send.id}")
            if send.address != message.address:
                self.found.add("R5", f"{how} {_named(message)}, sent to {_place(send.address)}")

    def _inverted(self, address: Address, times: _Timeline) -> None:
        """R6: a's send was answered before b's began, and b's pop before a's began. All that may
        have held a: the pops of uncertain outcome there."""
        by_answer = times.certain_sends()
        b = times.popped
        held_until = self._held_until(address, b.pop_returned)
        low = np.searchsorted(by_answer.send_returned, held_until)
        high = np.searchsorted(by_answer.send_returned, b.send_invoked)
        latest = _largest(by_answer.pop_invoked, low, high)
        for index in np.flatnonzero(latest > b.pop_returned):
            among = slice(low[index], high[index])
            first = by_answer.tokens[low[index] + int(by_answer.pop_invoked[among].argmax())]
            text = (
                f"{b.tokens[index]} of {_place(address)} was popped until {{}}, "
                f"{first}, which was sent before it, from {{}} on"
            )
            moments = int(b.pop_returned[index]), int(latest[index])
            self.found.add("R6", text, *moments)

    def _false_empty(self, address: Address, times: _Timeline) -> None:
        """R7: a message's send was answered before, its pop began after; or it is left."""
        empty = times.empty
        if not empty:
            return
        invoked = np.array([each.invoked_ns for each in empty], np.int64)
        returned = np.array([each.returned_ns for each in empty], np.int64)
        certain = times.certain_sends(with_left=True)
        high = np.searchsorted(certain.send_returned, invoked)
        latest = _largest(certain.pop_invoked, np.zeros_like(high), high)
        is_excused = self._held_until(address, returned) > invoked
        for index in np.flatnonzero((latest > returned) & ~is_excused):
            there = int(certain.pop_invoked[: high[index]].argmax())
            text = (
                f"client {empty[index].client} was told from {{}} to {{}} that {_place(address)} "
                f"is empty; {certain.tokens[there]} lay there"
            )
            self.found.add("R7", text, int(invoked[index]), int(returned[index]))

    def _held_until(self, address: Address, before_ns: Ints) -> Ints:
        """For each moment: until when the uncertain pops that began before it may hold a message;
        NEVER where there is none."""
        pops = sorted(self.uncertain.get(address, ()), key=lambda each: each.invoked_ns)
        began = np.array([each.invoked_ns for each in pops], np.int64)
        ended = [_FOREVER if each.returned_ns is None else each.returned_ns for each in pops]
        until = np.maximum.accumulate(np.array([_NEVER, *ended], np.int64))
        held: Ints = until[np.searchsorted(began, before_ns)]
        return held

    def _counted(self) -> None:
        """R8."""
        outcomes = Counter(
            (each.op, each.outcome) for each in chain(self.sends.values(), self.pops)
        )
        sends, pops = outcomes["send", "ok"], sum(map(len, self.taken.values()))
        unknown = outcomes["send", "unknown"], outcomes["pop", "unknown"]
        if gap := count_gap(sends - pops, len(self.left), *unknown):
            text = f"{sends} sends and {pops} pops were done, {len(self.left)} are left: {gap} off"
            self.found.add("R8", text)


def _put_together(attempts: Sequence[Request], found: _Findings) -> Request:
    """The requests of one key as one operation: done by the first that says so, and begun with the
    first of all. R2 where they have several answers."""
    answered = [each for each in attempts if each.outcome == "ok"]
    # A pop that brought nothing is not remembered: what a later one brings is the answer.
    brought = [each for each in answered if each.id is not None or each.token is not None]
    if len({(each.token, each.id) for each in brought}) > 1:
        first = attempts[0]
        text = f"key {first.key} of client {first.client} has {len(brought)} different answers"
        found.add("R2", text)
    if len(attempts) == 1:
        return attempts[0]
    done = min(brought or answered, key=lambda each: each.returned_ns or 0, default=None)
    unsure = [each for each in attempts if each.outcome == "unknown"]
    ends = [each.returned_ns for each in attempts]
    last = None if None in ends else max(each for each in ends if each is not None)
    chosen = done or (unsure or attempts)[0]
    return chosen._replace(
        invoked_ns=min(each.invoked_ns for each in attempts),
        returned_ns=done.returned_ns if done else last,
    )


@dataclass(frozen=True)
class _Columns:
    """Messages, an element each."""

    tokens: list[str]
    send_invoked: Ints
    send_returned: Ints
    """FOREVER where the send has no certain end."""
    pop_invoked: Ints
    """FOREVER where it is left."""
    pop_returned: Ints

    def chosen(self, which: npt.NDArray[np.intp]) -> _Columns:
        """These, in this order."""
        return _Columns(
            [self.tokens[each] for each in which],
            self.send_invoked[which],
            self.send_returned[which],
            self.pop_invoked[which],
            self.pop_returned[which],
        )


@dataclass
class _Timeline:
    """What happened at one address."""

    rows: list[tuple[str, int, int, int, int]] = field(default_factory=list)
    empty: list[Request] = field(default_factory=list)

    @property
    def popped(self) -> _Columns:
        """Messages that a pop brought."""
        columns = self._columns()
        return columns.chosen(np.flatnonzero(columns.pop_invoked < _FOREVER))

    def certain_sends(self, *, with_left: bool = False) -> _Columns:
        """Those of a send that was answered 200, in the order of the answers."""
        columns = self._columns()
        wanted = columns.send_returned < _FOREVER
        if not with_left:
            wanted &= columns.pop_invoked < _FOREVER
        which = np.flatnonzero(wanted)
        return columns.chosen(which[np.argsort(columns.send_returned[which], kind="stable")])

    def _columns(self) -> _Columns:
        tokens = [each[0] for each in self.rows]
        values = np.array([each[1:] for each in self.rows], np.int64).reshape(-1, 4)
        return _Columns(tokens, *values.T)


def _timelines(of: _History) -> dict[Address, _Timeline]:
    """By address: the messages that were sent there and came from there, and the empty pops."""
    found: dict[Address, _Timeline] = defaultdict(_Timeline)
    for token, send in of.sends.items():
        if send.outcome == "fail":
            continue
        is_certain = send.outcome == "ok" and send.returned_ns is not None
        answered = send.returned_ns if is_certain and send.returned_ns is not None else _FOREVER
        pops = [each for each in of.taken.get(token, ()) if each.address == send.address]
        if pops:
            ended, began = min((each.returned_ns or 0, each.invoked_ns) for each in pops)
        elif any(each.address == send.address for each in of.lying.get(token, ())):
            began = ended = _FOREVER
        else:
            continue
        found[send.address].rows.append((token, send.invoked_ns, answered, began, ended))
    for each in of.pops:
        if each.outcome == "ok" and each.token is None:
            found[each.address].empty.append(each)
    return found


def _largest(values: Ints, low: npt.NDArray[np.intp], high: npt.NDArray[np.intp]) -> Ints:
    """The largest of `values[low:high]`, for each pair; NEVER where there is none."""
    found = np.full(low.size, _NEVER, np.int64)
    widths = high - low
    table, width = values, 1  # table[i] is the largest of values[i : i + width]
    while table.size:
        mine = np.flatnonzero((widths >= width) & (widths < 2 * width))
        found[mine] = np.maximum(table[low[mine]], table[high[mine] - width])
        table = np.maximum(table[:-width], table[width:])
        width *= 2
    return found


def _named(message: Request | Left) -> str:
    return f"{message.token} of {_place(message.address)}"


def _place(address: Address) -> str:
    queue, receiver = address
    return f"queue {queue}" + (f", receiver {receiver}" if receiver else "")
