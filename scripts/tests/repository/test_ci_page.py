"""The workflow in docs/ci.md: GitHub's own schema takes it, and what it calls is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml
from typer.main import get_command

from restbench import ROOT, cli

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
(WORKFLOW,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def checked(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """By the schema of workflows that check-jsonschema brings with it; without network."""
    path = folder / "workflow.yml"
    path.write_text(text)
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    return subprocess.run(
        [*program, "vendor.github-workflows", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_workflow_has_the_form_of_githubs_workflows(tmp_path: Path) -> None:
    done = checked(WORKFLOW, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_key_that_is_none_is_found(tmp_path: Path) -> None:
    assert checked(WORKFLOW.replace("runs-on:", "run-on:"), tmp_path).returncode == 1


def test_the_workflow_calls_what_is_there_with_options_that_exist() -> None:
    steps = yaml.safe_load(WORKFLOW)["jobs"]["ab"]["steps"]
    (line,) = [each["run"] for each in steps if "restbench" in each.get("run", "")]
    program, command, *arguments = shlex.split(line)
    assert (program, command) == (".venv/bin/restbench", "ab")
    known = {
        option
        for each in get_command(cli.app).get_command(None, "ab").params  # type: ignore[attr-defined]
        for option in each.opts
    }
    assert {each for each in arguments if each.startswith("--")} <= known
    assert any(each.get("run") == "make setup" for each in steps)
    checkout = next(each for each in steps if each.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["fetch-depth"] == 0
