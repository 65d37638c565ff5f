"""SBOMs of parts that come as files: JMeter's jars, and the library in the report's page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from restbench_audit import parts, tools


def write_load_generator() -> None:
    """Every jar of JMeter's folder, named after where Maven keeps it."""
    local = Path(
        tools.maven(
            str(parts.JAVA_POM),
            "help:evaluate",
            "-Dexpression=settings.localRepository",
            "-DforceStdout",
        ).splitlines()[-1]
    )
    kept = {path.name: path.relative_to(local) for path in local.rglob("*.jar")}
    jars = sorted(parts.LOAD_GENERATOR.rglob("*.jar"))
    if not jars:
        raise tools.ToolFailed(f"{parts.LOAD_GENERATOR} is empty: run 'make setup'")
    _write("load-generator", (jar_component(jar, kept) for jar in jars))


def jar_component(jar: Path, kept: Mapping[str, Path]) -> Component:
    """A jar by its coordinates: `kept` tells `group…/artifact/version/file` of each file name.

    One that Maven does not keep was made here, and has a name and a hash only.
    """
    place = kept.get(jar.name)
    if place is None:
        return _component(jar, PackageURL("generic", name=jar.stem))
    *group, artifact, version, _ = place.parts
    return _component(jar, PackageURL("maven", ".".join(group), artifact, version))


def write_page() -> None:
    """The chart library that every report carries."""
    version = page_version((parts.PAGE / "README.md").read_text(encoding="utf-8"))
    library = _component(parts.PAGE / "echarts.min.js", PackageURL("npm", None, "echarts", version))
    _write("page", [library])


def page_version(readme: str) -> str:
    """The version that the README beside the library names."""
    found = re.search(r"^\| Version \| (\S+) \|$", readme, re.MULTILINE)
    if found is None:
        raise tools.ToolFailed(f"{parts.PAGE / 'README.md'} names no version")
    return found[1]


def _component(file: Path, purl: PackageURL) -> Component:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Component(
        type=ComponentType.LIBRARY,
        group=purl.namespace,
        name=purl.name,
        version=purl.version,
        purl=purl,
        bom_ref=f"{purl}#{file.name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )


def _write(part: str, components: Iterable[Component]) -> None:
    whole = Component(type=ComponentType.APPLICATION, name=f"restbench-{part}")
    bom = Bom(components=components)
    bom.metadata.component = whole
    bom.register_dependency(whole, bom.components)
    writer = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    writer.output_to_file(str(parts.sbom(part)), allow_overwrite=True, indent=1)
