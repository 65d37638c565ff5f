"""Trials are ordered over a socket: what is sent, how each answer is judged, what is told of it."""

import math
import os
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest
from conftest import REQUEST_REST, ROWS
from stub_service import Answer, StubService, right
from trials import (
    CORRECT,
    ERROR,
    HUGE_REST,
    HUGE_ROWS,
    ORDER,
    PATIENCE_S,
    WRONG,
    Done,
    Load,
    loading,
)

#: So long what is to be closed may stay open.
CLOSING_S = 20


#: A pause of the machine makes arrivals late, but not each time.
LOOKS = 5


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    with loading(tmp_path_factory.mktemp("load"), users=4) as load:
        yield load


def first(*answers: Answer | Callable[[str], Answer], rows: str = ROWS) -> Callable[[str], Answer]:
    """These, one after the other, and then right ones."""
    left = list(answers)

    def answer(request_id: str) -> Answer:
        if not left:
            return right(request_id, rows)
        told = left.pop(0)
        return told if isinstance(told, Answer) else told(request_id)

    return answer


def test_every_request_has_an_id_of_its_own_and_the_whole_payload(shared: Load) -> None:
    with StubService(right) as service:
        shared.cell(service, strategy="pinned")
        done = shared.trial(users=3, strategy="pinned")
    assert set(done.outcomes) == {CORRECT}
    assert {each.user for each in done.records} == {0, 1, 2}
    assert len(set(service.request_ids)) == len(done.records)
    assert all(re.fullmatch(r"u00[123]-\d{9}", each) for each in service.request_ids)
    assert {body.decode().partition(",")[2] for body in service.bodies} == {REQUEST_REST}
    assert set(service.paths) == {"/matrix/pinned?kernel=loops"}


def test_users_share_the_order_of_a_mix_so_that_shares_are_exact(shared: Load) -> None:
    service = StubService(lambda each: right(each, HUGE_ROWS if is_huge(service, each) else ROWS))
    with service:
        shared.cell(service, "mix")
        done = shared.trial(users=4, keep_ms=500)
        rests = Counter(body.partition(b",")[2].decode() for body in service.bodies)
    assert set(done.outcomes) == {CORRECT}, done.first_error
    assert len(done.records) >= len(ORDER)
    sent = Counter(done.kinds[each.kind] for each in done.records)
    whole, rest = divmod(len(done.records), len(ORDER))
    expected = Counter(ORDER[:rest]) + Counter({"low": 3 * whole, "huge": whole})
    assert sent == expected
    assert rests == {REQUEST_REST: sent["low"], HUGE_REST: sent["huge"]}


def is_huge(service: StubService, request_id: str) -> bool:
    (body,) = (b for b in service.bodies if f'"{request_id}"'.encode() in b[:40])
    return len(body) > len(HUGE_REST)


#: Each differs from the right answer in one respect.
WRONG_BODIES: dict[str, Callable[[str], str]] = {
    "its last digit": lambda each: f'{{"requestId":"{each}","rows":{HUGE_ROWS[:-3]}8]]}}',
    "another id": lambda _: f'{{"requestId":"u009-000000000","rows":{HUGE_ROWS}}}',
    "a space more": lambda each: f'{{"requestId":"{each}","rows":{HUGE_ROWS}}} ',
    "cut off": lambda each: f'{{"requestId":"{each}","rows":{HUGE_ROWS}',
    "another kind's": lambda each: f'{{"requestId":"{each}","rows":{ROWS}}}',
    "empty": lambda _: "",
}


def test_a_body_that_differs_anywhere_is_a_wrong_answer_and_the_next_is_right(
    shared: Load,
) -> None:
    wrong = [
        lambda each, body=body: Answer(200, body(each).encode()) for body in WRONG_BODIES.values()
    ]
    with StubService(first(*wrong, rows=HUGE_ROWS)) as service:
        shared.cell(service, "huge")
        done = shared.trial(keep_ms=500)
    assert done.outcomes == [WRONG] * 6 + [CORRECT] * (len(done.records) - 6)
    assert done.outcomes[-1] == CORRECT
    assert {each.status for each in done.records} == {200}
    assert done.first_error == "the body is not this request's id with the exact answer"


def test_a_refusal_is_an_error_and_has_no_stages_of_an_answer_before(shared: Load) -> None:
    refusal = Answer(503, b"{}", server_timing=None)
    with StubService(first(right, refusal)) as service:
        shared.cell(service)
        done = shared.trial()
    assert done.outcomes[:3] == [CORRECT, ERROR, CORRECT]
    assert done.records[1].status == 503
    assert done.first_error == "status 503"
    assert math.isnan(done.records[1].parse_ms)
    stages = [each[8:12] for each in (done.records[0], done.records[2])]
    assert stages == [pytest.approx((0.012, 1.234, 1.234, 0.345), rel=1e-5)] * 2


def test_an_answer_without_a_length_has_its_status(shared: Load) -> None:
    """So a server refuses by itself; it would look like one that ended the connection."""
    with StubService(first(right, Answer(400, b"", has_length=False))) as service:
        shared.cell(service)
        done = shared.trial()
    assert done.outcomes[:3] == [CORRECT, ERROR, CORRECT]
    assert done.records[1].status == 400
    assert done.first_error == (
        "java.io.IOException: status 400, and the answer does not say its length"
    )


def test_bytes_of_any_encoding_are_sent_and_compared(shared: Load) -> None:
    (shared.folder / "umlauts").mkdir()
    (shared.folder / "umlauts" / "body-rest.json").write_bytes('"note":"Größe ≤ 3"}'.encode())
    (shared.folder / "umlauts" / "answer-rest.json").write_bytes('"rows":"Größe"}'.encode())
    with StubService(lambda each: right(each, '"Größe"')) as service:
        shared.cell(service, "umlauts")
        done = shared.trial()
    assert set(done.outcomes) == {CORRECT}
    assert {body.partition(b",")[2] for body in service.bodies} == {'"note":"Größe ≤ 3"}'.encode()}


#: The answer of another workload, which has no parameter in its address.
LOGS_REST = '"ruleSet":"R16","lines":[""]}'
LOGS_ANSWER = '"ruleSet":"R16","alerts":[],"counts":[0,0],"fired":[[]]}'


def test_any_workload_s_answer_is_compared_whole(shared: Load) -> None:
    (shared.folder / "logs").mkdir()
    (shared.folder / "logs" / "body-rest.json").write_text(LOGS_REST)
    (shared.folder / "logs" / "answer-rest.json").write_text(LOGS_ANSWER)

    def answer(request_id: str) -> Answer:
        fired = LOGS_ANSWER if len(service.bodies) != 2 else LOGS_ANSWER.replace("[[]]", "[[0]]")
        return Answer(200, f'{{"requestId":"{request_id}",{fired}'.encode())

    with StubService(answer) as service:
        url = f"http://127.0.0.1:{service.port}/logs/serial"
        shared.order("cell", "logs", url, shared.folder / "logs")
        done = shared.trial(strategy="logs")
    assert done.outcomes[:3] == [CORRECT, WRONG, CORRECT]
    assert set(service.paths) == {"/logs/serial"}
    assert {body.partition(b",")[2].decode() for body in service.bodies} == {LOGS_REST}


def test_a_service_that_is_down_is_an_error_a_request_and_the_next_trial_is_sent(
    shared: Load,
) -> None:
    with StubService(right) as service:
        shared.cell(service)
        assert set(shared.trial().outcomes) == {CORRECT}
    done = shared.trial(keep_ms=100)
    assert set(done.outcomes) == {ERROR}
    assert done.records[-1].status == 0
    assert 1 <= len(done.records) <= 110, "a failure is followed by a millisecond's rest"
    with StubService(right) as service:
        shared.cell(service)
        assert set(shared.trial().outcomes) == {CORRECT}


def test_an_address_without_a_port_is_port_80(shared: Load) -> None:
    with closing(socket.socket()) as looking:
        if looking.connect_ex(("127.0.0.1", 80)) == 0:
            pytest.skip("port 80 is in use")
    shared.order("cell", "serial", "http://127.0.0.1/matrix/serial", shared.folder / "low")
    done = shared.trial()
    assert set(done.outcomes) == {ERROR}
    assert "Connection refused" in done.first_error


def test_users_keep_their_connections_over_trials_and_no_two_trials_meet(shared: Load) -> None:
    with StubService(right, delay_s=0.02) as service:
        for strategy in ("serial", "pinned"):
            shared.cell(service, strategy=strategy)
        for strategy in ("serial", "pinned", "serial"):
            shared.trial(users=4, strategy=strategy)
    assert service.connections == 4
    names = [path.split("/")[2].partition("?")[0] for path in service.paths]
    assert [name for name, _ in groupby(names)] == ["serial", "pinned", "serial"]


@pytest.mark.parametrize("fragment", ["#renewed", "#each"])
def test_connections_last_for_a_trial_or_a_request_where_the_address_says_so(
    shared: Load, fragment: str
) -> None:
    with StubService(right, delay_s=0.02) as service:
        shared.cell(service, fragment=fragment)
        outcomes = [shared.trial(users=4).outcomes for _ in range(3)]
    sent = sum(map(len, outcomes))
    assert sent > 3 * 4
    assert service.connections == (sent if fragment == "#each" else 3 * 4)
    assert {each for trial in outcomes for each in trial} == {CORRECT}
    assert all(fragment not in path for path in service.paths)


@pytest.mark.parametrize(("fragment", "left", "made"), [("", 4, 4), ("#renewed", 1, 4 + 1 + 4)])
def test_who_has_no_part_in_a_trial_keeps_a_connection_only_where_they_last_over_trials(
    shared: Load, fragment: str, left: int, made: int
) -> None:
    """Those of three users counted among a trial's of one: it was told to have 2.5 workers."""
    with StubService(right, delay_s=0.02) as service:
        shared.cell(service, fragment=fragment)
        assert set(shared.trial(users=4).outcomes) == {CORRECT}
        assert set(shared.trial(users=1).outcomes) == {CORRECT}
        deadline = time.monotonic() + CLOSING_S
        while service.open != left and time.monotonic() < deadline:
            time.sleep(0.02)
        assert service.open == left
        shared.trial(users=4)
    assert service.connections == made


def test_both_ends_of_what_is_measured_are_ends_of_requests(shared: Load) -> None:
    with StubService(right, delay_s=0.03) as service:
        shared.cell(service)
        longest_us = [
            longest_us_from_end_to_mark(shared.trial(users=1, keep_ms=200, drop_ms=50))
            for _ in range(LOOKS)
        ]
    assert sorted(longest_us)[1] < 5_000, "of a user that waits 30 ms for each answer"


def longest_us_from_end_to_mark(done: Done) -> float:
    """From the end of a request, or from the begin where none has ended, to the mark that comes
    next."""
    (begun, *_), (opened, *_), (closed, *_) = done.marks
    assert begun == 0
    ends_us = [each.start_us + each.elapsed_us for each in done.records]
    since_us = []
    for mark, due_ms in ((opened, 50), (closed, 250)):
        assert mark / 1e6 >= due_ms
        before_us = (each for each in ends_us if each <= mark / 1000 + 1)
        since_us.append(mark / 1000 - max(before_us, default=0))
    return max(since_us)


def test_cpu_times_are_those_of_the_processes_that_were_named(shared: Load) -> None:
    with StubService(right) as service:
        shared.cell(service)
        seen = shared.trial(users=4, keep_ms=500, pids=str(os.getpid()))
        unseen = shared.trial(pids=str(2**22 + 1))
    (_, _, *begun), _, (_, _, *closed) = seen.marks
    service_ms, ours_ms, busy_ms, steal_ms = (b - a for a, b in zip(begun, closed, strict=True))
    assert 0 < service_ms <= busy_ms
    assert 0 < ours_ms <= busy_ms
    assert steal_ms >= 0
    assert [each[2] for each in unseen.marks] == [0, 0, 0]


def test_the_machines_cpu_time_is_that_of_the_cores_that_are_named(tmp_path: Path) -> None:
    with StubService(right) as service, loading(tmp_path, 1, "-Jcpus=cpu99999") as load:
        load.cell(service)
        marks = load.trial(users=1, keep_ms=200).marks
    assert [(busy, steal) for *_, busy, steal in marks] == [(0, 0)] * 3


def test_an_open_load_counts_from_the_moment_a_request_was_meant_to_be_sent(shared: Load) -> None:
    arrivals = shared.folder / "arrivals.txt"
    arrivals.write_text("0\n1000\n2000\n600000\n")
    with StubService(right, delay_s=0.1) as service:
        shared.cell(service)
        for _ in range(LOOKS):
            done = shared.trial(users=1, keep_ms=700, arrivals=arrivals)
            if done.records[3].late_ms < 100:
                break
    assert [each.start_us for each in done.records] == [0, 1_000, 2_000, 600_000]
    elapsed_ms = [each.elapsed_us / 1000 for each in done.records]
    assert elapsed_ms[0] >= 100
    assert elapsed_ms[1] >= 199, "it waited for the one before"
    assert elapsed_ms[2] >= 298
    assert elapsed_ms[3] >= 100
    late_ms = [each.late_ms for each in done.records]
    assert late_ms[1] >= 98, "it was sent when the one before was answered"
    assert late_ms[2] >= 197
    assert late_ms[3] < 100
    of_a_closed_load = sorted(each.late_ms for each in shared.trial(keep_ms=100).records)
    assert of_a_closed_load[len(of_a_closed_load) // 2] == 0


def test_an_open_load_sends_each_arrival_once_and_none_before_its_moment(shared: Load) -> None:
    # All users wait for the last one: who comes late to the last moment has nothing to send.
    moments_us = [*range(0, 1_000_000, 10_000), 3_000_000]
    arrivals = shared.folder / "arrivals.txt"
    arrivals.write_text("".join(f"{each}\n" for each in moments_us))
    with StubService(right) as service:
        shared.cell(service)
        done = shared.trial(users=4, drop_ms=200, keep_ms=500, arrivals=arrivals)
    assert [each.start_us for each in done.records] == moments_us
    assert set(done.outcomes) == {CORRECT}
    opened_ms, closed_ms = (mark[0] / 1e6 for mark in done.marks[1:])
    assert opened_ms >= 200
    assert 700 <= closed_ms < 3_000, "the load goes on after what is measured"


def test_an_arrival_that_cannot_be_sent_before_the_load_is_over_is_not_sent(shared: Load) -> None:
    arrivals = shared.folder / "arrivals.txt"
    arrivals.write_text("".join(f"{each}\n" for each in range(0, 500_000, 5_000)))
    with StubService(right, delay_s=0.1) as service:
        shared.cell(service)
        for _ in range(LOOKS):
            done = shared.trial(users=2, keep_ms=400, arrivals=arrivals)
            if len(done.records) >= 6:
                break
    assert 6 <= len(done.records) <= 12, "two users, a tenth of a second each, for half a second"
    assert done.records[-1].late_ms > 100


def test_a_trial_of_no_cell_fails_and_says_so(shared: Load) -> None:
    with pytest.raises(AssertionError, match="no cell unknown"):
        shared.trial(strategy="unknown")


def test_a_payload_that_cannot_be_read_ends_the_load_and_the_log_names_it(tmp_path: Path) -> None:
    with loading(tmp_path, users=1) as load, StubService(right) as service:
        (tmp_path / "low" / "answer-rest.json").unlink()
        load.cell(service)
        load.order("trial", "serial", 1, 0, 100, tmp_path / "records.bin", "")
        assert load.ends()
        assert service.bodies == []
        deadline = time.monotonic() + PATIENCE_S
        while "low/answer-rest.json" not in (tmp_path / "jmeter.log").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_many_users_with_large_bodies_need_no_more_memory_than_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Kept a user, as JMeter's own sampler does, their bodies and answers would be 80 MB and more.
    rest, rows = '"note":"' + "n" * 1_000_000 + '"}', "[[" + "1," * 500_000 + "1]]"
    monkeypatch.setenv("JMETER_JVM_ARGS", "-Xms60m -Xmn24m -Xmx60m")
    with (
        loading(tmp_path, users=40) as load,
        StubService(lambda each: right(each, rows)) as service,
    ):
        (tmp_path / "low" / "body-rest.json").write_text(rest)
        (tmp_path / "low" / "answer-rest.json").write_text(f'"rows":{rows}}}')
        load.cell(service)
        done = load.trial(users=40, keep_ms=2_000)
    assert {each.user for each in done.records} == set(range(40))
    assert set(done.outcomes) == {CORRECT}
