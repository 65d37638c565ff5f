"""Scenario: bodies of the maximum size are answered within a bound and hardly slow other users."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import httpx

from ..soap import HEADERS, envelope
from .load import Verdict
from .promises import Findings
from .subject import HEADERS as JSON
from .subject import NORMAL, End, Subject, new_client, summed, until

ANSWERED_WITHIN_S = 5.0
TIMES_SLOWER = 3.0
"""Maximum ratio of the median time of the users' requests, during large bodies to before."""
USERS = 10
WARM_S = 4.0
BEFORE_S = 4.0
REPEATED = 3
TIMEOUT_S = 60.0
CODE = re.compile(rb"errorCode\D{1,12}([0-9]{3})")


#: Requests with a mark where pieces go. Between rows, further rows of matrixOne do; the product has
#: as many.
MARK = b"\0"
JSON_ROWS = (
    b'{"requestId":"1","matrixOne":{"columnCount":1,"rows":[{"value":"1"}\0]},'
    b'"matrixTwo":{"columnCount":1,"rows":[{"value":"1"}]}}'
)
SOAP_ROW = envelope("1", [(1, ["\0"]), (1, ["1"])])
SOAP_ROWS = SOAP_ROW.replace(b"<row>\0</row>", MARK)
#: For envelopes that are near the maximum number of elements and near the maximum size.
SOAP_WIDE_ROWS = envelope("1", [(11, ["\0"]), (1, ["1"] * 11)]).replace(b"<row>\0</row>", MARK)
SOAP_ID = envelope("\0", [(1, ["1"]), (1, ["1"])])
SOAP_COLUMN_COUNT = envelope("1", [(777, ["1"]), (1, ["1"])]).replace(b"777", MARK)
SOAP_HEADER = envelope("1", [(1, ["1"]), (1, ["1"])]).replace(
    b"<s:Body>", b'<s:Header><a xmlns="urn:a">\0</a></s:Header><s:Body>'
)


@dataclass(frozen=True)
class Large:
    """A kind of body: `piece`, repeated in place of the MARK in `around`."""

    what: str
    piece: bytes
    around: bytes = MARK
    soap: bool = False
    codes: tuple[str, ...] = ("002",)
    """The right error codes; `200` stands for a product."""

    @property
    def key(self) -> str:
        """The name of the kind in titles."""
        return f"{'SOAP' if self.soap else 'JSON'} {self.what}"

    def body(self, size: int) -> bytes:
        """The longest body of at most `size` bytes."""
        begin, end = self.around.split(MARK)
        return begin + self.piece * ((size - len(begin + end)) // len(self.piece)) + end


#: A body may exceed what a service can hold: 007, or 010 where its memory is small. A text in the
#: header counts as a node for each piece in which it is read; with more than 10000 it is 007.
BODIES = (
    Large("rows of 1", b',{"value":"1"}', JSON_ROWS, codes=("200", "007", "010")),
    Large("white space", b" "),
    Large("brackets", b"["),
    Large("rows of 1", b"<row>1</row>", SOAP_ROWS, soap=True, codes=("200", "007", "010")),
    Large(
        "rows of 11",
        b"<row>10,1,1,1,1,1,1,1,1,1,1</row>",
        SOAP_WIDE_ROWS,
        soap=True,
        codes=("200", "008", "010"),
    ),
    Large("white space", b" ", soap=True),
    Large("comments", b"<!---->", soap=True),
    Large("one id", b"1", SOAP_ID, soap=True, codes=("003",)),
    Large("one columnCount", b"1", SOAP_COLUMN_COUNT, soap=True, codes=("003",)),
    Large("one row of digits", b"1", SOAP_ROW, soap=True, codes=("005",)),
    Large("text in the header", b"1", SOAP_HEADER, soap=True, codes=("200", "007")),
)


async def _users(subject: Subject, strategy: str, goes_on: Callable[[], bool]) -> list[End]:
    """Run USERS users. Each sends low requests one after the other on a connection of its own."""

    async def user(number: int) -> list[End]:
        ends = []
        async with new_client(TIMEOUT_S) as kept:
            while goes_on():
                ends.append(await subject.ask(strategy, NORMAL, number, TIMEOUT_S, kept))
        return ends

    of_each = await asyncio.gather(*map(user, range(1, USERS + 1)))
    return [end for ends in of_each for end in ends]


def _median_ms(ends: list[End]) -> float:
    """Median time of the requests in ms; infinite where there are none."""
    return 1000 * median([end.ended_s - end.began_s for end in ends] or [float("inf")])


def post(subject: Subject, path: str, large: Large, body: bytes) -> tuple[float, str]:
    """Post a body. Returns the seconds to the end of the answer, and its error code, `200` for a
    product, or the text of an exception."""
    url, head = subject.service.base_url + path, dict(HEADERS if large.soap else JSON)
    began = time.monotonic()
    try:
        answer = httpx.post(url, content=body, headers=head, timeout=TIMEOUT_S, trust_env=False)
    except httpx.HTTPError as error:
        return time.monotonic() - began, repr(error)
    took_s = time.monotonic() - began
    found = CODE.search(answer.content)
    return took_s, found[1].decode() if found else str(answer.status_code)


async def weighed(subject: Subject, strategy: str, large: Large) -> Findings:
    """Send large bodies, one after the other, while USERS users send low requests."""
    body = large.body(subject.limit("maxBodyBytes"))
    findings = Findings(f"{subject.name} {strategy}: {large.key}, {len(body) / 2**20:.0f} MiB")
    path = f"/matrix/{strategy}"

    await _users(subject, strategy, until(WARM_S))
    before = await _users(subject, strategy, until(BEFORE_S))
    is_under_way = True
    users = asyncio.create_task(_users(subject, strategy, lambda: is_under_way))
    # kernel=native: the test is about large bodies, not about loops over millions of rows.
    to = f"/soap{path}?kernel=native" if large.soap else f"{path}?kernel=native"
    answers = [await asyncio.to_thread(post, subject, to, large, body) for _ in range(REPEATED)]
    is_under_way = False
    meanwhile = await users
    seconds = ", ".join(f"{took_s:.1f}" for took_s, _ in answers)
    codes = sorted({code for _, code in answers})
    findings.within(f"answered (in {seconds} s)", max(answers)[0], ANSWERED_WITHIN_S)
    findings.judge(
        "with what it deserves",
        " or ".join(large.codes),
        ", ".join(codes),
        set(codes) <= set(large.codes),
    )
    before_ms, then_ms = _median_ms(before), _median_ms(meanwhile)
    ratio = then_ms / before_ms
    findings.judge(
        f"median of {USERS} users of low",
        f"at most {TIMES_SLOWER:.0f} times that before",
        f"{ratio:.1f} times: {before_ms:.1f} ms, then {then_ms:.1f} ms",
        ratio <= TIMES_SLOWER,
    )
    theirs = summed(before + meanwhile)
    findings.judge("their answers", "right", str(theirs), theirs.only(Verdict.RIGHT))
    return findings
