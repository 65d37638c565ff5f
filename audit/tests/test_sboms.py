import hashlib
import json
from pathlib import Path

import pytest
from restbench_audit import files, parts, sboms
from restbench_audit.tools import ToolFailed, run


def test_a_jar_is_named_after_where_maven_keeps_it(tmp_path: Path) -> None:
    jar = tmp_path / "dnsjava-2.1.9.jar"
    jar.write_bytes(b"jar")
    kept = {jar.name: Path("org/example/dnsjava/2.1.9/dnsjava-2.1.9.jar")}
    component = files.jar_component(jar, kept)
    assert str(component.purl) == "pkg:maven/org.example/dnsjava@2.1.9"
    assert [each.content for each in component.hashes] == [hashlib.sha256(b"jar").hexdigest()]


def test_a_jar_that_maven_does_not_keep_has_no_coordinates(tmp_path: Path) -> None:
    jar = tmp_path / "strange.jar"
    jar.write_bytes(b"jar")
    assert str(files.jar_component(jar, {}).purl) == "pkg:generic/strange"


def test_a_tool_that_fails_says_why() -> None:
    with pytest.raises(ToolFailed, match=r"^ls ended with 2: .*no-such-file"):
        run("ls", "no-such-file")


def test_a_tool_that_is_not_installed_is_named() -> None:
    with pytest.raises(ToolFailed, match=r"^no-such-tool cannot be started: No such file"):
        run("no-such-tool")


def test_writes_a_document_of_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "OUTPUT", tmp_path)
    sboms.write_all()
    held = {part: sboms.components(part) for part in parts.PARTS}
    assert any(purl.startswith("pkg:maven/net.openhft/affinity@") for purl in held["java-service"])
    assert any(purl.startswith("pkg:pypi/gunicorn@") for purl in held["python-service"])
    assert any(purl.startswith("pkg:pypi/polars@") for purl in held["harness"])
    assert "pkg:maven/org.apache.jmeter/ApacheJMeter_core@5.6.3" in held["load-generator"]
    assert [purl.partition("@")[0] for purl in held["page"]] == ["pkg:npm/echarts"]
    for part in parts.PARTS:
        document = json.loads(parts.sbom(part).read_text())
        assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
