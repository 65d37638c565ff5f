"""What the registries themselves say: versions taken back, and newer ones of the same line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from restbench_audit import parts, tools
from restbench_audit.findings import Finding, Weight
from restbench_audit.tools import ToolFailed

VERSIONS_PLUGIN = "org.codehaus.mojo:versions-maven-plugin:2.21.0"


def ask_all() -> list[Finding]:
    """Yanked Python packages, and Maven dependencies that are behind."""
    found = []
    for part, lock in parts.PYTHON_LOCKS.items():
        found += _asked(part, partial(_of_lock, part, lock))
    return found + _asked("java-service", _of_pom)


def _asked(part: str, ask: Callable[[], list[Finding]]) -> list[Finding]:
    """What a registry says; one that cannot be asked takes nothing from what others said."""
    try:
        return ask()
    except (ToolFailed, ValueError, LookupError) as error:
        return [Finding(Weight.UNASKED, part, f"its registry: {error}")]


def _of_lock(part: str, lock: Path) -> list[Finding]:
    report = tools.module(
        "pip",
        *("install", "--dry-run", "--no-deps", "--ignore-installed", "--require-hashes", "--quiet"),
        *("--disable-pip-version-check", "--report", "-", "-r", str(lock)),
    )
    return yanked_findings(part, json.loads(report)["install"])


def yanked_findings(part: str, packages: Iterable[dict[str, Any]]) -> list[Finding]:
    """Versions whose author has taken them back (PEP 592), from pip's installation report."""
    metadata = (each["metadata"] for each in packages if each["is_yanked"])
    texts = (f"{each['name']} {each['version']} was taken back by its author" for each in metadata)
    return [Finding(Weight.YANKED, part, text) for text in texts]


def _of_pom() -> list[Finding]:
    output = parts.OUTPUT / "versions.txt"
    output.unlink(missing_ok=True)
    tools.maven(
        str(parts.JAVA_POM),
        f"{VERSIONS_PLUGIN}:display-dependency-updates",
        f"{VERSIONS_PLUGIN}:display-parent-updates",
        "-DprocessDependencyManagement=false",
        "-DallowMinorUpdates=false",
        f"-Dversions.outputFile={output}",
    )
    return behind_findings(output.read_text(encoding="utf-8"))


def behind_findings(told: str) -> list[Finding]:
    """`group:artifact ... old -> new`, perhaps over two lines, as the versions plugin writes it."""
    behind = re.findall(r"(\S+:\S+)[ .]*\s+(\S+) -> (\S+)", told)
    texts = dict.fromkeys(f"{name} {old}, there is {new}" for name, old, new in behind)
    return [Finding(Weight.BEHIND, "java-service", text) for text in texts]
