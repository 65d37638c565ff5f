"""Load from several hosts: namespaces that come and go, engines' merged samples, a whole run."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fixture_run import cell
from made_blocks import block_of
from other_process import beside, line_of
from waiting import await_true

from restbench import ROOT
from restbench.drive import dashboards, engines, jtl_file
from restbench.drive.generator import CORRECT, ERROR, WRONG, LoadResult, Mark
from restbench.drive.jtl_file import COLUMNS
from restbench.experiment import experiment
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import namespaces, watch
from restbench.schedule import windows
from restbench.schedule.engines import EnginesDriver, EnginesRun
from restbench.schedule.pace import PlannedTrial
from restbench.store import store

FILE = ROOT / "scripts" / "experiments" / "engines.toml"


def can_make_namespaces() -> bool:
    """As root, with iproute2 and a kernel that allows it: a container may not."""
    try:
        namespaces.require()
    except EnvironmentProblem:
        return False
    name = f"rb-tried-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return made.returncode == 0


AS_ROOT = pytest.mark.skipif(not can_make_namespaces(), reason="no namespaces can be made here")
#: Its last cells are those that only a network of ours can have.
NEAR = FILE.read_text().rpartition("[[cells]]")[0]
BEGUN_MS = 1_000_000
#: A service of half a core, engines of a quarter, on a machine where more is at work.
LOOKED = [Mark(0, BEGUN_MS + ms, ms // 2, ms // 4, ms, 0) for ms in range(-1000, 12_000, 100)]


def sample(engine: str, user: int, at_ms: int, **changes: str) -> dict[str, str]:
    row = dict.fromkeys(COLUMNS, "")
    row |= {
        "timeStamp": str(BEGUN_MS + at_ms),
        "elapsed": "100",
        "Latency": "90",
        "responseCode": "200",
        "success": "true",
        "threadName": f"{engine}:1099-user 1-{user}",
        "serverTiming": "queue;dur=1, parse;dur=2, compute;dur=3, serialize;dur=4",
    }
    return row | changes


def merged(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    with path.open("w", newline="") as output:
        lines = csv.DictWriter(output, COLUMNS)
        lines.writeheader()
        lines.writerows(rows)
    return path


def two_engines(until_ms: int = 10_000) -> list[dict[str, str]]:
    """Ten requests a second of each engine's one user; the second begins half a second later. As
    JMeter merges them: batches, so not in order."""
    first = [sample("198.18.0.4", 1, at) for at in range(0, until_ms, 100)]
    second = [sample("198.18.0.5", 1, at) for at in range(500, until_ms, 100)]
    return [*second, *first]


def told(folder: Path, rows: Sequence[dict[str, str]], count: int = 2) -> LoadResult:
    """What these lines say, of which five seconds are kept, one after the last engine's first."""
    return engines.result_of_jtl(merged(folder / "samples.jtl", rows), LOOKED, count, 1.0, 5.0)


def test_what_is_kept_begins_with_the_last_engine(tmp_path: Path) -> None:
    sent = told(tmp_path, two_engines())
    assert (sent.opened.nanos, sent.closed.nanos) == (1_500_000_000, 6_500_000_000)
    assert sent.opened.epoch_ms == BEGUN_MS + 1500
    assert sent.measured.size == 2 * 50
    assert sent.closed.service_ms - sent.opened.service_ms == 2500
    assert sent.closed.generator_ms - sent.opened.generator_ms == 1250
    assert {int(each) for each in sent.records["user"]} == {0, 1}
    assert sent.records["stages_ms"].tolist()[0][:4] == [1, 2, 3, 4]
    assert (sent.records["outcome"] == CORRECT).all()


def test_an_error_and_a_wrong_answer_are_told_apart(tmp_path: Path) -> None:
    rows = two_engines()
    rows[0] |= {"success": "false", "responseCode": "503", "failureMessage": "not 200"}
    rows[1] |= {"success": "false", "failureMessage": "The body is not this request's"}
    rows[2] |= {"success": "false", "responseCode": "Non HTTP response code: java.net"}
    sent = told(tmp_path, rows)
    assert sent.records["outcome"][:3].tolist() == [ERROR, WRONG, ERROR]
    assert sent.records["status"][:3].tolist() == [503, 200, 0]
    assert sent.first_error == "503 not 200"


def test_engines_are_told_apart_by_names_with_hyphens_and_one_that_sent_nothing_is_missed(
    tmp_path: Path,
) -> None:
    times = range(0, 10_000, 100)
    rows = [sample(f"engine-{n}.engine", 1, at) for n in (0, 1) for at in times]
    told(tmp_path, rows)
    with pytest.raises(EnvironmentProblem, match="2 of 3 engines"):
        told(tmp_path, rows, count=3)


def test_an_engine_that_ended_early_voids_the_trial(tmp_path: Path) -> None:
    rows = [row for row in two_engines() if ".5:" not in row["threadName"]]
    rows += [sample("198.18.0.5", 1, at) for at in range(500, 4000, 100)]
    with pytest.raises(EnvironmentProblem, match="one ended early"):
        told(tmp_path, rows)


def test_engines_share_users_evenly_or_the_plan_is_refused(tmp_path: Path) -> None:
    text = FILE.read_text().replace("count = 2", "count = 4")
    with pytest.raises(BadConfiguration, match="users = 10: 4 engines share them"):
        experiment.parse(text, tmp_path / "own.toml")


@pytest.mark.parametrize("given", ['connection = "each"', 'front = "nginx"'])
def test_what_the_plan_of_engines_cannot_do_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(BadConfiguration, match="has no front, mix or connection 'each'"):
        experiment.parse(f"{FILE.read_text()}{given}\n", tmp_path / "own.toml")


def test_engines_on_real_machines_need_addresses(tmp_path: Path) -> None:
    text = NEAR.replace('hosts = "namespaces"', 'hosts = "addresses"')
    with pytest.raises(BadConfiguration, match="addresses"):
        experiment.parse(text, tmp_path / "own.toml")
    given = text.replace("count = 2", 'addresses = ["10.0.0.2", "10.0.0.3:1100"]')
    assert experiment.parse(given, tmp_path / "own.toml").engines.number == 2  # type: ignore[union-attr]
    for wrong in ("10.0.0.3:many", "10.0.0.3:65536", "fd00::3", ""):
        with pytest.raises(BadConfiguration, match=f"'{wrong}' is not HOST or HOST:PORT"):
            experiment.parse(given.replace("10.0.0.3:1100", wrong), tmp_path / "own.toml")


def test_an_engine_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "ATTACH_TIMEOUT_S", 0.2)
    gone = pytest.raises(EnvironmentProblem, match=r"no JMeter engine at 127\.0\.0\.1:9 after 0 s")
    with gone:
        engines.attached(["127.0.0.1:9"], tmp_path)
    known = engines.Engines(["127.0.0.1:9"], tmp_path)
    known.cell("low", "http://127.0.0.1:1/matrix/serial", tmp_path)
    with gone:
        known.offsets_ms()


def test_what_has_ended_of_a_load_is_named_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the controller waits for it without end."""
    monkeypatch.setattr(engines.process, "finished", lambda *_: None)
    (tmp_path / "relay-7.out").write_text("too many open files\n")
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
        load = engines.Engines(["127.0.0.1"], tmp_path, processes={"relay-7": ended})
        load.cell("low", "http://127.0.0.1:1/matrix/serial", tmp_path)
        with pytest.raises(EnvironmentProblem, match=r"(?s)relay-7 .* ended.*too many open files"):
            load._samples("low", 1, 1.0)
        log = tmp_path / "relay-7.out"
        with pytest.raises(EnvironmentProblem, match=r"(?s)no relay .* ended.*too many open files"):
            engines._reached("relay", "127.0.0.1:9", 60.0, ended, log)


def test_engines_that_others_run_are_told_the_address_by_which_they_were_reached(
    tmp_path: Path,
) -> None:
    """The name of a host with Debian's /etc/hosts is 127.0.1.1: engines would call themselves."""
    with socket.create_server(("127.0.0.1", 0)) as engine:
        found = engines.attached([f"127.0.0.1:{engine.getsockname()[1]}"], tmp_path)
    found.cell("low", "http://10.0.0.9:8080/matrix/serial", tmp_path)
    line = found._controller("low", 2, 1.0, tmp_path / "samples.jtl")
    assert "-Djava.rmi.server.hostname=127.0.0.1" in line


def test_an_ordinary_user_is_told_what_namespaces_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(EnvironmentProblem, match="hosts=namespaces needs root"):
        namespaces.require()


def test_without_ip_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces.shutil, "which", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match="ip is missing: apt-get install iproute2"):
        namespaces.require()


def left_of(mark: str) -> list[str]:
    """The namespaces and the link of one harness: those of others come and go meanwhile."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    links = [each.name for each in Path("/sys/class/net").iterdir()]
    return [name for name in names if name.startswith(f"rb-{mark}-")] + [
        link for link in links if link == namespaces._link(mark)
    ]


@AS_ROOT
def test_hosts_reach_each_other_and_go_with_their_context() -> None:
    with namespaces.made(["service", "gen-1"]) as hosts:
        assert len(left_of(watch.mark())) == 4, "two hosts, a switch, and our link to it"
        answer = [
            "python3",
            "-c",
            "import socket; print(socket.create_server(('', 7)).accept()[1])",
        ]
        server = subprocess.Popen(
            hosts["service"].inside(answer), stdout=subprocess.PIPE, text=True
        )
        call = f"import socket; socket.create_connection(('{hosts['service'].address}', 7))"
        attempt = hosts["gen-1"].inside(["python3", "-c", call])
        assert await_true(
            lambda: not subprocess.run(attempt, capture_output=True, check=False).returncode
        )
        assert hosts["gen-1"].address in server.communicate()[0]
    assert left_of(watch.mark()) == []


#: A shell that starts tests in the background has them ignore Ctrl-C.
KILLED = """
import signal, time
from restbench.machine import namespaces, watch
signal.signal(signal.SIGINT, signal.default_int_handler)
with namespaces.made(["service"]):
    print(watch.mark(), flush=True)
    time.sleep(60)
"""


@AS_ROOT
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_hosts_of_a_harness_that_is_gone_are_removed_and_those_of_another_stay(
    by: signal.Signals,
) -> None:
    with namespaces.made(["service"]), beside(KILLED) as harness:
        mark = line_of(harness)
        assert len(left_of(mark)) == 3
        harness.send_signal(by)
        harness.wait()
        assert await_true(lambda: not left_of(mark)), left_of(mark)
        assert len(left_of(watch.mark())) == 3


@AS_ROOT
@pytest.mark.live
def test_engines_of_one_machine_have_its_clock(tmp_path: Path) -> None:
    def agrees() -> bool:  # each time, but where a busy machine made JMeter read its clock late
        ((_, offset),) = running.offsets_ms().items()
        quickest_ms = min(int(row["elapsed"]) for row in jtl_file.read(running.samples))
        return abs(offset) <= quickest_ms / 2 + 2  # two clocks in whole milliseconds

    for name, member in (("body-rest.json", '"a":1}'), ("answer-rest.json", "}")):
        (tmp_path / name).write_text(member)
    with (
        namespaces.made(["control", "gen-1"]) as hosts,
        engines.started([hosts["gen-1"]], hosts["control"], tmp_path / "load") as running,
    ):
        assert running.offsets_ms() == {}, "no cell has been announced"
        running.cell("low", "http://127.0.0.1:9/matrix/serial", tmp_path)
        assert await_true(agrees)


def test_a_cell_whose_window_is_named_keeps_what_all_engines_sent_for_its_dashboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without JMeter: that its dashboard is of the merged file, and that of no other cell is."""
    profile = experiment.load(FILE).profile("smoke")
    load = engines.Engines(["198.18.0.4", "198.18.0.5"], tmp_path / "load")
    load.folder.mkdir()
    sent = two_engines(until_ms=12_000)
    monkeypatch.setattr(engines.Engines, "_samples", lambda it, *_: merged(it.samples, sent))
    service = SimpleNamespace(pids=tuple, front_pids=tuple, alive=lambda: True)
    up = SimpleNamespace(running=lambda _cell: SimpleNamespace(service=service))
    here = block_of(tmp_path, SimpleNamespace(profile=profile), [], up=up, kind=EnginesRun)
    here.load, run = load, here.run
    driver = EnginesDriver(here, experiment.load(FILE).engines)  # type: ignore[arg-type]
    named, other = cell("java serial low 10"), cell("java serial low 30")
    for each in (named, other):
        found = driver.trial(PlannedTrial(1, each))
        assert (found.completions, found.seconds) == (2 * 60, 6.0)
    assert here.sent == {(named.service_group, "serial"): 2 * len(sent)}
    assert jtl_file.read(run.window(named.id).samples) == sent
    assert not run.window(other.id).path.exists()
    planned = [SimpleNamespace(cell=each) for each in (named, other)]
    monkeypatch.setattr(store.Run, "manifest", lambda _run: SimpleNamespace(plan=planned))
    assert dashboards.windows(run) == [named.id]


def test_a_load_from_several_hosts_has_no_other_windows_than_its_trials(tmp_path: Path) -> None:
    """They would be taken by users of this machine, on a service without a host."""
    definition = experiment.load(FILE)
    plan = [SimpleNamespace(cell=each) for each in definition.all_cells()]
    profile = definition.profile("reference")
    order = SimpleNamespace(experiment=definition, profile=profile, plan=plan)
    assert any(profile.has_window(each.cell) for each in plan)
    assert windows.missing(cast(Any, order), store.Run(tmp_path)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('hosts = "namespaces"\ncount = 2', 'hosts = "addresses"\naddresses = ["10.0.0.2"]'),
        ('driver = "engines"', ""),
    ],
)
def test_a_delay_needs_hosts_of_our_own(tmp_path: Path, old: str, new: str) -> None:
    text = FILE.read_text().replace(old, new)
    if not new:
        text = re.sub(r"\[engines\].*?\n\n", "", text, flags=re.DOTALL)
    with pytest.raises(BadConfiguration, match="delay_ms: needs driver = 'engines'"):
        experiment.parse(text, tmp_path / "own.toml")


@AS_ROOT
def test_what_a_delayed_host_sends_comes_later_and_then_as_before() -> None:
    if not namespaces.has_netem():
        pytest.skip("this kernel has no netem")
    with namespaces.made(["service", "gen-1"]) as hosts:
        ping = hosts["gen-1"].inside(["ping", "-c", "3", hosts["service"].address])

        def quickest_ms() -> float:
            told = subprocess.run(ping, capture_output=True, text=True, check=True).stdout
            return min(float(each) for each in re.findall(r"time=([0-9.]+)", told))

        with namespaces.delayed(hosts.values(), 20):
            assert quickest_ms() >= 40
        assert quickest_ms() < 40


@AS_ROOT
@pytest.mark.live
def test_two_engines_measure_a_service_on_another_host_near_and_far(tmp_path: Path) -> None:
    path, short = tmp_path / "engines.toml", FILE.read_text()
    for old, new in (("warmup_s = 4.0", "warmup_s = 1.0"), ("window_s = 6.0", "window_s = 3.0")):
        assert old in short
        short = short.replace(old, new)
    path.write_text(short)
    cells = "service=java strategy=serial complexity=low users=10"
    line = [sys.executable, "-c", "from restbench.cli import main; main()", "run", str(path)]
    line += ["--profile", "smoke", "--cells", cells]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as harness:
        out, err = harness.communicate()
    assert harness.returncode == 0, out + err
    found = re.search(r"^raw data: (\S+)", out, re.MULTILINE)
    assert found is not None
    run = store.open_run(found[1])
    near, far = json.loads(run.exported_file.read_text())["cells"]
    assert far["id"] == f"{near['id']}-20ms"
    assert near["throughput_per_s"]["value"] > 0
    assert near["cpu_ms_per_request"]["value"] > 0
    assert far["p50_ms"]["value"] >= 40
    marked = [note["kind"] for note in far["notes"]]
    assert marked == ([] if namespaces.has_netem() else ["relayed"])
    for trial in run.trials.trials():
        assert trial.wrong == trial.errors == 0
        assert trial.users_in_flight < 11
        check_dashboard(run, trial.cell)
    # On a machine that pauses a trial may have fewer: one shows that both engines send.
    assert max(trial.users_in_flight for trial in run.trials.trials()) > 5
    (block,) = run.trials.blocks()
    assert block.facts["count_gap"] == {}, "the service counted what both engines sent"
    assert left_of(str(harness.pid)) == []


def check_dashboard(run: store.Run, cell: str) -> None:
    """It tells of every request in the merged file, which both engines wrote."""
    rows = jtl_file.read(run.window(cell).samples)
    assert len({row["threadName"].partition("-user ")[0] for row in rows}) == 2
    total = json.loads((run.dashboard(cell) / "statistics.json").read_text())["Total"]
    assert (total["sampleCount"], total["errorCount"]) == (len(rows), 0)
