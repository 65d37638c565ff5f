import pytest
from restbench_audit import registries, tools
from restbench_audit.findings import Finding, Weight, exit_code
from restbench_audit.registries import behind_findings, yanked_findings

VERSIONS_PLUGIN_SAYS = """
The following dependencies in Dependencies have newer versions:
  com.tngtech.archunit:archunit .......................... 1.4.1 -> 1.4.2
  org.springframework.boot:spring-boot-starter-actuator ...
                                                          4.1.1 -> 4.1.2

The parent project has a newer version:
  org.springframework.boot:spring-boot-starter-parent  4.1.1 -> 4.1.2
"""


def test_reads_newer_versions_over_one_line_and_over_two() -> None:
    assert [each.text for each in behind_findings(VERSIONS_PLUGIN_SAYS)] == [
        "com.tngtech.archunit:archunit 1.4.1, there is 1.4.2",
        "org.springframework.boot:spring-boot-starter-actuator 4.1.1, there is 4.1.2",
        "org.springframework.boot:spring-boot-starter-parent 4.1.1, there is 4.1.2",
    ]


def test_a_version_that_was_taken_back_is_found() -> None:
    packages = [
        {"is_yanked": False, "metadata": {"name": "flask", "version": "3.1.1"}},
        {"is_yanked": True, "metadata": {"name": "urllib3", "version": "1.25"}},
    ]
    found = yanked_findings("harness", packages)
    assert found == [Finding(Weight.YANKED, "harness", "urllib3 1.25 was taken back by its author")]


def test_the_heaviest_finding_makes_the_exit_code() -> None:
    behind = Finding(Weight.BEHIND, "harness", "old")
    unasked = Finding(Weight.UNASKED, "harness", "who knows")
    vulnerable = Finding(Weight.VULNERABLE, "harness", "bad")
    assert exit_code([]) == 0
    assert exit_code([behind]) == 0
    assert exit_code([behind, unasked]) == 3
    assert exit_code([unasked, vulnerable, behind]) == 1


def test_a_registry_that_fails_takes_nothing_from_what_others_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: str) -> str:
        raise tools.ToolFailed("mvn ended with 1")

    monkeypatch.setattr(tools, "maven", fail)
    monkeypatch.setattr(tools, "module", lambda *_: '{"install": []}')
    found = registries.ask_all()
    assert [(each.weight, each.part) for each in found] == [(Weight.UNASKED, "java-service")]
