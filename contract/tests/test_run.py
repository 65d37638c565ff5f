"""The runner of examples and probes, against a server that answers everything alike."""

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import run
from probes import PROBES

WRONG = run.Outcome("probe", "cut-off-body", "closed", ("'closed', not '400 002'",))
RIGHT = run.Outcome("probe", "cut-off-body", "400 002", ())
KEY = ("probe", "cut-off-body")


class Refuses(BaseHTTPRequestHandler):
    """Every request is 404 in the contract's form, and the connection closed."""

    def do_POST(self) -> None:
        body = b'{"requestId":null,"errorCode":"009","errorMessage":"no"}'
        self.send_response(404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def service() -> Iterator[run.Service]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield run.Service("127.0.0.1", server.server_port, {"matrix": ["serial"]}, 1000, 0.1, None)
        server.shutdown()


def test_a_difference_that_is_not_listed_fails() -> None:
    assert list(run.verdicts([WRONG], {})) == ["probe cut-off-body: 'closed', not '400 002'"]


def test_a_difference_that_is_listed_passes() -> None:
    assert list(run.verdicts([WRONG], {KEY: "closed"})) == []


def test_another_difference_than_the_listed_one_fails() -> None:
    assert list(run.verdicts([WRONG], {KEY: "silent"})) != []


def test_a_listed_difference_that_no_longer_happens_fails() -> None:
    assert list(run.verdicts([RIGHT], {KEY: "closed"})) != []


def test_a_row_of_a_front_is_not_one_of_the_bare_framework() -> None:
    assert KEY in run.deviations("tomcat", "nginx")
    assert run.deviations("tomcat", "nginx").keys() != run.deviations("tomcat", None).keys()


def test_every_row_names_what_there_is_and_why() -> None:
    known = {"example": set(run.examples()), "probe": {probe.name for probe in PROBES}}
    for row in run.rows():
        (kind,) = {"example", "probe"} & set(row)
        assert row[kind] in known[kind]
        assert {"framework", "front"} & set(row)
        assert row["why"]
        assert row["answer"]


@pytest.mark.parametrize("framework", ["tomcat", "flask"])
def test_no_row_of_a_default_framework_names_an_example(framework: str) -> None:
    assert not [row for row in run.rows() if row.get("framework") == framework and "example" in row]


def test_every_example_that_is_answered_wrongly_is_told(service: run.Service) -> None:
    outcomes = [run.try_example(service, *item) for item in run.examples().items()]
    right = {outcome.name for outcome in outcomes if not outcome.faults}
    assert right == set()


def test_a_probe_tells_what_came(service: run.Service) -> None:
    probes = {probe.name: probe for probe in PROBES}
    kept = run.try_probe(service, probes["kept-connection"])
    assert kept.answer == "404 009 closed"
    assert kept.faults
