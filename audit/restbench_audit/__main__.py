"""`make audit`: write the SBOMs, ask who knows, print what they say, exit with what it means."""

from __future__ import annotations

import sys

from restbench_audit import advisories, parts, registries, sboms
from restbench_audit.findings import Finding, exit_code
from restbench_audit.tools import ToolFailed

MEANING = {
    0: "no known vulnerability, nothing taken back",
    1: "something is known to be bad: see VULNERABLE and YANKED",
    3: "advisories could not be asked for all of it: this is no clean audit; repeat it where "
    "the advisory databases can be reached",
}


def main() -> int:
    """The audit's exit code."""
    sboms.write_all()
    purls_of = {part: sboms.components(part) for part in parts.PARTS}
    for part, purls in purls_of.items():
        print(f"{len(purls):>4} components  {parts.sbom(part).relative_to(parts.ROOT)}")
    findings = [*advisories.ask_all(purls_of), *registries.ask_all()]
    return _told(findings)


def _told(findings: list[Finding]) -> int:
    for finding in findings:
        print(finding)
    code = exit_code(findings)
    print(f"audit: {MEANING[code]}")
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolFailed as failure:
        print(f"audit: {failure}", file=sys.stderr)
        sys.exit(3)
