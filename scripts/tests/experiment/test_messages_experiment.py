"""How experiments of messages are written: what they measure, what they claim, what cannot be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from experiment_file import refused

from restbench import ROOT
from restbench.experiment import claim_file, experiment
from restbench.experiment.cell import SETTINGS, STRATEGIES, TAKING_MESSAGES, Cell
from restbench.experiment.experiment import Experiment
from restbench.experiment.order import parse_filter, plan
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration
from restbench.prove import messages as proofs
from restbench.store.store import EXPERIMENTS

NAMES = ("messages", "messages-threads", "messages-factorial", "messages-fraction")


#: Of the study: each stands next to a claim that it touches.
FAULTS = (
    "do not keep the number of messages", "the design's load is not given", "shared one pool",
    "without a word on trying again", "80 closed clients never occupy 90 threads",
    "1 s with 60 clients is 60/s at most", "subtracts SQL time next to a processing time",
    "the queue of tasks has no bound", "whether the first or the last", "of the seconds of one run",
    "nothing is said of fsync", "figure 9 where it means 12",
)  # fmt: skip


@pytest.fixture(params=NAMES)
def each(request: pytest.FixtureRequest) -> Experiment:
    return experiment.load(EXPERIMENTS / f"{request.param}.toml")


def test_every_experiment_of_messages_has_a_plan_in_each_of_its_profiles(each: Experiment) -> None:
    for name in each.profiles:
        found = plan(each, each.profile(name), Where())
        assert found, name
        assert {cell.cell.strategy for cell in found} <= TAKING_MESSAGES


def test_every_claim_of_the_study_is_decided_by_an_experiment() -> None:
    claims = claim_file.load(EXPERIMENTS / "claims" / "messages.toml").claims
    assert [each.id for each in claims] == [f"M{n}" for n in range(1, 13)]
    assert all("Study:" in each.reading for each in claims)
    open_there = "".join(each.reading.partition("Open or wrong there:")[2] for each in claims)
    assert [fault for fault in FAULTS if fault not in open_there] == []
    elsewhere = {each.id: each.experiment for each in claims if each.experiment}
    assert [*elsewhere] == ["M4", "M5", "M6", "M8", "M9", "M10"]
    for id, name in elsewhere.items():
        assert id in decided_by(name), f"{id} is decided by no claim of {name}"


def decided_by(name: str) -> set[str]:
    """The ids of the claims that a run of this experiment decides."""
    found = experiment.load(EXPERIMENTS / f"{name}.toml")
    if found.trace:
        return {each.id for each in found.trace.claims}
    file = claim_file.load(EXPERIMENTS / (found.claims or f"no claims of {name}"))
    return {each.id for each in file.claims if not each.experiment}


def test_every_technique_is_measured_in_both_services_and_proven() -> None:
    cells = experiment.load(EXPERIMENTS / "messages.toml").all_cells()
    for service in STRATEGIES:
        measured = {cell.technique for cell in cells if cell.service == service}
        assert measured == set(proofs.CLAIMS)
    pinned = next(cell for cell in cells if cell.strategy == "pinned")
    assert [each.name for each in proofs.of(pinned)] == [
        "technique skip-locked",
        "1 connection of pinned",
    ]


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ({"strategy": "pinned", "connections": 8}, 1),
        ({"strategy": "worker-pool"}, 20),
        ({"strategy": "worker-pool", "pool_threads": 5}, 5),
        ({"strategy": "worker-pool", "pool_threads": 5, "connections": 3}, 3),
        ({"strategy": "virtual-thread-per-request", "connections": 7}, 7),
    ],
)
def test_a_strategy_says_how_many_connections_it_keeps_at_work(
    cell: dict[str, object], wanted: int
) -> None:
    made = Cell.model_validate({"service": "java", "complexity": "200", "users": 1, **cell})
    assert proofs.connections(made) == wanted


def test_threads_connections_and_database_settings_need_a_service_of_their_own() -> None:
    usual = Cell(service="java", strategy="worker-pool", complexity="200", users=1)
    one = usual.model_copy(update={"technique": "function"})
    assert one.service_group == usual.service_group, "a queue has the technique, not a service"
    other = one.model_copy(update={"pool_threads": 5, "postgres": "shared_buffers=2GB"})
    assert other.service_group.name == "java-unbound-none-shared_buffers=2GB-5t"
    assert other.id == "java-worker-pool-unbound-200-1u-function-5t-shared_buffers=2GB"


GOOD = 'strategy = "worker-pool"\ncomplexity = "200"\ntechnique = "function"\n'
MINE = f"""
name = "mine"
title = "t"
seed = 1
driver = "messages"
views = ["messages"]
[complexities]
200 = {{ characters = 200 }}
low = {{ rows = 1, inner = 1, columns = 1 }}
[profiles.p]
minutes = 1
blocks = 1
warm_max_s = {{ java = 0, python = 0 }}
[[cells]]
name = "a"
service = "java"
users = 1
{GOOD}
"""


def parsed(text: str) -> Experiment:
    return experiment.parse(text, Path("mine.toml"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (GOOD.replace("worker-pool", "thread-pool"), "'thread-pool' does not support messages; "),
        (GOOD.replace("200", "low"), "a complexity of messages, a technique and a driver"),
        (GOOD.replace('technique = "function"', ""), "a complexity of messages, a technique"),
        (GOOD.replace("function", "magic"), "technique"),
        (GOOD.replace("worker-pool", "serial") + "pool_threads = 3", "pool_threads: only for"),
        (GOOD.replace("function", "memory") + "instances = 2", "'memory' needs a single process"),
        (GOOD + 'postgres = "fsync off"', "postgres"),
        (GOOD + 'settings = "RESTBENCH_MAX_IN_FLIGHT 5"', "settings"),
        (GOOD + 'settings = "A=1"\nbuild = ["A", "B"]', "both builds have those of the table"),
        (GOOD + 'settings = "A=1,RESTBENCH_POOL_THREADS=5"', "is the factor 'pool_threads'"),
        (GOOD + 'settings = "A=1,RESTBENCH_PROCESSES=2"', "'RESTBENCH_PROCESSES' is not one of"),
        (
            GOOD + '[settings.python]\nRESTBENCH_PROCESES = "2"',
            "'RESTBENCH_PROCESES' is not one of",
        ),
    ],
)
def test_cells_that_cannot_be_are_refused(cells: str, expected: str) -> None:
    assert expected in refused(MINE, GOOD, cells)


def test_several_instances_need_no_front_where_users_go_to_them_by_number() -> None:
    found = parsed(f"{MINE}instances = 2").all_cells()
    assert [(cell.instances, cell.front) for cell in found] == [(2, "none")]


def test_a_setting_of_the_database_is_a_factor_of_a_design() -> None:
    design = (
        '[factorial]\ndesign = "2^k r"\nfixed = { service = "java", strategy = "worker-pool", '
        'technique = "function", complexity = "200" }\n'
        '[factorial.factors]\nusers = [1, 60]\n"postgres.shared_buffers" = ["128MB", "2GB"]\n'
    )
    found = parsed(MINE.replace('views = ["', 'views = ["factorial", "') + design).corners()
    assert [(cell.users, cell.postgres) for cell in found] == [
        (1, "shared_buffers=128MB"),
        (60, "shared_buffers=128MB"),
        (1, "shared_buffers=2GB"),
        (60, "shared_buffers=2GB"),
    ]


def test_a_setting_of_a_service_is_a_factor_of_a_design_beside_one_of_the_database() -> None:
    design = (
        '[factorial]\ndesign = "2^k r"\nfixed = { service = "java", strategy = "worker-pool", '
        'technique = "function", complexity = "200", users = 60, "settings.LOG" = "off" }\n'
        '[factorial.factors]\n"settings.RESTBENCH_MAX_IN_FLIGHT" = [64, 512]\n'
        '"postgres.work_mem" = ["4MB", "8MB"]\n'
    )
    text = MINE.replace('views = ["', 'views = ["factorial", "') + design
    low, high = "LOG=off,RESTBENCH_MAX_IN_FLIGHT=64", "LOG=off,RESTBENCH_MAX_IN_FLIGHT=512"
    found = parsed(text).corners()
    assert [(cell.settings, cell.postgres) for cell in found] == [
        (low, "work_mem=4MB"),
        (high, "work_mem=4MB"),
        (low, "work_mem=8MB"),
        (high, "work_mem=8MB"),
    ]
    assert len({cell.service_group for cell in found}) == 4, "each has processes of its own"
    assert found[0].id.endswith("-function-work_mem=4MB-LOG=off,RESTBENCH_MAX_IN_FLIGHT=64")
    with pytest.raises(BadConfiguration, match=r"allowed are .*postgres\.NAME, settings\.NAME"):
        parsed(text.replace("settings.LOG", "setting.LOG"))
    with pytest.raises(BadConfiguration, match=r"^mine\.toml: .*IN_FLIGT' is not .*_IN_FLIGHT, "):
        parsed(text.replace("IN_FLIGHT", "IN_FLIGT"))


def test_the_settings_of_cells_are_those_that_the_services_read() -> None:
    java = ROOT / "java-service/src/main/java/org/restbench/settings/Settings.java"
    assert {*SETTINGS["java"]} == {*re.findall(r'"(RESTBENCH_\w+)"', java.read_text())}
    python = (ROOT / "python-service/restbench_service/settings.py").read_text()
    fields = python.partition("\nclass Settings:")[2].partition("\n    @")[0]
    names = re.findall(r"^    (\w+): ", fields, re.MULTILINE)
    assert {*SETTINGS["python"]} == {f"RESTBENCH_{each.upper()}" for each in names}


def test_cells_of_several_settings_are_selected_by_these_as_their_names_have_them() -> None:
    """--cells, in which a comma is also what stands between two levels."""
    few, many = "A=1,RESTBENCH_MAX_IN_FLIGHT=64", "A=1,RESTBENCH_MAX_IN_FLIGHT=512"
    found = parsed(f'{MINE}settings = ["{few}", "{many}", "B=1"]\n')
    assert parse_filter(f"settings={many}", found).settings == [many]
    assert parse_filter(f"settings=B=1,{few} users=1", found).settings == ["B=1", few]
    with pytest.raises(BadConfiguration, match="settings: 'A=1' is not in experiment"):
        parse_filter("settings=A=1", found)
