"""The web framework as a factor of a cell: its names, its defaults, and what cannot be had."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import psutil
import pytest
from experiment_file import MINIMAL, loaded
from made_blocks import View
from ports import free_port
from stub_bench import Bench
from stub_cli import stub_command

from restbench.commands import measuring
from restbench.deploy import programs, service
from restbench.experiment import claim_file, experiment, toml_file
from restbench.experiment.cell import (
    ASYNCHRONOUS,
    DEFAULT_FRAMEWORKS,
    FRAMEWORKS,
    WITH_WORKERS,
    Cell,
    ServiceName,
)
from restbench.experiment.order import parse_filter, plan
from restbench.experiment.records import Proof
from restbench.failures import BadConfiguration
from restbench.machine import jvm
from restbench.schedule import block, deployments
from restbench.schedule.allocation import groups_of
from restbench.schedule.block_run import BlockOrder
from restbench.store.store import EXPERIMENTS, Run

FASTAPI = Cell(service="python", strategy="serial", complexity="low", users=1, framework="fastapi")
FLASK = FASTAPI.model_copy(update={"framework": "flask"})
VERTX = MINIMAL.replace("users = [1, 2]", 'users = [1, 2]\nframework = ["tomcat", "vertx"]')


def test_a_cells_id_names_the_framework_that_is_not_the_default() -> None:
    assert FASTAPI.id == "python-serial-unbound-low-1u-fastapi"
    assert FLASK.id == "python-serial-unbound-low-1u"
    java = Cell(service="java", strategy="serial", complexity="low", users=1)
    assert (java.framework, java.id) == ("tomcat", "java-serial-unbound-low-1u")


def test_a_record_from_before_the_factor_has_the_default() -> None:
    told = FLASK.model_dump()
    del told["framework"]
    assert Cell.model_validate(told) == Cell.model_validate_json(json.dumps(told)) == FLASK
    looked = {"strategy": "serial", "placement": "unbound", "claim": "", "evidence": ""}
    proof = Proof(service="python", does=True, **looked)
    assert proof.key == FLASK.proof_key != FASTAPI.proof_key


def test_each_framework_has_a_process_and_a_folder_of_its_own(tmp_path: Path) -> None:
    groups = [each.service_group for each in (FLASK, FASTAPI)]
    assert groups[0] != groups[1]
    names = [Run(tmp_path).service(1, each).name for each in groups]
    assert names == ["block-1-python-unbound-none", "block-1-python-unbound-none-fastapi"]


def test_an_experiment_crosses_frameworks_and_a_filter_selects_them(tmp_path: Path) -> None:
    definition = loaded(tmp_path, VERTX)
    assert len(definition.all_cells()) == 8
    chosen = plan(
        definition, definition.profile("quick"), parse_filter("framework=vertx", definition)
    )
    assert {each.cell.framework for each in chosen} == {"vertx"}
    with pytest.raises(BadConfiguration, match=r"'jetty' is not in .*; it has tomcat, vertx"):
        parse_filter("framework=jetty", definition)


@pytest.mark.parametrize(
    ("framework", "told"),
    [
        (
            "vertex",
            r"cells.0.framework.1: Input should be 'tomcat', 'servlet', .* \(got 'vertex'\)",
        ),
        ("flask", "framework: 'flask' is not one of the java service's: tomcat, servlet, jetty"),
    ],
)
def test_an_unknown_framework_is_one_line_with_file_key_and_what_is_allowed(
    tmp_path: Path, framework: str, told: str
) -> None:
    with pytest.raises(BadConfiguration, match=told) as refused:
        loaded(tmp_path, VERTX.replace('"vertx"', f'"{framework}"'))
    assert str(refused.value).startswith(str(tmp_path / "mini.toml"))
    assert "\n" not in str(refused.value)


def test_a_claim_names_frameworks_of_its_service() -> None:
    path = EXPERIMENTS / "claims" / "frameworks.toml"
    text = path.read_text()
    known = {cell.framework for cell in claim_file.load(path).claims[0].cells}
    assert known == {"flask", "fastapi"}
    with pytest.raises(BadConfiguration, match=r"claims\.G1.*'jetty' is not one of the python"):
        toml_file.parse(
            text.replace('"fastapi" }', '"jetty" }').encode(), claim_file.Claims, "claims"
        )


def test_the_shipped_experiment_has_every_framework() -> None:
    definition = experiment.load(EXPERIMENTS / "frameworks.toml")
    cells = definition.all_cells()
    for name, frameworks in FRAMEWORKS.items():
        assert {cell.framework for cell in cells if cell.service == name} == {*frameworks}


def order(path: Path, cells: str = "") -> object:
    return measuring.order_for(str(path), "quick", cells, [])


def test_what_the_environment_chooses_is_refused_in_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mini.toml"
    path.write_text(MINIMAL)
    monkeypatch.setenv("PYTHON_FRAMEWORK", "fastapi")
    monkeypatch.setenv("JAVA_FRAMEWORK", "tomcat")
    order(path)
    monkeypatch.setenv("JAVA_FRAMEWORK", "vertx")
    with pytest.raises(BadConfiguration, match="JAVA_FRAMEWORK=vertx: the framework is a factor"):
        order(path)
    monkeypatch.delenv("JAVA_FRAMEWORK")
    for name, value in (("RESTBENCH_WORKERS", "4"), ("RESTBENCH_HANDOFF", "loop")):
        monkeypatch.setenv(name, value)
        with pytest.raises(BadConfiguration, match=f"{name}: is a factor of a run's cells"):
            order(path)
        monkeypatch.delenv(name)


def test_one_that_cannot_be_had_is_refused_by_name_and_left_out_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mini.toml"
    path.write_text(VERTX.replace('"vertx"', '"helidon"'))
    monkeypatch.setattr(jvm, "version", lambda: 17)
    order(path)
    with pytest.raises(BadConfiguration, match="framework: helidon: needs Java 21, this is 17"):
        order(path, "framework=helidon")
    monkeypatch.setattr(jvm, "version", lambda: 21)
    for inside, told in (("tomcat", "was built with a Java below 21"), ("helidon-webserver", "")):
        jar = tmp_path / f"{inside}.jar"
        with ZipFile(jar, "w") as archive:
            archive.writestr(f"BOOT-INF/lib/{inside}.jar", b"")
        monkeypatch.setattr(programs, "JAR", jar)
        assert programs.why_unavailable("java", "helidon").endswith(told)
    order(path, "framework=helidon")


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({"aiohttp": []}, ""),
        ({"aiohttp": ["aiohttp", "uvloop"]}, "not installed (aiohttp, uvloop): make frameworks"),
        ({}, "this checkout's Python service does not have it"),
    ],
)
def test_a_framework_without_its_packages_names_them_and_what_installs_them(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, list[str]], told: str
) -> None:
    monkeypatch.setattr(programs, "_missing_packages", lambda: found)
    lack = programs.why_unavailable("python", "aiohttp")
    assert lack == (told and f"aiohttp: {told}")
    assert programs.why_unavailable("python", "flask") == ""


def test_the_python_services_own_table_is_asked() -> None:
    found = programs._missing_packages()
    assert found["flask"] == []
    assert {*found} == {*FRAMEWORKS["python"]}, "cell.py has the same frameworks"


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_service_is_started_in_its_cells_framework(
    name: ServiceName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(programs.COMMANDS, name, lambda _settings: stub_command(name))
    with service.start(
        name, "none", None, tmp_path, port=free_port(), framework=FRAMEWORKS[name][1]
    ) as started:
        environment = psutil.Process(started.processes[0].pid).environ()
    assert environment["RESTBENCH_FRAMEWORK"] == FRAMEWORKS[name][1] != DEFAULT_FRAMEWORKS[name]


def test_languages_that_are_apart_share_a_block_one_after_the_other() -> None:
    asked = measuring.order_for("frameworks", "smoke", "", [])
    wanted = BlockOrder(asked, Run(Path()), View(), 1, groups_of(asked), 120.0)
    parts = block._parts(wanted)
    services = [{cell.service for group in each.groups for cell in group.cells} for each in parts]
    seconds = {str(*names): part.seconds for names, part in zip(services, parts, strict=True)}
    started = Counter(name for name, *_ in {cell.service_group for cell in wanted.cells})
    shares = {name: 120.0 * its / started.total() for name, its in started.items()}
    assert seconds == pytest.approx(shares), "as many services, as much time"
    assert len({*seconds.values()}) == 2, "else this would show nothing"
    firsts = {
        block._parts(replace(wanted, block=number))[0].groups[0].cells[0].service
        for number in range(1, 20)
    }
    assert len(firsts) == 2, "either may be the first"


def test_levels_that_are_apart_have_time_for_each_service_that_they_start() -> None:
    asked = measuring.order_for("messages-threads", "quick", "", [])
    parts = block._parts(BlockOrder(asked, Run(Path()), View(), 1, groups_of(asked), 17 * 30.0))
    shares = {part.groups[0].cells[0].pool_threads: part.seconds / 30 for part in parts}
    one_each = dict.fromkeys((1, 5, 10, 20, 80, 90, 120), 1.0)
    assert shares == pytest.approx({**one_each, 40: 4.0, 50: 6.0}), "4 pools; 1 + 2 + 3 instances"


def test_where_an_event_loop_runs_requests_stands_in_the_cell_and_its_service(
    tmp_path: Path,
) -> None:
    in_loop = FASTAPI.model_copy(update={"handoff": "loop"})
    assert in_loop.id == "python-serial-unbound-low-1u-fastapi-loop"
    assert in_loop.service_group.name == "python-unbound-none-fastapi-loop"
    settings = [deployments._of_factors(each.service_group) for each in (in_loop, FASTAPI, FLASK)]
    assert settings == [{"RESTBENCH_HANDOFF": "loop"}, {"RESTBENCH_HANDOFF": "thread"}, {}]
    in_loop_all = VERTX.replace("users = [1, 2]", 'users = 1\nhandoff = "loop"')
    assert loaded(tmp_path, in_loop_all.replace('"tomcat", ', ""))
    with pytest.raises(BadConfiguration, match="handoff: 'loop' needs a framework of aiohttp"):
        loaded(tmp_path, in_loop_all)


@pytest.mark.parametrize(
    ("member", "ours"), [("is_asynchronous", ASYNCHRONOUS), ("has_workers", WITH_WORKERS)]
)
def test_what_frameworks_of_python_can_do_is_what_the_services_own_table_says(
    member: str, ours: frozenset[str]
) -> None:
    code = (
        "from restbench_service.frameworks import FRAMEWORKS as known; "
        f"print(*(name for name, each in known.items() if each.{member}))"
    )
    command = [sys.executable, "-c", code]
    told = subprocess.run(
        command, cwd=programs.PYTHON_SERVICE, capture_output=True, text=True, check=True
    ).stdout
    assert set(told.split()) == ours & {*FRAMEWORKS["python"]}


@pytest.mark.live
def test_a_run_measures_each_framework_on_a_service_of_its_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    extra = '\n[[cells]]\nname = "more"\nservice = "java"\nstrategy = "serial"\n'
    extra += 'complexity = "tiny"\nusers = 2\nframework = ["servlet", "vertx"]\n'
    extra += '\n[wrk]\nframework = ["vertx", "flask"]\n'
    names = {"java": ["serial"], "python": ["serial"]}
    path = Path(bench.experiment(names, extra=extra))
    path.write_text(path.read_text().replace("seed = 3", 'seed = 3\napart = "service"'))
    done = bench.restbench("run", str(path), "--profile", "p")
    assert done.returncode == 0, done.stdout + done.stderr
    commands = {
        each.parent.name: each.read_text() for each in tmp_path.glob("2*/services/*/command.txt")
    }
    assert "RESTBENCH_FRAMEWORK=vertx" in commands["block-1-java-unbound-none-vertx"]
    assert "RESTBENCH_FRAMEWORK=flask" in commands["block-1-python-unbound-none"]
    assert {proof.framework for proof in bench.latest.proofs()} == {
        "tomcat",
        "servlet",
        "vertx",
        "flask",
    }
    rows = bench.latest.test_matrix_csv.read_text()
    assert ",framework," in rows.partition("\n")[0]
    assert ",vertx," in rows
    assert ",flask," in rows
    facts = bench.latest.trials.blocks()[0].facts
    assert len(facts["response_s"]) == 4, "of both languages"
    assert {name.rpartition("-")[2] for name in facts["extras"]} == {"vertx", "2u"}
    assert facts["count_gap"] == {}, "the service counted what wrk sent"
    cells = json.loads(bench.latest.exported_file.read_text())["cells"]
    assert len(cells) == 4
    assert sum("wrk_per_s" in each.get("extras", {}) for each in cells) == 2
