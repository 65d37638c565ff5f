"""jmeter.sh says what is missing before it starts a JVM."""

import os
import shutil
import subprocess
from pathlib import Path

from conftest import PLANS


def launch(script: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    return subprocess.run(
        [str(script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_gui_without_a_display_is_one_clear_line() -> None:
    finished = launch(PLANS / "jmeter.sh", "-t", str(PLANS / "closed-load.jmx"))
    assert finished.returncode == 2
    assert "DISPLAY is not set" in finished.stderr
    assert finished.stderr.count("\n") == 1


def test_a_tree_without_jmeter_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    script = Path(shutil.copy(PLANS / "jmeter.sh", tmp_path))
    finished = launch(script, "-n", "-t", "closed-load.jmx")
    assert finished.returncode == 2
    assert finished.stderr.endswith("fetch it with: make setup\n")


def test_the_class_archive_of_the_setup_fits_this_jvm_and_holds_jmeters_classes(
    tmp_path: Path,
) -> None:
    finished = subprocess.run(
        [str(PLANS / "jmeter.sh"), "-n", "-v"],
        cwd=tmp_path,
        # -Xshare:on ends the JVM where the archive cannot be used.
        env=os.environ | {"JMETER_JVM_ARGS": "-Xshare:on -Xlog:class+load"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-2000:]
    loaded = [line for line in finished.stdout.splitlines() if "org.apache.jmeter." in line]
    assert any("org.apache.jmeter.JMeter source: shared objects file" in line for line in loaded)
