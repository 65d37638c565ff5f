"""`make audit`: an SBOM (CycloneDX 1.6) of each part of restbench, and known problems of its
components.

cyclonedx-py and the CycloneDX plugin for Maven write the SBOMs. The OSV database lists
vulnerabilities, pip reports yanked versions, Maven's versions plugin reports outdated ones. A
source that does not answer is a finding: a part that was not checked is not clean.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
PYTHON_LOCKS = {
    "python-service": ROOT / "python-service" / "requirements.txt",
    "python-frameworks": ROOT / "python-service" / "requirements-frameworks.txt",
    "harness": ROOT / "scripts" / "requirements.txt",
    "development": ROOT / "scripts" / "requirements-dev.txt",
    "audit": ROOT / "audit" / "requirements.txt",
}
JAVA_POMS = {
    "java-service": ROOT / "java-service" / "pom.xml",
    "java-client": ROOT / "java-service" / "client" / "pom.xml",
}
JMETER = ROOT / "jmeter-plans" / "target" / "apache-jmeter"
#: The JavaScript libraries that are embedded in a page with charts, with their versions.
PAGE = ROOT / "scripts" / "restbench" / "show" / "charts" / "theme.json"
OUTPUT = ROOT / "audit" / "target"
PARTS = (*JAVA_POMS, *PYTHON_LOCKS, "load-generator", "page")
#: https://google.github.io/osv.dev/post-v1-querybatch/: at most 1000 queries in a request.
OSV = "https://api.osv.dev/v1/querybatch"
MOST_QUERIES = 1000
TIMEOUT_S = 30.0
VERSIONS_PLUGIN = "org.codehaus.mojo:versions-maven-plugin:2.21.0"
#: Prefix of the package URL of a file whose Maven coordinates are unknown.
NAMELESS = "pkg:generic/"
MEANING = {
    0: "no known vulnerability, nothing taken back",
    1: "something is known to be bad: see VULNERABLE and YANKED",
    3: "advisories could not be asked for all of it: this is no clean audit; repeat it where "
    "the advisory databases can be reached",
}


class ToolFailed(Exception):
    """A tool that the audit runs has failed. The message has its last line of output."""


class Weight(Enum):
    """Severity of a finding: the word at the start of its line, and the exit code."""

    VULNERABLE = ("VULNERABLE", 1)
    YANKED = ("YANKED", 1)
    UNASKED = ("NOT ASKED", 3)
    BEHIND = ("behind", 0)


class Finding(NamedTuple):
    """One line of the audit."""

    weight: Weight
    part: str
    text: str


def exit_code(findings: Iterable[Finding]) -> int:
    """1 for a known problem, else 3 where an advisory source did not answer, else 0."""
    return min((code for each in findings if (code := each.weight.value[1])), default=0)


def run(*command: str) -> str:
    """The command's standard output. Raises ToolFailed where the command fails, with the first line
    that contains ERROR, else the last line."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolFailed(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines()]
        errors = [line for line in lines if "ERROR" in line]
        words = next(filter(None, [*errors, *reversed(lines)]), "it said nothing")
        raise ToolFailed(f"{command[0]} ended with {done.returncode}: {words}")
    return done.stdout


def maven(part: str, *arguments: str) -> str:
    """Standard output of Maven, without escape sequences: the launcher prints them even where
    colours are off. Raises ToolFailed."""
    told = run("mvn", "-q", "-B", "-Dstyle.color=never", "-f", str(JAVA_POMS[part]), *arguments)
    return re.sub(r"\x1b\[[0-9;]*m", "", told)


def module(name: str, *arguments: str) -> str:
    """Standard output of a module of this virtual environment. Raises ToolFailed."""
    return run(sys.executable, "-m", name, *arguments)


def sbom(part: str) -> Path:
    """Path of the CycloneDX document of a part."""
    return OUTPUT / f"{part}.cdx.json"


def write_sboms() -> None:
    """Write the CycloneDX documents of all parts. Raises ToolFailed."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for part in JAVA_POMS:
        told = maven(  # Spring Boot's parent POM pins the version of the plugin
            part,
            "org.cyclonedx:cyclonedx-maven-plugin:makeBom",
            *("help:evaluate", "-Dexpression=settings.localRepository", "-DforceStdout"),
            *("-DprojectType=application", "-DoutputFormat=json", "-DincludeTestScope=false"),
            *(f"-DoutputDirectory={OUTPUT}", f"-DoutputName={part}.cdx"),
            "-Dcyclonedx.skipAttach=true",
        )
    for part, lock in PYTHON_LOCKS.items():
        module("cyclonedx_py", "requirements", str(lock), "-o", str(sbom(part)))
    _write("load-generator", _jars(Path(told.splitlines()[-1])))
    carried = json.loads(PAGE.read_text(encoding="utf-8"))["library"]
    _write("page", [_library(PackageURL("npm", None, *each)) for each in carried.items()])


def _jars(local: Path) -> list[Component]:
    """Every jar of JMeter's folder, with the coordinates under which it is in Maven's `local`
    repository."""
    jars = sorted(JMETER.rglob("*.jar"))
    if not jars:
        raise ToolFailed(f"{JMETER} is empty: run 'make setup'")
    names = {jar.name for jar in jars}
    found = (path for path in local.rglob("*.jar") if path.name in names)
    kept = {_sha256(path): path.relative_to(local) for path in found}
    return [jar_component(jar, kept) for jar in jars]


def jar_component(jar: Path, kept: Mapping[str, Path]) -> Component:
    """A jar with its Maven coordinates; `kept` maps the sha256 of a jar, hexadecimal, to
    `group…/artifact/version/file`.

    A jar that is not in `kept` was built here: its component has only a name and a hash.
    """
    place = kept.get(_sha256(jar))
    if place is None:
        return _library(PackageURL("generic", name=jar.stem), jar)
    *group, artifact, version, _ = place.parts
    return _library(PackageURL("maven", ".".join(group), artifact, version), jar)


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _library(purl: PackageURL, file: Path | None = None) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        group=purl.namespace,
        name=purl.name,
        version=purl.version,
        purl=purl,
        bom_ref=f"{purl}#{file.name}" if file else str(purl),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_sha256(file))] if file else None,
    )


def _write(part: str, components: Iterable[Component]) -> None:
    bom = Bom(components=components)
    bom.metadata.component = Component(type=ComponentType.APPLICATION, name=f"restbench-{part}")
    bom.register_dependency(bom.metadata.component, bom.components)
    writer = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    writer.output_to_file(str(sbom(part)), allow_overwrite=True, indent=1)


def components(part: str) -> list[str]:
    """The distinct package URLs in the written document of a part, sorted, without qualifiers.
    Raises ToolFailed where it has none."""
    try:
        held = json.loads(sbom(part).read_text(encoding="utf-8"))["components"]
        return sorted({it["purl"].partition("?")[0] for it in held if "purl" in it})
    except (KeyError, ValueError) as error:
        raise ToolFailed(f"{sbom(part)} has no components: {error!r}") from error


def asked(whom: str, ask: Callable[..., list[Finding]], part: str, *what: object) -> list[Finding]:
    """The findings of one source, named `whom`. A source that fails is a finding itself, and the
    findings of the other sources are kept."""
    try:
        return ask(part, *what)
    except (ToolFailed, httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        return [Finding(Weight.UNASKED, part, f"{whom}: {type(error).__name__}: {error}")]


def ask_all(purls_of: Mapping[str, Sequence[str]]) -> list[Finding]:
    """The findings of all sources on all parts; `purls_of` has the package URLs of each part."""
    found: list[Finding] = []
    for part, lock in PYTHON_LOCKS.items():
        found += asked("the package index", _pip, part, lock)
    for part, purls in purls_of.items():
        found += asked("the OSV database", of_purls, part, purls)
    for part in JAVA_POMS:
        found += asked("Maven's repository", _of_pom, part)
    return found


def _pip(part: str, lock: Path) -> list[Finding]:
    report = module(
        "pip",
        *("install", "--dry-run", "--no-deps", "--ignore-installed", "--require-hashes", "--quiet"),
        *("--disable-pip-version-check", "--report", "-", "-r", str(lock)),
    )
    return yanked_findings(part, json.loads(report)["install"])


def yanked_findings(part: str, packages: Iterable[dict[str, Any]]) -> list[Finding]:
    """Versions that their author has yanked (PEP 592), from pip's installation report."""
    metadata = (each["metadata"] for each in packages if each["is_yanked"])
    texts = (f"{each['name']} {each['version']} was taken back by its author" for each in metadata)
    return [Finding(Weight.YANKED, part, text) for text in texts]


def of_purls(part: str, purls: Sequence[str]) -> list[Finding]:
    """Advisories of the OSV database, one finding per vulnerable package.

    The database cannot look up files of unknown origin: each is a finding (NOT ASKED), except the
    jars of restbench itself. Raises httpx.HTTPError where the database does not answer.
    """
    known = [purl for purl in purls if not purl.startswith(NAMELESS)]
    strange = [it.removeprefix(NAMELESS) for it in purls if it.startswith(NAMELESS)]
    found = [
        Finding(Weight.UNASKED, part, f"{name}: of unknown origin")
        for name in strange
        if not name.startswith("restbench-")
    ]
    for first in range(0, len(known), MOST_QUERIES):
        some = known[first : first + MOST_QUERIES]
        queries = [{"package": {"purl": purl}} for purl in some]
        answer = httpx.post(OSV, json={"queries": queries}, timeout=TIMEOUT_S).raise_for_status()
        for purl, result in zip(some, answer.json()["results"], strict=True):
            if names := ", ".join(it["id"] for it in result.get("vulns", ())):
                found.append(Finding(Weight.VULNERABLE, part, f"{purl}: {names}"))
    return found


def _of_pom(part: str) -> list[Finding]:
    output = OUTPUT / "versions.txt"
    output.unlink(missing_ok=True)
    maven(
        part,
        f"{VERSIONS_PLUGIN}:display-dependency-updates",
        f"{VERSIONS_PLUGIN}:display-parent-updates",
        *("-DprocessDependencyManagement=false", "-DallowMinorUpdates=false"),
        f"-Dversions.outputFile={output}",
    )
    return behind_findings(part, output.read_text(encoding="utf-8"))


def behind_findings(part: str, told: str) -> list[Finding]:
    """Outdated dependencies, from the output of the versions plugin. An entry is
    `group:artifact ... old -> new`, on one line or two."""
    behind = re.findall(r"(\S+:\S+)[ .]*\s+(\S+) -> (\S+)", told)
    texts = dict.fromkeys(f"{name} {old}, there is {new}" for name, old, new in behind)
    return [Finding(Weight.BEHIND, part, text) for text in texts]


def main() -> int:
    """Write the SBOMs, query all sources and print the findings; return the exit code."""
    try:
        write_sboms()
        purls_of = {part: components(part) for part in PARTS}
        for part, purls in purls_of.items():
            print(f"{len(purls):>4} components  {sbom(part).relative_to(ROOT)}")
        findings = ask_all(purls_of)
    except ToolFailed as failure:
        print(f"audit: {failure}", file=sys.stderr)
        return 3
    for weight, part, text in findings:
        print(f"{weight.value[0]:<10}  {part}: {text}")
    code = exit_code(findings)
    print(f"audit: {MEANING[code]}")
    return code


if __name__ == "__main__":
    sys.exit(main())
