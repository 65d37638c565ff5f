"""A load of messages: what is sent, what the checks of a trial find, what pgbench is given."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest

from restbench.drive import messages, pgbench
from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG, LoadResult, Mark
from restbench.drive.messages import EMPTY, POP, SEND
from restbench.experiment.level import Messages
from restbench.failures import EnvironmentProblem
from restbench.prove import messages as proofs

USER = 1_000_000_000
HUNDRED = Messages(characters=200)
IDS = range(7, 107)


class Did(NamedTuple):
    """One request of a load."""

    kind: int
    token: int = 0
    outcome: int = CORRECT
    status: int = 200
    code: int = 0


def broken(*did: Did, filled: int = 0, left: int = 0) -> dict[str, int]:
    records = np.zeros(len(did), RECORD)
    for record, each in zip(records, did, strict=True):
        for name, value in each._asdict().items():
            record[name] = value
    return messages.violations(records, filled, left)


X, Y = USER + 1, 2 * USER + 1


@pytest.mark.parametrize(
    ("did", "filled", "left", "expected"),
    [
        ([Did(SEND, X), Did(POP, X)], 0, 0, {}),
        ([Did(POP, 3), Did(SEND, X)], 3, 3, {}),
        ([Did(SEND, X), Did(EMPTY)], 0, 1, {}),
        ([Did(SEND, X), Did(POP, X), Did(POP, X)], 1, 0, {"R2 duplicated": 1}),
        ([Did(POP, Y), Did(SEND, X)], 0, 0, {"R3 invented": 1}),
        ([Did(POP, 4)], 3, 2, {"R3 invented": 1}),
        ([Did(SEND, X, ERROR, 422), Did(POP, X)], 1, 0, {"R3 invented": 1}),
        ([Did(SEND, X, ERROR, 503), Did(POP, X)], 0, 0, {}),
        ([Did(SEND, X, ERROR, 503, 15), Did(POP, X)], 0, 0, {}),
        ([Did(SEND, X, ERROR, 503, 14), Did(POP, X)], 1, 0, {"R3 invented": 1}),
        ([Did(SEND, X), Did(POP, 0, ERROR, 503, 8)], 0, 0, {"R8 count": 1}),
        ([Did(SEND, X, ERROR, 0), Did(POP, X)], 1, 0, {}),
        ([Did(SEND, X, ERROR, 200), Did(POP, X)], 0, 0, {}),
        ([Did(SEND, X), Did(POP, 0, ERROR, 200)], 0, 0, {}),
        ([Did(SEND, X), Did(POP, 0, ERROR, 500)], 0, 0, {}),
        ([Did(SEND, X), Did(POP, 0, ERROR, 404)], 0, 0, {"R8 count": 1}),
        ([Did(SEND, X), Did(POP, 0, WRONG)], 0, 1, {"R4 altered": 1}),
        ([Did(SEND, X), Did(POP, X, WRONG)], 0, 1, {"R5 misrouted": 1}),
        ([Did(SEND, X), Did(SEND, Y)], 0, 1, {"R8 count": 1}),
        ([Did(SEND, X), Did(POP, X), Did(POP, 0, ERROR, 503)], 5, 4, {}),
        ([Did(SEND, X), Did(POP, X), Did(POP, 0, ERROR, 503)], 5, 3, {"R8 count": 1}),
        ([Did(SEND, X, WRONG)], 0, 0, {"not an answer": 1}),
    ],
)
def test_a_trial_breaks_the_rules_that_it_breaks_and_no_other(
    did: list[Did], filled: int, left: int, expected: dict[str, int]
) -> None:
    assert broken(*did, filled=filled, left=left) == expected


def test_a_body_proves_itself_and_has_the_characters_of_its_level() -> None:
    level = Messages(characters=200, queues=3, filled=10)
    found = messages.prefilled(level, 1)
    assert [queue for queue, _ in found] == [2, 3, 1, 2, 3, 1, 2, 3, 1, 2]
    for number, (queue, text) in enumerate(found, start=1):
        assert len(text) == 200
        assert text.startswith(f"{queue:06d}.0000.{number:09d} ")
        assert text[-8:] == f"{zlib.crc32(text[:-8].encode()):08x}"
    assert len({text for _, text in found}) == 10
    assert messages.prefilled(level, 1) == found != messages.prefilled(level, 2)


def test_bodies_cannot_be_compressed_away() -> None:
    text = messages.filler(1, 200).encode()
    assert len(zlib.compress(text)) > 0.7 * len(text)


def test_the_load_generator_is_told_a_users_round(tmp_path: Path) -> None:
    (said, filler) = messages.files_of(Messages(characters=64, load="study"), 1, tmp_path).items()
    assert said == (
        tmp_path / "messages.properties",
        "queues=100\ncharacters=64\nsends=2\nkeys=false\n",
    )
    assert len(filler[1]) > 64


def test_stages_are_told_by_kind_and_add_up_to_the_latency() -> None:
    records = np.zeros(3, RECORD)
    records["kind"], records["elapsed_us"] = [SEND, POP, POP], [2000, 4000, 6000]
    records["stages_ms"] = [[0.1, 0.2, 1.0, 0.3, 0.2, 0.7]] * 3
    records["outcome"][2] = ERROR
    found = messages.means(records)
    assert found["send_ms"] == pytest.approx(2)
    assert found["pop_ms"] == pytest.approx(4), "an error is none"
    assert found["pop_network_ms"] == pytest.approx(4 - 1.6)
    assert found["database_ms"] == pytest.approx(0.7)
    assert found["send_half_ms"] == pytest.approx(1)
    assert found["send_database_points"] == pytest.approx(np.exp(0.35))


def test_what_the_database_took_is_over_what_was_answered_while_it_was_counted() -> None:
    records = np.zeros(4, RECORD)
    records["start_us"], records["elapsed_us"] = [0, 90_000, 150_000, 150_000], 20_000
    records["outcome"][3] = ERROR
    begun = Mark(0, 5000, 0, 0, 0, 0)
    sent = LoadResult(begun, begun, begun, ("send", "pop"), "", records)
    assert messages.right_since(sent, 5100.0) == 2
    assert messages.right_since(sent, 5200.0) == 0


def test_a_service_that_tells_no_stages_has_latencies_alone() -> None:
    records = np.zeros(1, RECORD)
    records["elapsed_us"], records["stages_ms"] = 1000, np.nan
    assert messages.means(records) == pytest.approx({"send_ms": 1.0, "send_half_ms": 0.5})


def test_pgbench_sends_the_contracts_own_statements() -> None:
    (text,) = pgbench.scripts("skip-locked", HUNDRED, IDS).values()
    assert text.count("\\set queue_id random(7, 106)\n") == 1
    assert "INSERT INTO messages.message" in text
    assert "FOR UPDATE SKIP LOCKED" in text
    assert text.count(";\n") == 2
    (study,) = pgbench.scripts("skip-locked", Messages(characters=64, load="study"), IDS).values()
    assert study.count("INSERT INTO messages.message") == 2


@pytest.mark.parametrize("technique", sorted(set(proofs.CLAIMS) - {"memory"}))
def test_every_technique_has_a_script_whose_parameters_are_all_given(technique: str) -> None:
    given = {"queue_id", "receiver", "sender", "client", "body", "popped_id"}
    for text in pgbench.scripts(technique, HUNDRED, IDS).values():  # type: ignore[arg-type]
        assert set(pgbench._NAME.findall(text)) <= given
        assert text.startswith("\\set queue_id")


def test_techniques_keep_their_round_trips_under_pgbench() -> None:
    (statements,) = pgbench.scripts("statements", HUNDRED, IDS).values()
    sent, popped = statements.split("BEGIN;\n")[1:]
    assert sent.startswith("INSERT") and sent.endswith("COMMIT;\n")
    assert popped.startswith("SELECT") and popped.endswith("COMMIT;\n")
    assert "\\aset popped_" in statements
    assert "id = :popped_id" in statements
    (advisory,) = pgbench.scripts("advisory", HUNDRED, IDS).values()
    assert "pg_advisory_xact_lock(:queue_id)" in advisory
    # A script is tried again as a whole: a send must not be sent twice.
    tried = pgbench.scripts("repeatable-read", HUNDRED, IDS)
    assert list(tried) == ["send.sql@1", "pop.sql@1"]
    assert "INSERT" not in tried["pop.sql@1"]


WORDS = """\
transaction type: round.sql
number of transactions actually processed: 500
number of failed transactions: 3 (0.597%)
latency average = 4.000 ms
initial connection time = 9.1 ms
tps = 1000.500000 (without initial connection time)
"""


def test_a_round_of_pgbench_is_as_many_operations() -> None:
    begun = {"cpu_ms": 4.0, "wal_kib": 30.0, "generator_ms": 2.0}
    whole = {"cpu_ms": 100.0, "wal_kib": 2000.0, "generator_ms": 50.0}
    connected = WORDS.replace("processed: 500", "processed: 20/20"), begun
    found = pgbench._read(connected, (WORDS, whole), 2)
    assert (found.per_s, found.latency_ms) == (2001.0, 2.0)
    assert (found.database_ms, found.generator_ms, found.failed) == (0.1, 0.05, 3)
    assert found.wal_kib == 2.0, "the begin has none of it"


def test_a_load_that_its_begin_fills_has_no_cpu_time_of_its_own() -> None:
    """Of 80 connections in one second: seen as 35 ms an operation, and as none."""
    begun = {"cpu_ms": 90.0, "wal_kib": 30.0, "generator_ms": 48.0}
    whole = {"cpu_ms": 100.0, "wal_kib": 2000.0, "generator_ms": 50.0}
    for processed in (480, 600):
        connected = WORDS.replace("processed: 500", f"processed: {processed}/{processed}"), begun
        found = pgbench._read(connected, (WORDS, whole), 2)
        assert (found.database_ms, found.generator_ms) == (None, None)


def test_pgbench_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "pgbench"
    endless.write_text("#!/bin/sh\nexec sleep 600\n")
    endless.chmod(0o755)
    database, queues = Mock(pids=tuple), Mock(technique="skip-locked", ids=IDS)
    database.program.return_value, database.url.return_value = str(endless), "postgresql://here"
    database.client_environment.return_value = {}
    queues.owner.execute.return_value.fetchall.return_value = [(0.0,)]
    monkeypatch.setattr(pgbench, "_SPARE_S", -0.8)
    with pytest.raises(EnvironmentProblem, match=r"skip-locked: not finished within 0\.2 s"):
        pgbench.load(
            database,
            queues,
            HUNDRED,
            seed=1,
            connections=1,
            seconds=1,
            cores=None,
            folder=tmp_path / "load",
        )


def test_what_pgbench_says_without_a_number_is_its_error() -> None:
    with pytest.raises(EnvironmentProblem, match="pgbench reports: pgbench: error: no such role"):
        pgbench._read((WORDS, {}), ("pgbench: error: no such role", {}), 2)
