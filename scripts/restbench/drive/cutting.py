"""A load under way: it is waited for until it is warm, and its window is cut."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from restbench.deploy.service import Service
from restbench.drive import load, monitor
from restbench.drive.load_profile import Profile
from restbench.drive.window import Ended, window_over
from restbench.experiment.records import Window
from restbench.failures import EnvironmentProblem
from restbench.machine import compilers, process
from restbench.machine.conditions import Conditions
from restbench.machine.live import Gauge, Live, Phase
from restbench.machine.phases import spent_on

POLL_S = 0.1
SAMPLE_POLL_S = 0.05
#: sar's next sample is this far away at most, if it comes at all.
SAMPLE_TIMEOUT_S = 2.0 * monitor.INTERVAL_S


@dataclass(frozen=True)
class Snapshot:
    """CPU time of both sides at one moment."""

    at_ms: int
    service_pids: tuple[int, ...]
    service_cpu_ms: float
    compilers_cpu_ms: float
    load_cpu_ms: float


@dataclass(frozen=True)
class Cut:
    """The window with what was seen at its two ends."""

    window: Window
    opened: Snapshot
    closed: Snapshot


@dataclass(frozen=True)
class Course:
    """A load against a service, what looks on, and who is told how it goes."""

    service: Service
    jmeter: load.LoadRun
    monitors: monitor.Monitors
    conditions: Conditions
    gauge: Gauge
    watch: Callable[[Live], None] | None

    def wait(self, seconds: float, phase: Phase, elapsed_s: float) -> None:
        """Let it go on; EnvironmentProblem when one of them has ended, or what it is measured
        by does not hold any more."""
        time.sleep(seconds)
        self.conditions.check()
        if not self.jmeter.running():
            why = self.jmeter.why_ended()
            raise EnvironmentProblem(f"JMeter ended too early; its log ends:\n{why}")
        if not self.service.alive():
            raise EnvironmentProblem(f"the service died under load{end_of_log(self.service)}")
        if ended := self.monitors.ended():
            raise EnvironmentProblem(f"{', '.join(ended)} ended too early: no record of its window")
        if self.watch and (now := self.gauge.look(phase, elapsed_s)):
            self.watch(now)


def cut_window(course: Course, profile: Profile, users: int) -> Cut:
    """Let the load begin, warm up, and go on until its window is over (`window`)."""
    with spent_on("load start"):
        course.jmeter.let_go()
        course.jmeter.await_started()
    warm_up(course, profile, users)
    with spent_on("window"):
        return _window(course, profile)


@spent_on("warm-up")
def warm_up(course: Course, profile: Profile, users: int) -> None:
    """As long as the profile says, and on until every user has had an answer: users begin all at
    once, and a window of their first requests would hold none of those that take longest; and until
    a JVM's compilers have little to do."""
    begun = time.monotonic()
    elapsed_s = 0.0
    jvm = compilers.Compilers(course.service.pids())
    while not _is_warm(course, profile, users, elapsed_s, compiled=jvm.quiet()):
        left_s = profile.warmup_s - elapsed_s
        course.wait(min(left_s, POLL_S) if left_s > 0 else POLL_S, "warm-up", elapsed_s)
        elapsed_s = time.monotonic() - begun


def _is_warm(
    course: Course, profile: Profile, users: int, elapsed_s: float, *, compiled: bool
) -> bool:
    if elapsed_s < profile.warmup_s:
        return False
    if elapsed_s >= profile.longest_warmup_s:
        return True
    return compiled and course.jmeter.follower.users_answered() >= users


def _window(course: Course, profile: Profile) -> Cut:
    opened = _snapshot(course.service, course.jmeter)
    ended: Ended | None = None
    elapsed_s = 0.0
    while ended is None:
        course.wait(POLL_S, "window", elapsed_s)
        elapsed_s = time.time() - opened.at_ms / 1000
        completions = course.jmeter.follower.correct_since(opened.at_ms)
        ended = window_over(elapsed_s, completions, profile)
    _await_sample(course, elapsed_s)
    closed = _snapshot(course.service, course.jmeter)
    return Cut(Window(start_ms=opened.at_ms, end_ms=closed.at_ms, ended=ended), opened, closed)


def _await_sample(course: Course, elapsed_s: float) -> None:
    """The window goes on to sar's next sample, which would be waited for all the same: what sar
    tells covers its end then, and that second is measured in."""
    before = course.monitors.sampled_bytes()
    if before is None:
        return
    begun_s, waited_s = time.monotonic(), 0.0
    while course.monitors.sampled_bytes() == before and waited_s < SAMPLE_TIMEOUT_S:
        course.wait(SAMPLE_POLL_S, "window", elapsed_s + waited_s)
        waited_s = time.monotonic() - begun_s


def _snapshot(service: Service, jmeter: load.LoadRun) -> Snapshot:
    pids = service.pids()
    return Snapshot(
        at_ms=round(time.time() * 1000),
        service_pids=pids,
        service_cpu_ms=process.cpu_ms(pids),
        compilers_cpu_ms=compilers.cpu_ms(pids),
        load_cpu_ms=process.cpu_ms((jmeter.pid,)),
    )


def end_of_log(service: Service) -> str:
    """What a service of ours said last, to be put behind a reason."""
    return f"; its log ends:\n{process.tail(service.log)}" if service.log else ""
