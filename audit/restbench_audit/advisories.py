"""Known vulnerabilities: pip-audit for the Python locks, OSV for everything with a package URL.

Never silent: a source that does not answer is a finding, for nobody knows then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import httpx

from restbench_audit import parts, tools
from restbench_audit.findings import Finding, Weight

#: https://google.github.io/osv.dev/post-v1-querybatch/: at most 1000 queries in a request.
OSV = "https://api.osv.dev/v1/querybatch"
MOST_QUERIES = 1000
TIMEOUT_S = 30.0
#: The package URL of a file whose coordinates nobody knows.
NAMELESS = "pkg:generic/"


def of_lock(part: str, lock: Path) -> list[Finding]:
    """Advisories on the packages of a lock file, from the package index's own."""
    try:
        told = tools.module(
            "pip_audit",
            *("-r", str(lock), "--require-hashes", "--disable-pip"),
            *("-f", "json", "--progress-spinner", "off"),
            allowed=(0, 1),
        )
        return pip_findings(part, json.loads(told)["dependencies"])
    except (tools.ToolFailed, ValueError) as error:
        return [Finding(Weight.UNASKED, part, f"pip-audit: {error}")]


def pip_findings(part: str, packages: Iterable[dict[str, Any]]) -> list[Finding]:
    """pip-audit calls a package clean that the index knew nothing of: here that is not asked."""
    found = []
    unasked = []
    for package in packages:
        if "skip_reason" in package:
            unasked.append(package["name"])
        for known in package.get("vulns", ()):
            fixed = ", ".join(known["fix_versions"]) or "no version yet"
            text = f"{package['name']} {package['version']}: {known['id']}, mended in {fixed}"
            found.append(Finding(Weight.VULNERABLE, part, text))
    if unasked:
        text = f"the package index has no advisories on {len(unasked)} packages"
        found.append(Finding(Weight.UNASKED, part, text))
    return found


def of_purls(part: str, purls: Sequence[str]) -> list[Finding]:
    """Advisories on packages from the OSV database."""
    found = []
    try:
        for first in range(0, len(purls), MOST_QUERIES):
            some = purls[first : first + MOST_QUERIES]
            found += osv_findings(part, some, _osv(some))
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        text = f"{len(purls)} packages: {type(error).__name__} from the OSV database"
        found.append(Finding(Weight.UNASKED, part, text))
    return found


def _osv(purls: Sequence[str]) -> Any:
    queries = [{"package": {"purl": purl}} for purl in purls]
    answer = httpx.post(OSV, json={"queries": queries}, timeout=TIMEOUT_S)
    return answer.raise_for_status().json()["results"]


def osv_findings(part: str, purls: Sequence[str], results: Sequence[Any]) -> list[Finding]:
    """One finding a vulnerable package; `results` are OSV's, in the order of `purls`."""
    found = []
    for purl, result in zip(purls, results, strict=True):
        names = ", ".join(known["id"] for known in result.get("vulns", ()))
        if names:
            found.append(Finding(Weight.VULNERABLE, part, f"{purl}: {names}"))
    return found


def ask_all(purls_of: dict[str, list[str]]) -> list[Finding]:
    """Every source on every part; `purls_of` has the package URLs of each part."""
    found = []
    for part, lock in parts.PYTHON_LOCKS.items():
        found += of_lock(part, lock)
    for part in parts.PARTS:
        known = [purl for purl in purls_of[part] if not purl.startswith(NAMELESS)]
        found += of_purls(part, known)
        found += nameless_findings(part, purls_of[part])
    return found


def nameless_findings(part: str, purls: Sequence[str]) -> list[Finding]:
    """Files of unknown origin, which no advisory can be found for; ours are known."""
    names = [purl.removeprefix(NAMELESS) for purl in purls if purl.startswith(NAMELESS)]
    strange = [name for name in names if not name.startswith("restbench-")]
    return [Finding(Weight.UNASKED, part, f"{name}: of unknown origin") for name in strange]
