"""A campaign is the same for the same seed, fair to every strategy, and shows what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import strategies as st

from restbench_robustness.bodies.sources import SOURCES, Source
from restbench_robustness.campaign import KERNELS, Campaign, Finding
from restbench_robustness.comparison import Outcome, Target
from restbench_robustness.findings import keep
from restbench_robustness.message import Message, Route
from restbench_robustness.oracle import Limits, Oracle, Verdict
from restbench_robustness.wire import Answer

TARGETS = [
    Target("java", "127.0.0.1", 1, ("serial", "pinned", "pipeline")),
    Target("python", "127.0.0.1", 2, ("serial", "process-per-element")),
]
ROUTES = {"java": Route("pinned", "loops"), "python": Route("serial", "native")}
TEXT = frozenset({"x"})
MALFORMED = Verdict("002", 400, messages=TEXT)
SMALL = [it for it in SOURCES if it.name not in {"giant", "outer products"}]
DIGEST = """
from test_campaign import Approving, SMALL, Campaign
print(Campaign(Approving(), 100, 5).run(SMALL).digest.hexdigest())
"""


class Approving:
    """Finds nothing wrong, and remembers what it was shown."""

    def __init__(self) -> None:
        self.targets = TARGETS
        self.seen: list[Message] = []

    def judge(self, message: Message, _routes: Mapping[str, Route]) -> Outcome:
        self.seen.append(message)
        return Outcome(Verdict("ok", 200), {}, ())


def seen(bodies: int, seed: int) -> list[Message]:
    bench = Approving()
    Campaign(bench, bodies, seed).run(SMALL)
    return bench.seen


def test_the_same_seed_gives_the_same_bodies_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"PYTHONHASHSEED": hashing, "PYTHONPATH": "tests:."},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            check=True,
        ).stdout
        for hashing in ("1", "2")
    }
    assert len(digests) == 1


def test_another_seed_gives_other_bodies_and_a_longer_campaign_begins_with_the_shorter() -> None:
    first, other, longer = seen(60, 1), seen(60, 2), seen(90, 1)
    assert len(first) == 60
    assert first != other
    assert longer[:60] == first


def test_every_strategy_and_kernel_gets_its_share_and_every_source_its_turn() -> None:
    bodies = st.integers().map(lambda number: Message(str(number).encode()))
    sources = [Source("often", bodies, 3, 5), Source("seldom", bodies, 1, 5)]
    tally = Campaign(Approving(), 1200, 3).run(sources)
    java = {route: count for route, count in tally.routes.items() if route[0] == "java"}
    assert len(java) == 3 * len(KERNELS)
    assert min(java.values()) > 0.9 * 1200 / len(java)
    assert tally.sources == {"often": 900, "seldom": 300}


def test_the_sources_reach_every_code_that_depends_on_the_request() -> None:
    oracle = Oracle(["pinned"], Limits(1_000_000))
    verdicts = [
        oracle.judge(message.as_received(ROUTES["java"]))
        for message in seen(600, 4)
        if message.is_http
    ]
    codes = Counter(verdict.code for verdict in verdicts if verdict)
    assert set(codes) >= {"ok", "001", "002", "003", "004", "005", "006", "009"}
    assert min(codes["ok"], codes["006"], codes["005"]) > 10


def finding(message: Message, verdict: Verdict) -> Finding:
    return Finding("overflow", message, ROUTES, Outcome(verdict, {}, ("java: wrong",)), True)


def test_a_finding_is_kept_as_it_goes_over_the_wire_with_a_line_that_sends_it_again(
    tmp_path: Path,
) -> None:
    told = keep(
        finding(Message(b"{}", missing_bytes=3), MALFORMED),
        tmp_path,
        TARGETS,
    )
    assert told[0].startswith("overflow: 002-fuzz-")
    assert "  java: wrong" in told
    raw = next(tmp_path.glob("*.java.http")).read_bytes()
    assert raw.startswith(b"POST /matrix/pinned?kernel=loops ") and raw.endswith(b": 5\r\n\r\n{}")
    assert any(it.strip().startswith("nc -N 127.0.0.1 1 <") for it in told)


@pytest.mark.parametrize(
    ("message", "verdict", "expected"),
    [
        (
            Message(b"{}", query="kernel=x"),
            Verdict("003", 422, 7, messages=TEXT),
            {"status": 422, "response": {"requestId": 7, "errorCode": "003", "errorMessage": "x"}},
        ),
        (
            Message(b"x"),
            Verdict("ok", 200, 7, product=b'{"rows":[[1]]}'),
            {"status": 200, "responseText": '{"rows":[[1]]}'},
        ),
    ],
)
def test_a_finding_becomes_an_example_of_the_contract(
    tmp_path: Path, message: Message, verdict: Verdict, expected: dict[str, object]
) -> None:
    keep(finding(message, verdict), tmp_path, TARGETS)
    example = json.loads(next(tmp_path.glob("*.json")).read_text())
    query = f"?{message.query}" if message.query else ""
    assert example.pop("request") == {
        "method": "POST",
        "path": "/matrix/{strategy}" + query,
        "headers": {"Content-Type": "application/json"},
        "bodyText": message.body.decode(),
    }
    assert example.pop("about")
    assert example == expected


def test_a_reply_without_an_example_s_form_is_shown_without_one(tmp_path: Path) -> None:
    outcome = Outcome(None, {"java": Answer(500, {}, b"")}, ("java: status 500",))
    keep(Finding("http", Message(b"", "GET", "/health"), ROUTES, outcome, True), tmp_path, TARGETS)
    assert list(tmp_path.glob("*.json")) == []
