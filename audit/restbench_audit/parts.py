"""What restbench is made of, and where each part is locked."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: The locks of what serves, of what measures, and of what tests and audits both.
PYTHON_LOCKS = {
    "python-service": ROOT / "python-service" / "requirements.txt",
    "python-frameworks": ROOT / "python-service" / "requirements-frameworks.txt",
    "harness": ROOT / "scripts" / "requirements.txt",
    "development": ROOT / "scripts" / "requirements-dev.txt",
    "audit": ROOT / "audit" / "requirements.txt",
}
JAVA_POM = ROOT / "java-service" / "pom.xml"
LOAD_GENERATOR = ROOT / "jmeter-plans" / "target" / "apache-jmeter"
#: The folder of what the report's page carries, with its version and hash in a README.
PAGE = ROOT / "scripts" / "restbench" / "show" / "templates" / "vendor"
OUTPUT = ROOT / "audit" / "target"
PARTS = ("java-service", *PYTHON_LOCKS, "load-generator", "page")


def sbom(part: str) -> Path:
    """Where the CycloneDX document of a part is written."""
    return OUTPUT / f"{part}.cdx.json"
