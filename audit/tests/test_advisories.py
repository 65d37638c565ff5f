import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from restbench_audit import advisories
from restbench_audit.findings import Finding, Weight

JINJA = "pkg:pypi/jinja2@2.10"
FLASK = "pkg:pypi/flask@3.1.1"
KNOWN = {"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"]}


@contextmanager
def osv(status: int, answer: Any, asked: list[Any]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/querybatch"
    finally:
        server.shutdown()
        server.server_close()


def test_a_package_with_an_advisory_is_vulnerable(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    answer = {"results": [{}, {"vulns": [{"id": "GHSA-1"}, {"id": "GHSA-2"}]}]}
    with osv(200, answer, asked) as url:
        monkeypatch.setattr(advisories, "OSV", url)
        found = advisories.of_purls("harness", [FLASK, JINJA])
    assert found == [Finding(Weight.VULNERABLE, "harness", f"{JINJA}: GHSA-1, GHSA-2")]
    assert asked == [{"queries": [{"package": {"purl": FLASK}}, {"package": {"purl": JINJA}}]}]


def test_asks_for_many_packages_in_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    with osv(200, {"results": [{}]}, asked) as url:
        monkeypatch.setattr(advisories, "OSV", url)
        monkeypatch.setattr(advisories, "MOST_QUERIES", 1)
        assert advisories.of_purls("harness", [FLASK, JINJA]) == []
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, {}), (200, {"something": "else"}), (200, []), (200, {"results": []})],
)
def test_a_source_without_a_proper_answer_was_not_asked(
    monkeypatch: pytest.MonkeyPatch, status: int, answer: Any
) -> None:
    with osv(status, answer, []) as url:
        monkeypatch.setattr(advisories, "OSV", url)
        found = advisories.of_purls("harness", [FLASK])
    assert [finding.weight for finding in found] == [Weight.UNASKED]


def test_a_source_that_is_not_there_was_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisories, "OSV", "http://127.0.0.1:9/v1/querybatch")
    found = advisories.of_purls("harness", [FLASK])
    assert [finding.weight for finding in found] == [Weight.UNASKED]


def test_what_pip_audit_skips_was_not_asked() -> None:
    packages = [
        {"name": "flask", "skip_reason": "not found on PyPI"},
        {"name": "click", "version": "8.3.0", "vulns": []},
    ]
    found = advisories.pip_findings("harness", packages)
    assert [(each.weight, "1 packages" in each.text) for each in found] == [(Weight.UNASKED, True)]


def test_what_pip_audit_knows_is_vulnerable() -> None:
    packages = [{"name": "jinja2", "version": "2.10", "vulns": [KNOWN]}]
    expected = "jinja2 2.10: PYSEC-2019-217, mended in 2.10.1"
    assert advisories.pip_findings("harness", packages) == [
        Finding(Weight.VULNERABLE, "harness", expected)
    ]


def test_a_jar_of_unknown_origin_was_not_asked_and_our_own_is_known() -> None:
    purls = ["pkg:generic/restbench-dashboards", "pkg:generic/strange", FLASK]
    found = advisories.nameless_findings("load-generator", purls)
    assert [each.text for each in found] == ["strange: of unknown origin"]
