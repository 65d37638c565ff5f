"""Kernels called by clients in two languages, over REST and SOAP: what is taken of them, what
decides the claims, and how it is shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest
from npb_rows import GENERATE_S, cell, claims_on, kernel_run, row_of, trial
from npb_shown import shown
from stub_cli import CLIENT

from restbench.analyse import npb
from restbench.analyse.comparison import series
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.deploy.service import Service
from restbench.drive import call_client, npb_runs
from restbench.drive.npb_runs import NpbClients, ServiceCall
from restbench.experiment.npb import ClientName, work_of
from restbench.failures import EnvironmentProblem, WrongAnswers
from restbench.judge import claims
from restbench.judge.claims import Decision
from restbench.show import files
from restbench.show.document import Table, words
from restbench.show.kinds import npb as npb_text
from restbench.store.store import Run

STUB = [sys.executable, str(CLIENT)]
SERVICE = cast(Service, SimpleNamespace(base_url="http://here"))
REST_MS, SOAP_MS = 2.0, 5.0


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[NpbClients]:
    for name in [*call_client._COMMANDS]:
        monkeypatch.setitem(call_client._COMMANDS, name, lambda _: STUB)
    with npb_runs.clients_running(npb.CLIENTS, tmp_path / "clients.log", "0") as programs:
        yield programs


def taken(clients: NpbClients, name: ClientName, level: str, kept: int) -> list[ServiceCall]:
    works = [work_of(level)] * kept
    return list(clients.calls([name], SERVICE, cell(level), works, 10.0)[name])


def test_all_clients_and_the_service_are_warm_before_a_call_counts(
    clients: NpbClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, classes = [], []
    ask = call_client.CallClient.batch

    def noted(self: call_client.CallClient, batch: call_client.Batch) -> call_client.BatchResult:
        asked.append((batch.url, batch.transport, batch.calls))
        classes.append([each["class"] for each in json.loads(batch.inputs.read_text())])
        return ask(self, batch)

    monkeypatch.setattr(call_client.CallClient, "batch", noted)
    found = clients.calls(
        ["java-soap", "python-rest"], SERVICE, cell("CG-A"), [work_of("CG-A")] * 2, 10.0
    )
    assert {name: len(runs) for name, runs in found.items()} == {"java-soap": 2, "python-rest": 2}
    soap, warm_rest, rest = (
        f"http://here/{path}/serial" for path in ("soap/npb", "npb-is", "npb-cg")
    )
    first, warm = npb_runs.FIRST_CALLS, npb_runs.WARM_CALLS
    assert asked == [
        (soap, "cxf", warm),
        (warm_rest, "rest", warm),
        (soap, "cxf", first + 2),
        (rest, "rest", first + 2),
    ]
    assert classes[3] == ["S"] * first + ["A"] * 2


def test_a_program_that_ended_is_started_anew_for_the_next_cell(clients: NpbClients) -> None:
    clients.programs["python"].started.kill()
    clients.programs["python"].started.wait()
    assert len(taken(clients, "python-rest", "CG-A", 2)) == 2


def test_a_call_takes_its_first_three_steps_and_its_answer_is_as_over_rest(
    clients: NpbClients,
) -> None:
    (found,) = taken(clients, "python-soap", "FT-A", 1)
    assert found.client_seconds == pytest.approx(0.025)
    assert found.overhead_seconds == pytest.approx(0.010)
    assert found.answer.value == ((8.5, 0.25),)
    (found,) = taken(clients, "python-soap", "CG-A", 1)
    assert found.answer.value == 8.5


def test_an_answer_that_is_not_verified_is_wrong_whoever_asked(
    clients: NpbClients, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STUB_UNVERIFIED", "zeep")
    with (
        npb_runs.clients_running(["python-soap"], tmp_path / "others.log", "0") as others,
        pytest.raises(WrongAnswers, match="IS-S: not verified"),
    ):
        taken(others, "python-soap", "CG-S", 1)


def assert_a_wrong_answer_comes_before(
    failure: str, clients: NpbClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EnvironmentProblem, match=failure):
        taken(clients, "python-rest", "IS-S", 1)
    wrong = WrongAnswers("IS-S: not verified")
    monkeypatch.setattr(npb_runs, "read_answer", Mock(side_effect=wrong))
    with pytest.raises(WrongAnswers):
        taken(clients, "python-rest", "IS-S", 1)


def test_a_call_that_failed_hides_no_wrong_answer_after_it(
    clients: NpbClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = call_client.read_log

    def with_a_failure(log: Path) -> list[call_client.CallLine]:
        first, *others = read(log)
        return [first.model_copy(update={"outcome": "failed", "kind": "TIMEOUT"}), *others]

    monkeypatch.setattr(call_client, "read_log", with_a_failure)
    assert_a_wrong_answer_comes_before(
        "python-rest IS-S: call 0 failed TIMEOUT", clients, monkeypatch
    )


def test_a_program_that_ends_hides_no_wrong_answer_before_it(
    clients: NpbClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = call_client.CallClient.batch

    def ends(self: call_client.CallClient, batch: call_client.Batch) -> None:
        whole(self, batch)
        raise EnvironmentProblem("ended")

    monkeypatch.setattr(call_client.CallClient, "batch", ends)
    assert_a_wrong_answer_comes_before("ended", clients, monkeypatch)


def test_a_program_without_the_transport_is_told_before_the_first_cell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(call_client._COMMANDS, "python", lambda _: STUB)
    monkeypatch.setitem(npb_runs.CLIENTS, "python-soap", ("python", "smtp"))
    with (
        pytest.raises(EnvironmentProblem, match="-soap: its program supports only rest, soap"),
        npb_runs.clients_running(["python-soap"], tmp_path / "clients.log", "0"),
    ):
        pass


def made(level: str, seconds: float, call_ms: float, value: float = 8.5) -> list[ServiceCall]:
    answer = kernel_run(level, seconds).model_copy(update={"value": value})
    return [ServiceCall(answer, seconds + GENERATE_S + call_ms / 1000)] * 2


def called(level: str = "CG-A", soap_s: float = 1.0, soap_value: float = 8.5) -> Row:
    """Four blocks of a cell whose fresh process takes twice as long as a warm one."""
    trials = [
        trial(
            cell(level),
            block,
            [2.0 * noise, 1.0 * noise],
            [1.0 * noise],
            by_client={
                "java-rest": made(level, noise, REST_MS),
                "java-soap": made(level, soap_s * noise, SOAP_MS),
                "python-rest": made(level, noise, REST_MS),
                "python-soap": made(level, soap_s * noise, SOAP_MS + 1, soap_value),
            },
        )
        for block, noise in enumerate((1.0, 1.01, 0.99, 1.005), start=1)
    ]
    return row_of(cell(level), trials)


def decided(*rows: Row) -> dict[str, Decision]:
    on = claims_on(*(row.cell.complexity for row in rows))
    return {each.id: each for each in claims.decide(on, rows, ())}


def test_what_soap_adds_is_the_difference_of_two_calls_and_no_part_of_the_kernel() -> None:
    found = called()
    assert npb.soap_ms(found, "java") == pytest.approx(SOAP_MS - REST_MS)
    assert npb.soap_ms(found, "python") == pytest.approx(SOAP_MS + 1 - REST_MS)
    assert series(found, "java_soap_s").median == pytest.approx(1.0, rel=0.01)


def test_through_soap_the_claims_are_decided_by_the_java_client() -> None:
    found = decided(called())
    assert (found["N1-soap"].verdict, found["N1-soap-fair"].verdict) == ("reproduced",) * 2
    found = decided(called(soap_s=1.5))
    assert found["N1-soap"].verdict == "reproduced", "a fresh process takes twice the time"
    assert found["N1-soap-fair"].verdict == "contradicted"
    assert decided(called(soap_s=2.5))["N1-soap"].verdict == "contradicted"
    assert [part.cells for part in found["N1-soap"].parts] == [("java-serial-unbound-CG-A-1u",)]


def test_a_value_that_differs_in_its_last_bit_contradicts_that_all_platforms_get_the_same() -> None:
    assert decided(called())["N2"].verdict == "reproduced"
    found = decided(called(soap_value=8.5 * (1 + 2**-52)))["N2"]
    assert found.verdict == "contradicted"
    assert series(called(soap_value=8.6), "clients_same").median == 3


@pytest.mark.parametrize(
    ("same", "verdict"),
    [
        ([0] * 5, "contradicted"),
        ([4, 4, 4, 4, 0], "contradicted"),
        ([4, 4, 4, 4, 3], "contradicted"),
        ([4] * 19 + [3], "contradicted"),
        ([4] * 2, "reproduced"),
        ([], "not-measured"),
    ],
)
def test_one_client_in_one_block_contradicts_what_holds_each_time(
    same: list[int], verdict: str
) -> None:
    counts = [{"clients_same": float(each), "clients_asked": 4.0} for each in same]
    blocks = [Measurement(block=n, seconds=1.0, extras=of) for n, of in enumerate(counts, start=1)]
    found = decided(Row(cell(), None, (), tuple(blocks)))["N2"]
    assert (found.verdict, found.is_open) == (verdict, False)


def test_the_page_has_a_table_of_clients_and_the_studys_numbers_with_what_is_no_result() -> None:
    found = shown([called("CG-A"), called("CG-S")])
    section = npb_text.page(found, npb_text.of(found))
    assert section is not None
    tables = {each.caption: each for each in section.parts if isinstance(each, Table)}
    (first, _) = tables["Called by clients in two languages, over REST and SOAP"].rows
    line = [words(each) for each in first]
    assert line[:2] == ["CG", "S"]
    assert line[-3:] == ["3", "4", "4 of 4"]
    study = {
        words(line[0]): [words(each) for each in line]
        for line in tables["The study's numbers, recomputed, and ours"].rows
    }
    assert study["CG-S"][:6] == ["CG-S", "0.042", "1587", "0.042", "1627 (no result)", ""]
    assert study["CG-A"][5:] == ["1.11", "2", "1", "1", "1", "1"]
    assert study["IS-A"][6:] == [""] * 5
    told = [each for line in study.values() for each in line if "no result" in each]
    assert len(told) == 9


def test_what_soap_adds_is_said_in_words_and_in_the_table_for_programs(tmp_path: Path) -> None:
    rows = [called("CG-A"), called("CG-S")]
    java, python = npb_text.soap(rows)
    assert java.startswith("SOAP adds 3.00 ms to a call of the Java client (median over 2 kernels")
    assert python.startswith("SOAP adds 4.00 ms to a call of the Python client")
    run = Run(tmp_path)
    records = npb_text.VIEW.records(run, npb_text.of(shown(rows)))[run.npb_csv]
    header, first, _ = files.as_csv(records).splitlines()
    line = dict(zip(header.split(","), first.split(","), strict=True))
    assert float(line["java_soap_call_ms"]) == pytest.approx(SOAP_MS)
    assert (float(line["clients_same"]), float(line["clients_asked"])) == (4, 4)


def test_without_clients_there_is_no_word_of_soap() -> None:
    alone = row_of(cell(), [trial(cell(), block, [2.0, 1.0], [1.0]) for block in (1, 2)])
    assert npb_text.soap([alone]) == []
    assert "clients_asked" not in alone.measurements[0].extras
