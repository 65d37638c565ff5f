"""Probes, looks and promises: what a scenario concludes from what it saw."""

from __future__ import annotations

import subprocess
import sys

from restbench import process
from restbench_robustness.overload import tree
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.probes import Probe, Probes
from restbench_robustness.overload.promises import Findings, broken
from restbench_robustness.overload.waiting import seconds_until

RIGHT, REFUSED = Verdict.RIGHT, Verdict.REFUSED


def seen(*probes: tuple[float, float, Verdict]) -> Probes:
    asked = Probes(lambda _: RIGHT)
    asked.seen = [Probe(*probe) for probe in probes]
    return asked


def test_service_is_back_with_the_first_answer_after_which_all_are_right() -> None:
    probes = seen((0, 1, RIGHT), (2, 3, REFUSED), (4, 5, RIGHT), (6, 7, REFUSED), (8, 9, RIGHT))
    assert probes.back_after(1.5) == 7.5


def test_service_is_not_back_while_the_last_answer_was_a_refusal() -> None:
    assert seen((0, 1, RIGHT), (2, 3, REFUSED)).back_after(0) is None
    assert seen().back_after(0) is None


def test_probes_ask_at_once_and_until_the_block_ends() -> None:
    with Probes(lambda number: RIGHT if number == 1 else REFUSED) as probes:
        assert seconds_until(lambda: len(probes.seen) >= 2, 60) is not None
    assert probes.counts()[RIGHT] == 1
    assert probes.counts()[REFUSED] >= 1


def test_a_promise_about_time_is_broken_when_it_took_longer_or_never_came() -> None:
    findings = Findings("it")
    findings.within("quick", 1.0, 2.0)
    findings.within("slow", 3.0, 2.0)
    findings.within("never", None, 2.0)
    assert [promise.what for promise in broken(findings.promises)] == ["slow", "never"]


def test_a_promise_about_a_peak_is_broken_above_its_bound() -> None:
    findings = Findings("it")
    findings.at_most("below", 5, 5)
    findings.at_most("above", 6, 5)
    assert [promise.what for promise in broken(findings.promises)] == ["above"]


def test_waiting_in_vain_says_so() -> None:
    assert seconds_until(lambda: False, 0.1) is None
    assert seconds_until(lambda: True, 0.1) is not None


GROWS = """
import threading, time
kept = bytearray(100 << 20)
files = [open("/dev/null") for _ in range(50)]
for _ in range(20):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
time.sleep(600)
"""


def test_a_look_sees_memory_threads_files_and_processes_that_came() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as small:
        small_tree = tree.look((small.pid,))
        small.kill()
    with subprocess.Popen([sys.executable, "-c", GROWS]) as large:
        assert seconds_until(lambda: tree.look((large.pid,)).threads >= 21, 120) is not None
        now = tree.look(process.tree(large.pid))
        large.kill()
    assert now.memory_bytes >= small_tree.memory_bytes + (90 << 20)
    assert now.files >= small_tree.files + 45  # a program that is starting has some open as well
    assert now.processes == 1


def test_a_zombie_is_counted_and_does_not_live() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as child:
        assert seconds_until(lambda: tree.look((child.pid,)).zombies == 1, 120) is not None
        assert tree.look((child.pid,)).names == {}
