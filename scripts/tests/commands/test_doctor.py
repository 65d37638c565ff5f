"""What the doctor says of machines that are made of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from restbench.machine.doctor import WATCH_S, Finding, Machine, examine

CPU = "sys/devices/system/cpu"
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
GOOD = {
    "proc/stat": "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 1 2 3",
    "proc/meminfo": "MemTotal: 100 kB\nSwapTotal: 2048 kB\nSwapFree: 2048 kB",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPU}/intel_pstate/no_turbo": "1",
    HUGE_PAGES: "always [madvise] never",
    CLOCK: "tsc",
}
QUIET_LATER = "cpu  1 0 1 198 0 0 0 0 0 0"


def machine(
    root: Path,
    files: dict[str, str],
    later: str,
    cores: int = 8,
    *,
    has_netem: bool | None = True,
) -> Machine:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def pause(seconds: float) -> None:
        assert seconds == WATCH_S
        (root / "proc/stat").write_text(later)

    return Machine(root, tuple(range(cores)), pause, lambda: has_netem)


def findings(made: Machine) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(made)}


def test_a_good_machine_has_nothing_to_mend(tmp_path: Path) -> None:
    found = findings(machine(tmp_path, GOOD, QUIET_LATER))
    assert {finding.state for finding in found.values()} == {"good"}
    assert found["other load"].value == "1.0%"


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("frequency governor", f"{CPU}/cpu0/cpufreq/scaling_governor", "powersave"),
        ("turbo", f"{CPU}/intel_pstate/no_turbo", "0"),
        ("transparent huge pages", HUGE_PAGES, "[always] madvise never"),
        ("clock source", CLOCK, "hpet"),
        ("swap in use", "proc/meminfo", "SwapTotal: 4096 kB\nSwapFree: 2048 kB"),
    ],
)
def test_what_is_worse_says_its_effect_and_its_mend(
    tmp_path: Path, name: str, file: str, text: str
) -> None:
    found = findings(machine(tmp_path, GOOD | {file: text}, QUIET_LATER))
    worse = [finding for finding in found.values() if finding.state == "worse"]
    assert [finding.name for finding in worse] == [name]
    assert worse[0].effect
    assert worse[0].mend


def test_steal_and_other_load_are_told_apart(tmp_path: Path) -> None:
    found = findings(machine(tmp_path, GOOD, "cpu  30 0 10 150 0 0 0 10 0 0"))
    assert (found["CPU steal"].value, found["CPU steal"].state) == ("5.0%", "worse")
    assert (found["other load"].value, found["other load"].state) == ("20.0%", "worse")


def test_too_few_cores_are_worse(tmp_path: Path) -> None:
    found = findings(machine(tmp_path, GOOD, QUIET_LATER, cores=2))
    assert found["usable cores"].state == "worse"


@pytest.mark.parametrize(("has_netem", "state"), [(False, "worse"), (None, "unknown")])
def test_a_kernel_that_cannot_delay_packets_is_told_apart_from_one_that_cannot_be_asked(
    tmp_path: Path, has_netem: bool | None, state: str
) -> None:
    found = findings(machine(tmp_path, GOOD, QUIET_LATER, has_netem=has_netem))
    assert found["packet delay (netem)"].state == state


def test_what_a_virtual_machine_does_not_show_is_unknown_and_not_good(tmp_path: Path) -> None:
    few = {name: GOOD[name] for name in ("proc/stat", "proc/meminfo")}
    found = findings(machine(tmp_path, few, QUIET_LATER))
    unknown = {name for name, finding in found.items() if finding.state == "unknown"}
    assert unknown == {"frequency governor", "turbo", "transparent huge pages", "clock source"}


def test_the_doctor_loads_nothing_that_analyses_or_draws() -> None:
    """Under 5 s on a machine that is busy: what takes CPU time is what is imported."""
    code = (
        "import sys; from typer.testing import CliRunner; from restbench.machine import doctor; "
        "from restbench.cli import app; doctor.WATCH_S = 0; "
        "done = CliRunner().invoke(app, ['doctor']); assert done.exit_code == 0, done.output; "
        "print(*{'scipy', 'altair', 'vl_convert', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
