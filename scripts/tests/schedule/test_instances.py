"""Several instances of a service behind one front: each on its cores, balanced, counted as one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ports import free_port
from stub_bench import Bench
from stub_cli import stub_command
from waiting import await_true

from restbench.deploy import fronts, programs, service
from restbench.deploy.serve import EXAMPLE
from restbench.drive import monitor
from restbench.experiment import experiment
from restbench.experiment.cell import Cell, Front
from restbench.experiment.order import parse_filter, plan
from restbench.experiment.records import Proof
from restbench.failures import BadConfiguration
from restbench.machine import process
from restbench.machine.placement import Cores, allowed_cores, instances_cores
from restbench.prove import proof
from restbench.schedule import deployments
from restbench.schedule.deployments import RunningService
from restbench.store.store import EXPERIMENTS

FILE = EXPERIMENTS / "instances.toml"
TWO = Cell(
    service="java", strategy="serial", complexity="low", users=10, front="nginx", instances=2
)


def test_a_cell_of_several_is_named_and_has_services_of_its_own() -> None:
    assert TWO.id == "java-serial-unbound-low-10u-nginx-2i"
    assert TWO.service_group.name == "java-unbound-nginx-2i"
    assert TWO.service_group != TWO.model_copy(update={"instances": 1}).service_group


def test_per_core_gives_each_instance_the_next_core() -> None:
    cores = Cores(service=(2, 3, 5), load=(0, 1))
    assert instances_cores("per-core", cores, 2) == [(2,), (3,)]
    assert instances_cores("unbound", cores, 2) == [(2, 3, 5)] * 2


def test_an_instance_on_its_neighbours_core_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores of all were looked at, which hold for each of them."""
    given: list[tuple[tuple[int, ...], object]] = []
    monkeypatch.setattr(process, "off_cores_share", lambda each: given.extend(each) or 0.0)
    instances = tuple(SimpleNamespace(pids=lambda pid=pid: (pid,)) for pid in (11, 12))
    service: Any = SimpleNamespace(each=lambda: instances, front_pids=lambda: (13,))
    cores = Cores(service=(0, 1), load=(0, 1))
    RunningService(service, cores, (), "17", bound=[(0,), (1,)]).off_cores_share()
    assert given == [((11,), (0,)), ((12,), (1,)), ((13,), (0, 1))]


def test_several_share_what_one_would_have() -> None:
    assert deployments._shares("java", 1, 4) == {}
    assert deployments._shares("java", 2, 4) == {"JAVA_OPTIONS": "-Xms512m -Xmx512m"}
    assert deployments._shares("python", 2, 4) == {"RESTBENCH_PROCESSES": "2"}
    assert deployments._shares("python", 2, 1) == {"RESTBENCH_PROCESSES": "1"}


def test_several_without_a_front_are_refused(tmp_path: Path) -> None:
    text = FILE.read_text().replace('front = "nginx"', 'front = "apache"')
    with pytest.raises(BadConfiguration, match="instances: more than 1 need front = 'nginx'"):
        experiment.parse(text, tmp_path / "own.toml")


def test_more_instances_than_cores_cannot_have_one_each(tmp_path: Path) -> None:
    count = len(allowed_cores()) + 1
    text = FILE.read_text().replace('instances = "cores"', f"instances = {count}")
    loaded = experiment.parse(text, tmp_path / "own.toml")
    with pytest.raises(BadConfiguration, match=rf"{count} instances need a core each"):
        plan(loaded, loaded.profile("quick"), parse_filter("", loaded))


def proven(does: bool | None, evidence: str) -> Proof:
    return Proof(
        service="java",
        strategy="serial",
        placement="per-core",
        does=does,
        claim="one thread",
        evidence=evidence,
    )


def test_one_instance_that_does_not_do_it_denies_it_for_all() -> None:
    both = proof.merged([proven(True, "a"), proven(True, "b")])
    assert (both.does, both.evidence) == (True, "each of 2 instances: a")
    one = proof.merged([proven(True, "a"), proven(False, "b")])
    assert (one.does, one.evidence) == (False, "one of 2 instances: b")
    assert proof.merged([proven(True, "a")]).evidence == "a"


@pytest.mark.parametrize("front", ["nginx", "haproxy"])
def test_a_front_balances_and_each_is_bound_from_its_start(
    front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fronts.program(front)
    monkeypatch.setitem(programs.COMMANDS, "java", lambda _settings: stub_command("java"))
    monkeypatch.setenv("JAVA_PORT", str(free_port()))
    cores = (allowed_cores() * 2)[:2]
    each_its_own = [str(core) for core in cores]
    with service.start("java", front, None, tmp_path, instances=each_its_own) as started:
        for core, each in zip(cores, started.each(), strict=True):
            assert os.sched_getaffinity(each.processes[0].pid) == {core}
        assert len({each.base_url for each in started.each()} | {started.base_url}) == 3
        for _ in range(20):
            assert started.post("/matrix/serial", json.dumps(EXAMPLE).encode()).status_code == 200
        counts = monitor.answered_requests(started, "serial")
        assert counts is not None
        assert (len(counts), sum(counts)) == (2, 20)
        assert min(counts) >= 5
        family = started.pids()
        theirs = {pid for each in started.each() for pid in each.pids()}
        assert {*family} - theirs == {*started.front_pids()}
        assert started.front_pids()
        started.instances[1].processes[0].kill()
        started.instances[1].processes[0].wait()
        assert not started.alive()
    assert await_true(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))


@pytest.mark.live
def test_a_run_goes_on_with_fresh_instances_where_one_has_ended(tmp_path: Path) -> None:
    """The other one goes on answering behind nginx: half of what was asked for."""
    fronts.program("nginx")
    bench = Bench(tmp_path)
    path = Path(bench.experiment({"java": ["serial"]}))
    several = 'users = 2\nfront = "nginx"\ninstances = 2'
    path.write_text(path.read_text().replace("users = 2", several))
    done = bench.restbench("run", str(path), "--profile", "p", faults={"serial": "die-once"})
    assert done.returncode == 0, done.stdout + done.stderr
    (event,) = bench.events("restarted")
    assert "stub: out of memory, giving up" in event.text
    trials = bench.trials("serial")
    assert trials
    assert sum(each.errors for each in trials) == 0
    assert all("front_cpu_ms_per_request" in each.extras for each in trials)
    assert bench.left_running() == []
