"""Services that somebody else runs: measured like others, or refused before anything is started."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ports import free_port
from stub_bench import Bench
from stub_service import Stub, serving

from restbench.commands import measuring
from restbench.deploy import programs, service
from restbench.failures import BadConfiguration, EnvironmentProblem, Failure
from restbench.schedule import environment
from restbench.schedule.deployments import Deployments
from restbench.store.store import Run


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def attached() -> Iterator[Stub]:
    with serving(Stub("java", {"pinned": "absent"})) as stub:
        yield stub


@pytest.mark.live
def test_one_service_is_attached_to_while_the_other_is_started(
    bench: Bench, attached: Stub
) -> None:
    path = bench.experiment({"java": ["serial", "pinned"], "python": ["serial"]})
    done = bench.restbench("run", path, "--profile", "p", "--attach", f"java={attached.url}")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "1 cell failed: java-pinned-unbound-tiny-2u" in done.stderr
    trials = bench.latest.trials.trials()
    java = [each for each in trials if each.cell.startswith("java-serial")]
    python = [each for each in trials if each.cell.startswith("python-serial")]
    assert java
    assert python
    assert all(each.service_cpu_ms is None for each in java), "its processes cannot be seen"
    assert all(each.service_cpu_ms is not None for each in python)
    assert bench.left_running() == []


@pytest.mark.parametrize(
    ("cells", "attach", "refusal"),
    [
        ("python unbound", "python={stub}", EnvironmentProblem("is the java service, not the py")),
        ("python unbound", "java={stub}", BadConfiguration("no selected cell has this service")),
        ('java unbound settings="A=1"', "java={stub}", BadConfiguration("cannot be conf")),
        ("java core0", "java={stub}", BadConfiguration("cannot be configured, bound")),
        (
            'java unbound front="nginx"',
            "java={stub}",
            BadConfiguration("given a front; select the rest with --cells 'placement=unbound fr"),
        ),
        ("java unbound", "java={stub}/path", BadConfiguration("give SERVICE=http://HOST:PORT")),
        ("java unbound", "java=http://", BadConfiguration("give SERVICE=http://HOST:PORT")),
        ("java unbound", "java={stub} java={stub}", BadConfiguration("is attached twice")),
    ],
)
def test_what_cannot_be_attached_to_is_refused_before_anything_is_started(
    bench: Bench, attached: Stub, cells: str, attach: str, refusal: Failure
) -> None:
    with pytest.raises(type(refusal), match=re.escape(str(refusal))):
        check(bench, cells, attach.format(stub=attached.url))


@pytest.mark.parametrize(
    ("told", "refusal"),
    [
        ({"framework": "vertx"}, 'framework: the service has "vertx", the cells need "tomcat"'),
        ({"framework": "tomcat", "workers": 4}, "workers: the service has 4, the cells need 1"),
        ({"handoff": "loop"}, 'or write handoff = "loop" into [[cells]] of an experiment\'s file'),
    ],
)
def test_a_service_that_is_not_what_the_cells_say_is_refused(
    bench: Bench, attached: Stub, told: dict[str, object], refusal: str
) -> None:
    """Its numbers would stand under another framework's name."""
    attached.health = told
    with pytest.raises(BadConfiguration, match=re.escape(refusal)):
        check(bench, "java unbound", f"java={attached.url}")


def test_one_in_another_framework_is_measured_by_cells_that_say_so(
    bench: Bench, attached: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether that framework could be had here does not matter."""
    monkeypatch.setattr(programs, "why_unavailable", lambda *_of: "not installed")
    attached.health = {"framework": "helidon", "workers": 1, "handoff": None}
    path = Path(bench.experiment({"java": ["serial"]}))
    path.write_text(path.read_text().replace("users = 2", 'users = 2\nframework = "helidon"'))
    given = measuring.order_for(str(path), "p", "framework=helidon", [f"java={attached.url}"])
    assert [note for note in environment.check(given) if "left out" in note] == []
    up = Deployments(Run(bench.folder), 1, given)
    up.start([given.plan[0].cell.service_group])
    assert up.down == {}
    up.stop()


def test_an_address_where_nobody_answers_is_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "ATTACH_TIMEOUT_S", 0.3)
    with pytest.raises(EnvironmentProblem, match="did not come up"):
        check(bench, "java unbound", f"java=http://127.0.0.1:{free_port()}")


def check(bench: Bench, cells: str, attach: str) -> None:
    name, placement, *more = cells.split()
    path = Path(bench.experiment({name: ["serial"]}, placement))
    path.write_text(path.read_text().replace("users = 2", "\n".join(["users = 2", *more])))
    environment.check(measuring.order_for(str(path), "p", "", attach.split()))
