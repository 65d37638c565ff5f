"""A whole trace against a stub, which is stopped for some seconds in the middle of it."""

from __future__ import annotations

import re
import time
from itertools import groupby
from pathlib import Path

import pytest
from command_line import Done
from stub_bench import Bench, Ran
from waiting import await_true

from restbench.analyse import measures
from restbench.store import exported
from restbench.store.traces import TraceEntry

pytestmark = pytest.mark.live

SECONDS, RATE_PER_S, STOPPED_S = 30, 50, 4.0
EXPERIMENT = f"""
driver = "trace"
views = ["trace"]
name = "stubbed"
title = "A trace of a stub"
seed = 3

[complexities]
tiny = {{ rows = 2, inner = 2, columns = 2 }}

[[trace.runs]]
duration_s = {{ p = {SECONDS} }}
warm_s = 1
rate_per_s = {RATE_PER_S}
arrivals = "constant"

[profiles.p]
minutes = 0.5
blocks = 1
warm_max_s = {{ java = 0.0, python = 0.0 }}

[[cells]]
name = "Java"
service = "java"
strategy = "serial"
complexity = "tiny"
users = 16
"""


class Traced(Ran):
    """A bench after a run that has one trace."""

    @property
    def trace(self) -> TraceEntry:
        (found,) = exported.read(self.bench.latest.exported_file).traces
        return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    bench = Bench(tmp_path_factory.mktemp("trace"))
    file = bench.folder / "trace.toml"
    file.write_text(EXPERIMENT)
    started = bench.start("run", str(file), "--profile", "p")
    await_true(lambda: _begun(bench.folder))
    # Not in the first third, with which the last is compared.
    time.sleep(0.4 * SECONDS)
    stubs = bench.running("stub_service.py")
    for each in stubs:
        each.suspend()
    time.sleep(STOPPED_S)
    for each in stubs:
        each.resume()
    out, err = started.communicate(timeout=400)
    return Traced(bench, Done(started.args, started.returncode, out, err))


def _begun(folder: Path) -> bool:
    """The schedule of its arrivals is the last thing before a trace."""
    return any(folder.glob("*/raw/traces/*/arrivals.txt"))


def test_a_trace_is_as_long_as_its_experiment_says_and_offers_its_rate(ran: Traced) -> None:
    assert ran.code == 0, ran.told
    (course,) = [each for each in ran.trace.series if each.column == "throughput_per_s"]
    assert (len(course.values), course.step_s) == (SECONDS, 1)
    # What a stopped service owes is answered when it goes on.
    answered = sum(each or 0 for each in course.values)
    assert answered == pytest.approx(SECONDS * RATE_PER_S, abs=0.05 * SECONDS * RATE_PER_S)
    assert ran.trace.errors == {}


def test_seconds_in_which_the_service_was_stopped_are_stalls_that_nothing_explains(
    ran: Traced,
) -> None:
    # The longest run of them: a pause of the machine may be another one, of a second.
    seconds = [each.second for each in ran.trace.stalls]
    runs = groupby(enumerate(seconds), key=lambda numbered: numbered[1] - numbered[0])
    longest = max((len(list(run)) for _, run in runs), default=0)
    assert STOPPED_S - 2 <= longest <= STOPPED_S + 2, ran.told
    assert all(each.because == () for each in ran.trace.stalls)


def test_arrivals_that_found_every_user_busy_are_a_warning_and_idle_users_are_none(
    ran: Traced,
) -> None:
    (row,) = measures.rows(ran.bench.latest)
    kinds = {each.kind for each in row.warnings}
    assert "late-arrivals" in kinds, ran.told
    assert not kinds & {"users-in-flight", "littles-law"}


def test_without_a_database_nothing_is_said_of_one(ran: Traced) -> None:
    assert ran.trace.growth is None
    assert ran.trace.totals == {}
    assert not any("rows" in each.column for each in ran.trace.series)


def test_page_and_terminal_tell_it_and_nothing_is_left_running(ran: Traced) -> None:
    told = " ".join(ran.told.split())
    assert re.search(rf"Throughput of Java \S+ \(.*\) was .* over {SECONDS} s: means of 10 s", told)
    assert "How did it go over time?" in ran.bench.latest.report.read_text()
    assert ran.bench.still_running() == []
