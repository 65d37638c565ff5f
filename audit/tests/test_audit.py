import hashlib
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx
import pytest
import restbench_audit as audit
from restbench_audit import Finding, ToolFailed, Weight

JINJA = "pkg:pypi/jinja2@2.10"
FLASK = "pkg:pypi/flask@3.1.1"
VERSIONS_PLUGIN_SAYS = """
The following dependencies in Dependencies have newer versions:
  com.tngtech.archunit:archunit .......................... 1.4.1 -> 1.4.2
  org.springframework.boot:spring-boot-starter-actuator ...
                                                          4.1.1 -> 4.1.2

The parent project has a newer version:
  org.springframework.boot:spring-boot-starter-parent  4.1.1 -> 4.1.2
"""


@pytest.fixture
def osv(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An OSV database that answers with `status` and `answer`, and keeps what it was `asked`."""
    told: dict[str, Any] = {"status": 200, "answer": {"results": [{}]}, "asked": []}

    def post(url: str, *, json: Any, timeout: float) -> httpx.Response:
        told["asked"].append(json)
        if told["status"] is None:
            raise httpx.ConnectError("nobody there")
        request = httpx.Request("POST", url)
        return httpx.Response(told["status"], json=told["answer"], request=request)

    monkeypatch.setattr(httpx, "post", post)
    return told


def test_a_package_with_an_advisory_is_vulnerable(osv: dict[str, Any]) -> None:
    osv["answer"] = {"results": [{}, {"vulns": [{"id": "GHSA-1"}, {"id": "GHSA-2"}]}]}
    found = audit.of_purls("harness", [FLASK, JINJA])
    assert found == [Finding(Weight.VULNERABLE, "harness", f"{JINJA}: GHSA-1, GHSA-2")]
    assert osv["asked"] == [{"queries": [{"package": {"purl": it}} for it in (FLASK, JINJA)]}]


def test_asks_for_many_packages_in_several_requests(
    osv: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MOST_QUERIES", 1)
    assert audit.of_purls("harness", [FLASK, JINJA]) == []
    assert len(osv["asked"]) == 2


@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, {}), (200, {"something": "else"}), (200, []), (200, {"results": []}), (None, {})],
)
def test_a_source_without_a_proper_answer_was_not_asked_and_others_were(
    osv: dict[str, Any], status: int | None, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    osv.update(status=status, answer=answer)
    monkeypatch.setattr(audit, "maven", lambda *_: (_ for _ in ()).throw(ToolFailed("mvn")))
    monkeypatch.setattr(audit, "module", lambda *_: '{"install": []}')
    found = audit.ask_all({"harness": [FLASK]})
    assert [(it.weight, it.part) for it in found] == [
        (Weight.UNASKED, "harness"),
        (Weight.UNASKED, "java-service"),
        (Weight.UNASKED, "java-client"),
    ]


def test_a_jar_of_unknown_origin_was_not_asked_and_our_own_is_known(osv: dict[str, Any]) -> None:
    purls = ["pkg:generic/restbench-dashboards", "pkg:generic/strange", FLASK]
    found = audit.of_purls("load-generator", purls)
    assert found == [Finding(Weight.UNASKED, "load-generator", "strange: of unknown origin")]


def test_reads_newer_versions_over_one_line_and_over_two() -> None:
    assert [each.text for each in audit.behind_findings("java-service", VERSIONS_PLUGIN_SAYS)] == [
        "com.tngtech.archunit:archunit 1.4.1, there is 1.4.2",
        "org.springframework.boot:spring-boot-starter-actuator 4.1.1, there is 4.1.2",
        "org.springframework.boot:spring-boot-starter-parent 4.1.1, there is 4.1.2",
    ]


def test_a_version_that_was_taken_back_is_found() -> None:
    packages = [
        {"is_yanked": False, "metadata": {"name": "flask", "version": "3.1.1"}},
        {"is_yanked": True, "metadata": {"name": "urllib3", "version": "1.25"}},
    ]
    found = audit.yanked_findings("harness", packages)
    assert found == [Finding(Weight.YANKED, "harness", "urllib3 1.25 was taken back by its author")]


def test_the_heaviest_finding_makes_the_exit_code() -> None:
    behind, unasked, bad = (
        Finding(weight, "harness", "")
        for weight in (Weight.BEHIND, Weight.UNASKED, Weight.VULNERABLE)
    )
    assert [audit.exit_code(it) for it in ([], [behind], [behind, unasked])] == [0, 0, 3]
    assert audit.exit_code([unasked, bad, behind]) == 1


def test_a_jar_is_named_after_where_maven_keeps_it_if_it_does(tmp_path: Path) -> None:
    jar = tmp_path / "dnsjava-2.1.9.jar"
    jar.write_bytes(b"jar")
    digest = hashlib.sha256(b"jar").hexdigest()
    kept = {digest: Path("org/example/dnsjava/2.1.9/dnsjava-2.1.9.jar")}
    component = audit.jar_component(jar, kept)
    assert str(component.purl) == "pkg:maven/org.example/dnsjava@2.1.9"
    assert [each.content for each in component.hashes] == [digest]


def test_another_jar_of_the_same_name_is_of_unknown_origin(tmp_path: Path) -> None:
    jar = tmp_path / "dnsjava-2.1.9.jar"
    jar.write_bytes(b"changed")
    kept = {hashlib.sha256(b"jar").hexdigest(): Path("org/example/dnsjava/2.1.9/dnsjava-2.1.9.jar")}
    assert str(audit.jar_component(jar, kept).purl) == "pkg:generic/dnsjava-2.1.9"


@pytest.mark.parametrize("document", ["{}", ""])
def test_a_document_without_components_is_exit_code_3(
    document: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(audit, "OUTPUT", tmp_path)
    monkeypatch.setattr(audit, "write_sboms", lambda: None)
    audit.sbom("java-service").write_text(document)
    assert audit.main() == 3
    assert "java-service.cdx.json has no components" in capsys.readouterr().err


def test_a_tool_that_fails_or_is_not_installed_says_why() -> None:
    with pytest.raises(ToolFailed, match=r"^ls ended with 2: .*no-such-file"):
        audit.run("ls", "no-such-file")
    with pytest.raises(ToolFailed, match=r"^no-such-tool cannot be started: No such file"):
        audit.run("no-such-tool")


def test_a_tool_that_fails_while_sboms_are_written_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "write_sboms", lambda: audit.run("no-such-tool"))
    assert audit.main() == 3
    assert "no-such-tool" in capsys.readouterr().err


def test_writes_a_document_of_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "OUTPUT", tmp_path)
    monkeypatch.setenv("MAVEN_OPTS", "-XX:TieredStopAtLevel=1")  # it ends before C2 pays
    audit.write_sboms()
    held = {part: audit.components(part) for part in audit.PARTS}
    named = {purl.rpartition("/")[2].replace("@", "-") for purl in held["java-service"]}
    with ZipFile(audit.ROOT / "java-service" / "target" / "restbench-java.jar") as jar:
        inside = [Path(name) for name in jar.namelist() if name.startswith("BOOT-INF/lib/")]
    assert {path.stem for path in inside if path.suffix == ".jar"} <= named
    assert any(
        purl.startswith("pkg:maven/org.apache.cxf/cxf-core@") for purl in held["java-client"]
    )
    assert any(purl.startswith("pkg:pypi/gunicorn@") for purl in held["python-service"])
    assert any(purl.startswith("pkg:pypi/scipy@") for purl in held["harness"])
    assert "pkg:maven/org.apache.jmeter/ApacheJMeter_core@5.6.3" in held["load-generator"]
    carried = [purl.partition("@")[0] for purl in held["page"]]
    assert carried == ["pkg:npm/vega-embed", "pkg:npm/vega-lite", "pkg:npm/vega"]
    for part in audit.PARTS:
        document = json.loads(audit.sbom(part).read_text())
        assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
