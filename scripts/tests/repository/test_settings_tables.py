"""The ranges of the services' settings: one for both, and as the code has them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from restbench import ROOT

JAVA, PYTHON = ROOT / "java-service", ROOT / "python-service"
ROW = re.compile(r"^\| `(RESTBENCH_\w+)` \| [^|]* \| (\d+)(?: to |\u2013)(\d+)[ ,]", re.MULTILINE)
#: A bad value, and what is allowed, as the service says it.
REFUSED = re.compile(r'"(RESTBENCH_\w+),[^,"]*,(\d+) to (\d+)"')
ALLOWED = "import json; from restbench_service.settings import ALLOWED; print(json.dumps(ALLOWED))"

Ranges = dict[str, tuple[int, int]]


def ranges(pattern: re.Pattern[str], text: str) -> Ranges:
    return {name: (int(low), int(high)) for name, low, high in pattern.findall(text)}


def in_table_of(service: str) -> Ranges:
    return ranges(ROW, (ROOT / f"{service}-service" / "README.md").read_text())


def test_a_setting_of_both_services_has_one_range() -> None:
    java, python = in_table_of("java"), in_table_of("python")
    both = java.keys() & python.keys()
    assert len(both) >= 14
    # In Java 0 is any free port.
    assert {name for name in both if java[name] != python[name]} == {"RESTBENCH_PORT"}


def test_the_table_of_the_python_service_has_the_ranges_of_its_code() -> None:
    command = [sys.executable, "-c", ALLOWED]
    done = subprocess.run(command, cwd=PYTHON, capture_output=True, text=True, check=True)
    allowed = {f"RESTBENCH_{name.upper()}": it for name, it in json.loads(done.stdout).items()}
    table = in_table_of("python")
    assert table == {name: tuple(allowed[name]) for name in table}


def test_the_table_of_the_java_service_has_the_ranges_of_its_code() -> None:
    (test,) = JAVA.glob("src/test/**/SettingsTest.java")
    told = ranges(REFUSED, test.read_text())
    table = in_table_of("java")
    assert table == {name: told[name] for name in table}
