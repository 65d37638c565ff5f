"""What logs tell of the moments of a load: the texts are those of PostgreSQL 15 and 18 and of JDK
17 and 25."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from restbench.observe.incidents import Incident, of_backends, of_jvm, of_postgres

AT = datetime(2026, 11, 25, 19, 0, 10, 500000, tzinfo=UTC).timestamp()
VACUUM_15 = """\
2026-11-25 19:00:10.500 UTC [81] LOG:  automatic vacuum of table "restbench.messages.message": index scans: 1
\tpages: 0 removed, 51 remain, 51 scanned (100.00% of total)
\ttuples: 3600 removed, 1000 remain, 0 are dead but not yet removable
\tWAL usage: 255 records, 2 full page images, 33000 bytes
\tsystem usage: CPU: user: 0.01 s, system: 0.00 s, elapsed: 0.25 s
"""  # noqa: E501 - as it is
ANALYZE = """\
2026-11-25 19:00:10.500 UTC [81] LOG:  automatic analyze of table "restbench.messages.receipt"
\tavg read rate: 0.000 MB/s, avg write rate: 0.000 MB/s
\tsystem usage: CPU: user: 0.02 s, system: 0.00 s, elapsed: 0.50 s
"""
CHECKPOINT = """\
2026-11-25 19:00:02.000 UTC [52] LOG:  checkpoint starting: time
2026-11-25 19:00:10.500 UTC [52] LOG:  checkpoint complete: wrote 903 buffers (1.4%); 0 WAL file(s) added, 0 removed, 3 recycled; write=8.011 s, sync=0.420 s, total=8.500 s; sync files=31
"""  # noqa: E501
JVM = """\
:: Spring Boot ::
[2026-11-25T20:00:10.500+0100] Using G1
[2026-11-25T20:00:10.500+0100] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 614M->6M(1024M) 4.250ms
[2026-11-25T20:00:11.000+0100] GC(4) Concurrent Mark Cycle 12.000ms
"""  # noqa: E501


@pytest.mark.parametrize("word", ["vacuum", "aggressive vacuum", "vacuum to prevent wraparound"])
def test_an_autovacuum_ends_with_its_line_and_began_as_long_before_as_it_took(word: str) -> None:
    (found,) = of_postgres(VACUUM_15.replace("vacuum", word, 1), UTC)
    assert found == Incident("autovacuum", AT - 0.25, AT, "vacuum of messages.message")


def test_an_analyze_is_of_autovacuum_too() -> None:
    (found,) = of_postgres(ANALYZE, UTC)
    assert found == Incident("autovacuum", AT - 0.5, AT, "analyze of messages.receipt")


def test_a_checkpoint_is_one_span() -> None:
    (found,) = of_postgres(CHECKPOINT, UTC)
    assert found == Incident("checkpoint", AT - 8.5, AT, "wrote 903 buffers (1.4%)")


def test_lines_of_several_entries_are_told_apart_and_others_are_not_taken() -> None:
    error = "2026-11-25 19:00:10.000 UTC [9] ERROR:  canceling statement due to statement timeout\n"
    found = of_postgres(VACUUM_15 + error + ANALYZE + CHECKPOINT, UTC)
    assert [each.kind for each in found] == ["autovacuum", "autovacuum", "checkpoint"]


def test_the_moments_are_of_the_servers_zone() -> None:
    log = CHECKPOINT.replace("19:00", "20:00").replace("UTC", "CET")
    (found,) = of_postgres(log, ZoneInfo("Europe/Berlin"))
    assert found.end_s == AT


def test_a_start_is_a_moment() -> None:
    line = "2026-11-25 19:00:10.500 UTC [1] LOG:  database system is ready to accept connections\n"
    expected = Incident("restart", AT, AT, "the database accepts connections")
    assert of_postgres(line, UTC) == [expected]


def test_a_pause_of_the_collector_is_told_at_its_end_and_concurrent_work_is_none() -> None:
    (found,) = of_jvm(JVM)
    assert (found.kind, found.end_s) == ("gc-pause", AT)
    assert found.begin_s == pytest.approx(AT - 0.00425)
    assert found.text.startswith("Pause Young (Normal) (G1 Evacuation Pause)")


def test_connections_of_before_are_not_renewed_ones() -> None:
    samples = [{"backends_begun_s": [5.0, 6.0]}, {"backends_begun_s": [6.0, 25.5]}, {"zone": "UTC"}]
    assert of_backends(samples, after_s=10.0) == [Incident("connection-renewal", 25.5, 25.5)]
