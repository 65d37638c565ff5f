"""A CycloneDX document (JSON, 1.6) of each part of restbench."""

from __future__ import annotations

import json

from restbench_audit import files, parts, tools


def write_all() -> None:
    """Write the documents of every part. Raises ToolFailed."""
    parts.OUTPUT.mkdir(parents=True, exist_ok=True)
    _write_java()
    for part, lock in parts.PYTHON_LOCKS.items():
        tools.module("cyclonedx_py", "requirements", str(lock), "-o", str(parts.sbom(part)))
    files.write_load_generator()
    files.write_page()


def _write_java() -> None:
    """The plugin's version is the one that Spring Boot's parent pins."""
    tools.maven(
        str(parts.JAVA_POM),
        "org.cyclonedx:cyclonedx-maven-plugin:makeBom",
        "-DprojectType=application",
        "-DoutputFormat=json",
        f"-DoutputDirectory={parts.OUTPUT}",
        f"-DoutputName={parts.sbom('java-service').name.removesuffix('.json')}",
        "-DincludeTestScope=false",
        "-Dcyclonedx.skipAttach=true",
    )


def components(part: str) -> list[str]:
    """The package URLs of a written document, without qualifiers; sorted, each once."""
    document = json.loads(parts.sbom(part).read_text(encoding="utf-8"))
    purls = {entry["purl"].partition("?")[0] for entry in document["components"] if "purl" in entry}
    return sorted(purls)
