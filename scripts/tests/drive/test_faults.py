"""What services promise under a fault, the clients' history, and what is shown of both."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock, Mock

import pytest
from drawn import data_of
from fixture_run import cell
from histories import left, pop, read, send
from made_blocks import block_of
from psycopg import OperationalError

from restbench.analyse import exported as entries
from restbench.analyse.faults import COLUMNS, Course, complaints, extras, outcomes, verdict
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.analyse.queue_checker import check
from restbench.deploy.service import Service
from restbench.drive import history
from restbench.drive.history import Clients, Record
from restbench.drive.queue_client import Answer, NotSent
from restbench.experiment import experiment
from restbench.experiment.faults import FAULTS, work_of
from restbench.failures import BadConfiguration, EnvironmentProblem, NotOffered
from restbench.schedule import faults as driver
from restbench.schedule.block import take_round
from restbench.schedule.pace import PlannedTrial, TrialGroup
from restbench.show.document import words
from restbench.show.kinds import faults as shown
from restbench.store import exported
from restbench.store.store import EXPERIMENTS, RESULTS

S = 10**9
COURSE = Course(broken_ns=2 * S, back_ns=4 * S, ended_ns=11 * S)
FINE = dict.fromkeys(COLUMNS, 0.0) | {"sends": 100.0, "first_s": 0.5, "latest_s": 1.1}


def test_the_first_success_and_later_failures_are_counted_from_when_all_was_well_again() -> None:
    requests = [
        send("a", S, 2 * S),
        send("b", 3 * S, 5 * S, was="fail"),
        send("c", 5 * S, 6 * S),
        send("d", 8 * S, 9 * S, was="fail"),
        send("e", 10 * S, 11 * S, was="fail"),
        send("in the drain", 12 * S, 13 * S, was="fail"),
    ]
    found = extras(COURSE, requests, check(requests, [left("a"), left("c")]))
    assert (found["down_s"], found["first_s"], found["failed_later"]) == (2, 2, 1)
    assert found["latest_s"] == 2


def test_a_connection_that_is_refused_later_is_a_failure_and_one_that_hangs_a_late_answer() -> None:
    fine = [send("a", 5 * S, 6 * S)]
    known = [(3 * S, 3 * S), (9 * S, 9 * S + S // 1000), (10 * S, 13 * S)]
    found = extras(COURSE, fine, check(fine, [left("a")]), known)
    assert (found["failed_later"], found["latest_s"]) == (2, 3)


def test_a_refusal_of_a_valid_request_is_counted() -> None:
    """Such as 012, that there is no such queue."""
    requests = [send("a", S, 2 * S), pop(None, 3 * S, 4 * S, status=404)]
    found = extras(COURSE, requests, check(requests, [left("a")]))
    assert found["refused_valid"] == 1


def test_what_a_pause_holds_up_is_no_late_answer_and_a_passed_deadline_is() -> None:
    pause = replace(COURSE, holds_answers=True)
    held = [send("a", S, 4 * S + S // 2)]
    for course, waited_s in ((COURSE, 3.5), (pause, 0.5)):
        assert extras(course, held, check(held, [left("a")]))["latest_s"] == waited_s
    given_up = [send("b", S, None, was="unknown")._replace(code="timeout")]
    assert extras(pause, given_up, check(given_up))["latest_s"] > 1.5


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"latest_s": 1.6}, ["an answer took 1.60 s"]),
        ({"first_s": 2.5}, ["the first success came 2.50 s after the recovery"]),
        ({"refused_wrongly": 3.0}, ["5xx answers other than 503 with Retry-After: 3"]),
        ({"failed_later": 2.0}, ["requests failed 5 s after the recovery or later: 2"]),
        ({"refused_valid": 2.0}, ["valid requests refused with 4xx: 2"]),
        ({"unanswered": 1.0}, ["requests never answered: 1"]),
        ({"died": 1.0}, ["the service's process ended"]),
    ],
)
def test_a_promise_that_was_not_kept_is_named(changed: dict[str, float], said: list[str]) -> None:
    assert complaints(FINE | changed) == said


def test_a_verdict_says_what_was_violated() -> None:
    assert verdict(FINE) == "nothing lost, nothing delivered twice"
    assert verdict(FINE | {"lost": 3.0, "others": 1.0}) == "VIOLATED: 3 lost, 1 other violation"


def test_a_body_proves_itself() -> None:
    text = history.body("run-1-7", 200, random.Random(1))
    assert len(text) == 200
    assert history.checked_token(text, 200) == ("run-1-7", False)
    assert history.checked_token(text[:50] + "~" + text[51:], 200) == ("run-1-7", True)
    assert history.checked_token(text[:-1], 200) == ("run-1-7", True)


class Queue:
    """One queue in memory, whose answers a test states; then it does as it is told."""

    def __init__(self, *answers: Answer | None) -> None:
        self.messages: list[str] = []
        self.answers = list(answers)
        self.keys: list[str | None] = []

    def send(self, _sender: int, _to: tuple[str, int], body: str, key: str | None) -> Answer:
        self.keys.append(key)
        if self.answers:
            if (found := self.answers.pop(0)) is None:
                raise NotSent
            return found
        self.messages.append(body)
        return Answer(200, id=len(self.messages))

    def pop(self, _client: int, _of: tuple[str, int], _key: str | None) -> Answer:
        return Answer(200, body=self.messages.pop(0), id=1) if self.messages else Answer(200)

    def close(self) -> None:
        pass


def one_client(*, have_keys: bool, filled: int = 1) -> Clients:
    return Clients("run", 1, [("a", 0)], 100, have_keys, filled)


def test_with_a_key_a_request_is_repeated_unchanged_until_it_is_answered(tmp_path: Path) -> None:
    queue = Queue(None, Answer(None, "reset"), Answer(503, "015", says_when=True))
    record = Record(tmp_path / "history.jsonl")
    clients = one_client(have_keys=True)
    with history.running(clients, lambda: queue, record):
        pass
    history.drain(clients, queue, record)
    statuses = [each.status for each in record.requests if "run-1-1" in (each.token, each.key)]
    assert statuses == [None, 503, 200, 200], "two attempts, the answer, and its pop"
    assert queue.keys[:4] == ["run-1-1"] * 4, "one of them was never sent"
    assert len(record.unconnected) == 1
    assert check(record.requests).violations == 0


class TakesLate(Queue):
    """The first pop has no answer; it takes a message when the second has found nothing, and who
    asks with its key is told so."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message: str | None = message

    def pop(self, _client: int, _of: tuple[str, int], key: str | None) -> Answer:
        self.keys.append(key)
        if len(self.keys) == 1:
            return Answer(None, "timeout")
        if len(self.keys) == 2 or key != self.keys[0]:
            return Answer(200)
        return Answer(200, id=1, body=self.message, replayed=True)


def test_after_an_empty_answer_to_a_repeated_pop_the_same_key_is_asked_once_more(
    tmp_path: Path,
) -> None:
    """The first request may still take a message, which nobody else is told of."""
    queue = TakesLate(history.body("t", 100, random.Random(1)))
    record = Record(tmp_path / "history.jsonl")
    history.drain(one_client(have_keys=True), queue, record)
    assert [each.token for each in record.requests] == [None, None, "t", None, None, None]
    assert queue.keys[:3] == ["run-2-1"] * 3
    assert len({*queue.keys[2:]}) == 4, "then a key each"
    assert check([send("t", 0, 1), *record.requests]).violations == 0


def test_no_client_ends_with_a_key_that_may_still_take_a_message(tmp_path: Path) -> None:
    queue, record = TakesLate(history.body("t", 100, random.Random(1))), Record(tmp_path / "a")
    client = history._Client(1, one_client(have_keys=True, filled=0), queue, record, Event())
    client.over.set()
    client.unsure[("a", 0)] = "k"
    queue.keys = ["k", "k"]
    client.work()
    assert [(each.key, each.token) for each in record.requests] == [("k", "t")]


def test_without_a_key_nothing_is_repeated(tmp_path: Path) -> None:
    queue = Queue(Answer(503, "014", says_when=True), Answer(500, "099"))
    record = Record(tmp_path / "history.jsonl")
    clients = one_client(have_keys=False, filled=3)
    with history.running(clients, lambda: queue, record):
        pass
    sent = [each for each in record.requests if each.op == "send"]
    assert [each.outcome for each in sent[:3]] == ["fail", "unknown", "ok"]
    assert len({each.token for each in sent}) == len(sent)
    assert record.wrongly_refused == ["send: 500 099"]


def test_a_queue_is_drained_when_it_was_said_to_be_empty_three_times(tmp_path: Path) -> None:
    queue, record = Queue(), Record(tmp_path / "history.jsonl")
    queue.messages = [history.body(f"t-{n}", 100, random.Random(n)) for n in range(5)]
    history.drain(one_client(have_keys=False), queue, record)
    tokens = [each.token for each in record.requests]
    assert tokens == ["t-0", "t-1", "t-2", "t-3", "t-4", None, None, None]


def test_a_client_without_an_answer_to_the_end_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SETTLED_S", 0.2)
    queue = Queue(*[Answer(503, "014")] * 1000)
    clients, record = one_client(have_keys=True), Record(tmp_path / "history.jsonl")
    with history.running(clients, lambda: queue, record):
        pass
    (said,) = record.unanswered
    assert said.startswith("send of run-1-1: ")
    assert "code='014'" in said


def test_what_a_service_took_is_unknown_where_it_died_and_another_is_in_its_place() -> None:
    """It was less than nothing: a process that is gone has no CPU time any more."""
    service, fresh = (Service("java", f"http://127.0.0.1:{port}") for port in (1, 2))
    up = [cast(Any, SimpleNamespace(service=each)) for each in (service, fresh)]
    assert [driver._cpu_ms(service, 0.0, each) for each in (*up, None)] == [0.0, None, None]


def test_what_was_violated_before_a_fault_that_is_not_repaired_is_a_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another attempt might find nothing. What is only missing may be left in its queue."""
    of = cell("java serial kill-all 2")
    table: Any = SimpleNamespace(
        queues=1, receivers=[0], characters=100, filled=0, technique="function"
    )
    service = SimpleNamespace(service=SimpleNamespace(pids=tuple))
    up: Any = SimpleNamespace(running=lambda _: service, lacks=lambda _: None)
    here = block_of(tmp_path, None, [TrialGroup("all", (of,))], up=up)
    faulty = driver.FaultsDriver(here, table, tmp_path, driver.Bench(cast(Any, None), up))

    def breaks(_clients: Clients, record: Record, *_more: object) -> None:
        twice = [pop("a", 2, 3), pop("a", 4, 5)]
        record.requests.extend([send("a", 0, 1), *twice, send("missing", 6, 7), pop(None, 8, 9)])
        raise EnvironmentProblem("the database does not come back")

    monkeypatch.setattr(driver, "QueueCalls", Mock())
    monkeypatch.setattr(faulty, "_under_load", breaks)
    with pytest.raises(EnvironmentProblem, match="does not come back"):
        faulty.trial(PlannedTrial(1, of))
    (event,) = here.file.events()
    assert (event.kind, event.cell) == ("wrong", of.id)
    assert event.text.startswith("duplicated: a was popped by") and "missing" not in event.text


def test_a_database_that_ends_while_it_is_read_ends_the_trial_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = cell("java serial kill-all 2")
    table: Any = SimpleNamespace(
        queues=1, receivers=[0], characters=100, filled=0, technique="function"
    )
    service = SimpleNamespace(pids=tuple, alive=lambda: True, serves=lambda: True)
    running = Mock(return_value=SimpleNamespace(service=service))
    up: Any = SimpleNamespace(running=running, of=running, lacks=lambda _: None)
    here = block_of(tmp_path, None, [TrialGroup("all", (of,))], up=up)
    faulty = driver.FaultsDriver(here, table, tmp_path, driver.Bench(MagicMock(), up))
    monkeypatch.setattr(driver, "QueueCalls", Mock())
    monkeypatch.setattr(faulty, "_under_load", lambda *_given: COURSE)
    monkeypatch.setattr(history, "drain", Mock())
    monkeypatch.setattr(history, "left", Mock(side_effect=OperationalError("it was shut down")))
    with pytest.raises(EnvironmentProblem, match="the database: it was shut down"):
        faulty.trial(PlannedTrial(1, of))


def test_a_strategy_that_the_runtime_lacks_is_no_failure_under_a_fault(tmp_path: Path) -> None:
    of = cell("java virtual-thread-per-request kill-all 2")
    up: Any = SimpleNamespace(lacks=lambda _: NotOffered("not on Java 17"))
    here = block_of(tmp_path, None, [TrialGroup("all", (of,))], up=up)
    faulty = driver.FaultsDriver(here, MagicMock(), tmp_path, driver.Bench(MagicMock(), up))
    take_round(faulty, [PlannedTrial(1, of)])
    events = [(each.kind, each.text) for each in here.file.events()]
    assert events == [("not-offered", "not on Java 17")], "and there was no second attempt"


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = Record(tmp_path / "history.jsonl")
    for each in (send("a", key="k", id=3), pop("a", returned=None, was="unknown")):
        record.add(each, Answer(200))
    record.write([left("b", number=4)])
    assert read(record.path) == (record.requests, [left("b", number=4)])


def test_every_fault_is_a_level_of_the_experiment_with_keys_and_without() -> None:
    definition = experiment.load(EXPERIMENTS / "messages-faults.toml")
    levels = {each.complexity for each in definition.all_cells()}
    assert levels == {*FAULTS, *(f"{each}-without-keys" for each in FAULTS)}
    assert work_of("kill-all-without-keys").have_keys is False
    kills = [cell for cell in definition.all_cells() if definition.profile("kills").measures(cell)]
    assert {each.complexity for each in kills} == {"kill-backend", "kill-all"}


def test_a_level_that_is_no_fault_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "messages-faults.toml").read_text()
    with pytest.raises(BadConfiguration, match="'unplug' is not defined; defined are kill-backend"):
        experiment.parse(text.replace('complexity = "*"', 'complexity = "unplug"'), tmp_path)


def rows(**changed: float) -> list[Row]:
    of = cell("java serial kill-all 10")
    blocks = [Measurement(block=n, seconds=9.0, extras=FINE | changed) for n in (1, 2)]
    return [Row(of, None, (), tuple(blocks))]


def test_a_run_says_what_became_of_how_many_messages_and_how_sure_that_is() -> None:
    said = "Of 200 messages that were sent during 2 faults (2 × kill-all): nothing lost"
    assert shown.sentence(outcomes(rows())).startswith(said)
    assert (
        shown.sure(outcomes(rows()))
        == "No violation in 2 faults: fewer than 77.6 % of such faults cause one (95 %)."
    )
    assert "VIOLATED: 2 lost" in shown.sentence(outcomes(rows(lost=1.0, violations=1.0)))
    assert "facts" in shown.sure(outcomes(rows(lost=1.0, violations=1.0)))


def test_one_fault_and_one_answer_are_told_as_one() -> None:
    (row,) = rows(replayed=1.0)
    once = outcomes([replace(row, measurements=row.measurements[:1])])
    said = shown.sentence(once)
    assert "sent during 1 fault (1 × kill-all): " in said
    assert "; 1 answer was repeated for the same key; " in said
    assert shown.sure(once).startswith("No violation in 1 fault: ")


def test_a_line_of_the_table_has_verdict_promises_sums_and_worst_times() -> None:
    known = outcomes(rows(latest_s=2.0))
    (table,) = shown.tables(known)
    line = [getattr(field, "text", field) for field in table.rows[0]]
    head = [column.heading for column in table.columns]
    (found,) = known
    assert found.complaints == ["an answer took 2.00 s"] * 2
    shown_as = dict(zip(head, map(str, line), strict=True))
    assert shown_as["Sends"].endswith("200") or "200" in shown_as["Sends"]
    assert "an answer took 2.00 s (and 1 more)" in shown_as["Service"]
    assert "nothing lost, nothing delivered twice" in shown_as["Messages"]


def test_a_kept_run_that_did_not_count_the_recovered_has_nothing_there(tmp_path: Path) -> None:
    told = (RESULTS / "messages-faults" / "run.json").read_text()
    file = tmp_path / "run.json"
    file.write_text(re.sub(r'"recovered":\s*(\{[^}]*\}|[0-9.]+),', "", told))
    run = exported.read(file)
    old, new = outcomes(entries.rows_of(run)), outcomes(rows(recovered=3.0))
    for known, counted in ((old, ""), (new, "6")):
        for table in shown.tables(known):
            place = [column.heading for column in table.columns].index("Recovered")
            assert {words(line[place]) for line in table.rows} == {counted}


def test_the_picture_has_a_mark_a_fault_and_shows_which_broke_its_promise() -> None:
    (chart,) = shown.charts(outcomes(rows(first_s=2.31)))
    assert chart is not None
    first, latest = (data_of(chart, panel) for panel in (0, 1))
    assert [each["value"] for each in first] == [2.31, 2.31]
    assert {each["series"] for each in first} == {"promise broken"}
    assert {each["series"] for each in latest} == {"as promised"}
    assert {(each["least"], each["most"]) for each in first} == {(0.0, 2.0)}
    assert shown.charts([]) == [None]
