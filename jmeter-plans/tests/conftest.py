"""The plan's tests run the real JMeter of target/apache-jmeter; `make setup` puts it there."""

import csv
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

PLANS = Path(__file__).resolve().parent.parent
EXAMPLE = PLANS / "example"
REQUEST_REST = (EXAMPLE / "body-rest.json").read_text(encoding="ascii")
ANSWER_REST = (EXAMPLE / "answer-rest.json").read_text(encoding="ascii")
ROWS = ANSWER_REST.removeprefix('"rows":').removesuffix("}")


@dataclass(frozen=True)
class JMeterRun:
    """One run of a plan: `jtl` is the file of its samples, `log` JMeter's log."""

    jtl: Path
    log: Path

    def samples(self) -> list[dict[str, str]]:
        """The rows of the JTL by column name; reading fails if a row is not whole."""
        with self.jtl.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, strict=True))
        return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


@dataclass(frozen=True)
class JMeter:
    """Starts runs in a folder of their own, with a copy of the example payload."""

    folder: Path

    def run(self, port: int, **properties: object) -> JMeterRun:
        """Runs closed-load.jmx against 127.0.0.1:`port`; `properties` are the plan's. The exit code
        must be 0."""
        values = {"payload": self.folder / "payload", "label": "a cell", "port": port} | properties
        jtl, log = self.folder / "samples.jtl", self.folder / "jmeter.log"
        command = [str(PLANS / "jmeter.sh"), "-n", "-t", str(PLANS / "closed-load.jmx")]
        command += ["-l", str(jtl), "-j", str(log)]
        command += [f"-J{name}={value}" for name, value in values.items()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return JMeterRun(jtl, log)


def jmeter_in(folder: Path) -> JMeter:
    shutil.copytree(EXAMPLE, folder / "payload")
    return JMeter(folder)


@pytest.fixture
def jmeter(tmp_path: Path) -> JMeter:
    return jmeter_in(tmp_path)
