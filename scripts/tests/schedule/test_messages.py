"""Messages in queues: what is sent, what the checks of a trial find, what pgbench is given, and how
an experiment of them is written."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast
from unittest.mock import MagicMock

import numpy as np
import pytest

from restbench.deploy.database import Database
from restbench.drive import messages, pgbench
from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG, Mark, Sent
from restbench.drive.messages import EMPTY, POP, SEND
from restbench.experiment import claim_file, experiment
from restbench.experiment.cell import STRATEGIES, TAKING_MESSAGES, Cell
from restbench.experiment.experiment import Experiment
from restbench.experiment.level import Messages
from restbench.experiment.order import plan
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.prove import messages as proofs
from restbench.schedule import deployments
from restbench.schedule.databases import Store
from restbench.schedule.messages import AT_RATE, PGBENCH, MessagesDriver, MessagesRun
from restbench.schedule.pace import Pace, Planned, TrialGroup
from restbench.store.store import EXPERIMENTS

USER = 1_000_000_000
NAMES = ("messages", "messages-threads", "messages-factorial", "messages-fraction")
HUNDRED = Messages(characters=200)
IDS = range(7, 107)


class Did(NamedTuple):
    """One request of a load."""

    kind: int
    token: int = 0
    outcome: int = CORRECT
    status: int = 200


def broken(*did: Did, filled: int = 0, left: int = 0) -> dict[str, int]:
    records = np.zeros(len(did), RECORD)
    for record, each in zip(records, did, strict=True):
        for name, value in each._asdict().items():
            record[name] = value
    return messages.violations(records, filled, left)


X, Y = USER + 1, 2 * USER + 1


@pytest.mark.parametrize(
    ("did", "filled", "left", "expected"),
    [
        ([Did(SEND, X), Did(POP, X)], 0, 0, {}),
        ([Did(POP, 3), Did(SEND, X)], 3, 3, {}),
        ([Did(SEND, X), Did(EMPTY)], 0, 1, {}),
        ([Did(SEND, X), Did(POP, X), Did(POP, X)], 1, 0, {"R2 duplicated": 1}),
        ([Did(POP, Y), Did(SEND, X)], 0, 0, {"R3 invented": 1}),
        ([Did(POP, 4)], 3, 2, {"R3 invented": 1}),
        ([Did(SEND, X, ERROR, 422), Did(POP, X)], 1, 0, {"R3 invented": 1}),
        ([Did(SEND, X, ERROR, 503), Did(POP, X)], 0, 0, {}),
        ([Did(SEND, X, ERROR, 0), Did(POP, X)], 1, 0, {}),
        ([Did(SEND, X), Did(POP, 0, WRONG)], 0, 1, {"R4 altered": 1}),
        ([Did(SEND, X), Did(POP, X, WRONG)], 0, 1, {"R5 misrouted": 1}),
        ([Did(SEND, X), Did(SEND, Y)], 0, 1, {"R8 count": 1}),
        ([Did(SEND, X), Did(POP, X), Did(POP, 0, ERROR, 503)], 5, 4, {}),
        ([Did(SEND, X), Did(POP, X), Did(POP, 0, ERROR, 503)], 5, 3, {"R8 count": 1}),
        ([Did(SEND, X, WRONG)], 0, 0, {"not an answer": 1}),
    ],
)
def test_a_trial_breaks_the_rules_that_it_breaks_and_no_other(
    did: list[Did], filled: int, left: int, expected: dict[str, int]
) -> None:
    assert broken(*did, filled=filled, left=left) == expected


def test_a_body_proves_itself_and_has_the_characters_of_its_level() -> None:
    level = Messages(characters=200, queues=3, filled=10)
    found = messages.prefilled(level, 1)
    assert [queue for queue, _ in found] == [2, 3, 1, 2, 3, 1, 2, 3, 1, 2]
    for number, (queue, text) in enumerate(found, start=1):
        assert len(text) == 200
        assert text.startswith(f"{queue:06d}.0000.{number:09d} ")
        assert text[-8:] == f"{zlib.crc32(text[:-8].encode()):08x}"
    assert len({text for _, text in found}) == 10
    assert messages.prefilled(level, 1) == found != messages.prefilled(level, 2)


def test_bodies_cannot_be_compressed_away() -> None:
    text = messages.filler(1, 200).encode()
    assert len(zlib.compress(text)) > 0.7 * len(text)


def test_the_load_generator_is_told_a_users_round(tmp_path: Path) -> None:
    (said, filler) = messages.files_of(Messages(characters=64, load="study"), 1, tmp_path).items()
    assert said == (
        tmp_path / "messages.properties",
        "queues=100\ncharacters=64\nsends=2\nkeys=false\n",
    )
    assert len(filler[1]) > 64


def test_stages_are_told_by_kind_and_add_up_to_the_latency() -> None:
    records = np.zeros(3, RECORD)
    records["kind"], records["elapsed_us"] = [SEND, POP, POP], [2000, 4000, 6000]
    records["stages_ms"] = [[0.1, 0.2, 1.0, 0.3, 0.2, 0.7]] * 3
    records["outcome"][2] = ERROR
    found = messages.means(records)
    assert found["send_ms"] == pytest.approx(2)
    assert found["pop_ms"] == pytest.approx(4), "an error is none"
    assert found["pop_network_ms"] == pytest.approx(4 - 1.6)
    assert found["database_ms"] == pytest.approx(0.7)
    assert found["send_half_ms"] == pytest.approx(1)
    assert found["send_database_points"] == pytest.approx(np.exp(0.35))


def test_what_the_database_took_is_over_what_was_answered_while_it_was_counted() -> None:
    records = np.zeros(4, RECORD)
    records["start_us"], records["elapsed_us"] = [0, 90_000, 150_000, 150_000], 20_000
    records["outcome"][3] = ERROR
    begun = Mark(0, 5000, 0, 0, 0, 0)
    sent = Sent(begun, begun, begun, ("send", "pop"), "", records)
    assert messages.right_since(sent, 5100.0) == 2
    assert messages.right_since(sent, 5200.0) == 0


def test_a_service_that_tells_no_stages_has_latencies_alone() -> None:
    records = np.zeros(1, RECORD)
    records["elapsed_us"], records["stages_ms"] = 1000, np.nan
    assert messages.means(records) == pytest.approx({"send_ms": 1.0, "send_half_ms": 0.5})


def test_pgbench_sends_the_contracts_own_statements() -> None:
    (text,) = pgbench.scripts("skip-locked", HUNDRED, IDS).values()
    assert text.count("\\set queue_id random(7, 106)\n") == 1
    assert "INSERT INTO messages.message" in text
    assert "FOR UPDATE SKIP LOCKED" in text
    assert text.count(";\n") == 2
    (study,) = pgbench.scripts("skip-locked", Messages(characters=64, load="study"), IDS).values()
    assert study.count("INSERT INTO messages.message") == 2


@pytest.mark.parametrize("technique", sorted(set(proofs.CLAIMS) - {"memory"}))
def test_every_technique_has_a_script_whose_parameters_are_all_given(technique: str) -> None:
    given = {"queue_id", "receiver", "sender", "client", "body", "popped_id"}
    for text in pgbench.scripts(technique, HUNDRED, IDS).values():  # type: ignore[arg-type]
        assert set(pgbench._NAME.findall(text)) <= given
        assert text.startswith("\\set queue_id")


def test_techniques_keep_their_round_trips_under_pgbench() -> None:
    (statements,) = pgbench.scripts("statements", HUNDRED, IDS).values()
    sent, popped = statements.split("BEGIN;\n")[1:]
    assert sent.startswith("INSERT") and sent.endswith("COMMIT;\n")
    assert popped.startswith("SELECT") and popped.endswith("COMMIT;\n")
    assert "\\aset popped_" in statements
    assert "id = :popped_id" in statements
    (advisory,) = pgbench.scripts("advisory", HUNDRED, IDS).values()
    assert "pg_advisory_xact_lock(:queue_id)" in advisory
    # A script is tried again as a whole: a send must not be sent twice.
    tried = pgbench.scripts("repeatable-read", HUNDRED, IDS)
    assert list(tried) == ["send.sql@1", "pop.sql@1"]
    assert "INSERT" not in tried["pop.sql@1"]


WORDS = """\
transaction type: round.sql
number of transactions actually processed: 500
number of failed transactions: 3 (0.597%)
latency average = 4.000 ms
initial connection time = 9.1 ms
tps = 1000.500000 (without initial connection time)
"""


def test_a_round_of_pgbench_is_as_many_operations() -> None:
    begun = {"cpu_ms": 4.0, "wal_kib": 30.0, "generator_ms": 2.0}
    whole = {"cpu_ms": 100.0, "wal_kib": 2000.0, "generator_ms": 50.0}
    connected = WORDS.replace("processed: 500", "processed: 20/20"), begun
    found = pgbench._read(connected, (WORDS, whole), 2)
    assert (found.per_s, found.latency_ms) == (2001.0, 2.0)
    assert (found.database_ms, found.generator_ms, found.failed) == (0.1, 0.05, 3)
    assert found.wal_kib == 2.0, "the begin has none of it"


def test_what_pgbench_says_without_a_number_is_its_error() -> None:
    with pytest.raises(EnvironmentProblem, match="pgbench says: pgbench: error: no such role"):
        pgbench._read((WORDS, {}), ("pgbench: error: no such role", {}), 2)


@pytest.fixture(params=NAMES)
def each(request: pytest.FixtureRequest) -> Experiment:
    return experiment.load(EXPERIMENTS / f"{request.param}.toml")


def test_every_experiment_of_messages_has_a_plan_in_each_of_its_profiles(each: Experiment) -> None:
    for name in each.profiles:
        found = plan(each, each.profile(name), Where())
        assert found, name
        assert {cell.cell.strategy for cell in found} <= TAKING_MESSAGES


@pytest.mark.parametrize("name", ["messages", "messages-threads"])
def test_claims_of_messages_are_about_cells_that_are_measured(name: str) -> None:
    definition = experiment.load(EXPERIMENTS / f"{name}.toml")
    claims = claim_file.load(EXPERIMENTS / "claims" / f"{name}.toml")
    known = set(definition.all_cells())
    lacking = {cell.id for each in claims.claims for cell in each.cells} - {
        cell.id for cell in known
    }
    assert lacking == set()


def test_every_claim_of_the_study_is_decided_by_an_experiment() -> None:
    claims = claim_file.load(EXPERIMENTS / "claims" / "messages.toml").claims
    assert [each.id for each in claims] == [f"M{n}" for n in range(1, 13)]
    assert all("Study:" in each.reading for each in claims)
    there = {each.id for each in claims if each.experiment == "messages-threads"}
    others = claim_file.load(EXPERIMENTS / "claims" / "messages-threads.toml").claims
    assert {each.id for each in others} == there == {"M4", "M5", "M10"}


def test_every_technique_is_measured_in_both_services_and_proven() -> None:
    cells = experiment.load(EXPERIMENTS / "messages.toml").all_cells()
    for service in STRATEGIES:
        measured = {cell.technique for cell in cells if cell.service == service}
        assert measured == set(proofs.CLAIMS)
    pinned = next(cell for cell in cells if cell.strategy == "pinned")
    assert [each.name for each in proofs.of(pinned)] == [
        "technique skip-locked",
        "connections of pinned",
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


def test_a_thread_has_a_connection_where_nothing_else_is_said() -> None:
    usual = Cell(service="java", strategy="worker-pool", complexity="200", users=1)

    def settings(**levels: int) -> dict[str, str]:
        return deployments._of_factors(usual.model_copy(update=levels).service_group)

    threads, connections = "RESTBENCH_POOL_THREADS", "RESTBENCH_DATABASE_CONNECTIONS"
    assert settings() == {}
    assert settings(pool_threads=5) == {threads: "5", connections: "5"}
    assert settings(pool_threads=5, connections=3) == {threads: "5", connections: "3"}
    assert settings(connections=3) == {connections: "3"}


def test_each_limit_that_cells_need_is_measured_once_among_their_rounds() -> None:
    definition = experiment.load(EXPERIMENTS / "messages.toml")
    wanted = Where(users=[10], complexity=["200", "keyed"])
    cells = [cell for cell in definition.all_cells() if wanted.matches(cell)]
    here = SimpleNamespace(
        order=SimpleNamespace(experiment=definition, profile=SimpleNamespace(blocks=3)),
        block=1,
        wanted=SimpleNamespace(groups=[TrialGroup("rest", tuple(cells))], needed=frozenset()),
        lost={},
        progress=SimpleNamespace(planned=0),
        level=lambda cell: definition.messages(cell.complexity),
        file=SimpleNamespace(events=list),
    )
    driver = MessagesDriver(cast(MessagesRun, here))
    driver.paces = {cell: Pace(0.01, users=cell.users, is_mix=True) for cell in cells}
    planned = [each for turn in driver.rounds(60.0) for each in turn]
    at_rate = {each.cell for each in planned if each.arm == AT_RATE}
    wanted = Where(
        complexity=["200"], strategy=["worker-pool"], technique=["skip-locked", "statements"]
    )
    assert at_rate == {each for each in cells if wanted.matches(each)}
    limits = [each.cell.technique for each in planned if each.arm == PGBENCH]
    assert sorted(limits) == sorted(set(proofs.CLAIMS) - {"memory"})
    assert {each.cell for each in planned if each.arm not in (PGBENCH, AT_RATE)} == set(cells)
    assert here.progress.planned == len(planned)


def test_a_limit_that_is_not_found_costs_no_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise EnvironmentProblem("pgbench, function: too many clients")

    monkeypatch.setattr(pgbench, "load", refused)
    cell = Cell(
        service="java", strategy="worker-pool", complexity="200", users=1, technique="function"
    )
    queues = SimpleNamespace(fill=lambda *_: None, ids=IDS)
    store = SimpleNamespace(of=lambda _: queues, database=None, owner=None)
    notes: list[tuple[object, ...]] = []
    here = SimpleNamespace(
        order=SimpleNamespace(experiment=SimpleNamespace(seed=1)),
        run=SimpleNamespace(cores=lambda: SimpleNamespace(shared=True)),
        stores={"": store},
        level=lambda _: HUNDRED,
        load=SimpleNamespace(folder=tmp_path),
        note=lambda *said: notes.append(said),
    )
    limit = Planned(PGBENCH, 1, cell, PGBENCH)
    assert MessagesDriver(cast(MessagesRun, here)).trial(limit) is None
    assert notes == [("no-limit", "pgbench, function: too many clients", cell)]


def test_pgbench_is_held_to_a_cells_own_rate_on_as_many_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, object] = {}

    def load(*_: object, **named: object) -> pgbench.Load:
        given.update(named)
        return pgbench.Load(500.0, 1.0, 0.4, 0.3, 0.1, 0)

    monkeypatch.setattr(pgbench, "load", load)
    cell = Cell(
        service="java", strategy="worker-pool", complexity="200", users=10, technique="function"
    )
    other = cell.model_copy(update={"service": "python"})
    tried: dict[str, tuple[int, float]] = {}
    facts: dict[str, dict[str, dict[str, float]]] = {}
    here = SimpleNamespace(
        order=SimpleNamespace(experiment=SimpleNamespace(seed=1)),
        run=SimpleNamespace(cores=lambda: SimpleNamespace(shared=True)),
        stores={"": SimpleNamespace(of=lambda _: MagicMock(), database=None)},
        block=1,
        level=lambda _: HUNDRED,
        load=SimpleNamespace(folder=tmp_path),
        file=SimpleNamespace(
            fact=lambda _block, name, value: facts.update({name: value}), tried=lambda: tried
        ),
    )
    driver = MessagesDriver(cast(MessagesRun, here))
    driver.paces = {each: Pace(0.02, users=10, is_mix=True) for each in (cell, other)}
    assert driver.trial(Planned(AT_RATE, 1, cell, AT_RATE)) is None
    assert (given["connections"], given["per_s"]) == (20, 500.0)
    tried[cell.id] = 1, 0.01
    assert driver.trial(Planned(AT_RATE, 1, cell, AT_RATE)) is None
    assert given["per_s"] == 1000.0, "as its trials say"
    assert [*facts["extras"]] == [cell.id]
    assert facts["extras"][cell.id]["pgbench_at_rate_database_cpu_ms"] == 0.4
    assert driver.trial(Planned(PGBENCH, 1, cell, PGBENCH)) is None
    assert (given["connections"], given["per_s"]) == (10, None)
    assert [*facts["extras"]] == [cell.id, other.id]


def test_ids_of_a_techniques_queues_have_no_gaps_whatever_is_filled_first() -> None:
    owner = MagicMock()
    owner.execute.return_value.fetchone.side_effect = [(number,) for number in range(1, 999)]
    store = Store(cast(Database, None), owner, owner, most=100)
    one = Cell(service="java", strategy="serial", complexity="200", users=1, technique="function")
    other = Cell(service="java", strategy="serial", complexity="200", users=1, technique="blocking")
    for cell, queues in ((one, 1), (other, 100), (one, 100)):
        store.of(cell).fill(Messages(characters=200, queues=queues), 1)
    for cell in (one, other):
        first, ids = store.of(cell).ids[0], [*store.of(cell).ids]
        assert ids == [*range(first, first + 100)]


def file_of(tmp_path: Path, cells: str, more: str = "") -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ntitle = "t"\nseed = 1\ndriver = "messages"\nviews = ["messages"]\n'
        f"{more}\n[complexities]\n200 = {{ characters = 200 }}\n"
        "low = { rows = 1, inner = 1, columns = 1 }\n"
        "[profiles.p]\nminutes = 1\nblocks = 1\nwarm_max_s = { java = 0, python = 0 }\n"
        f'[[cells]]\nname = "a"\nservice = "java"\nusers = 1\n{cells}\n'
    )
    return path


GOOD = 'strategy = "worker-pool"\ncomplexity = "200"\ntechnique = "function"\n'


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (GOOD.replace("worker-pool", "thread-pool"), "'thread-pool' takes no messages; allowed"),
        (GOOD.replace("200", "low"), "a complexity of messages, a technique and a driver"),
        (GOOD.replace('technique = "function"', ""), "a complexity of messages, a technique"),
        (GOOD.replace("function", "magic"), "technique"),
        (GOOD.replace("worker-pool", "serial") + "pool_threads = 3", "pool_threads: are those of"),
        (GOOD.replace("function", "memory") + "instances = 2", "'memory' is in one process"),
        (GOOD + 'postgres = "fsync off"', "postgres"),
    ],
)
def test_cells_that_cannot_be_are_refused(tmp_path: Path, cells: str, expected: str) -> None:
    with pytest.raises(BadConfiguration, match=expected):
        experiment.load(file_of(tmp_path, cells))


def test_several_instances_need_no_front_where_users_go_to_them_by_number(tmp_path: Path) -> None:
    found = experiment.load(file_of(tmp_path, GOOD + "instances = 2")).all_cells()
    assert [(cell.instances, cell.front) for cell in found] == [(2, "none")]


def test_a_setting_of_the_database_is_a_factor_of_a_design(tmp_path: Path) -> None:
    design = (
        '[factorial]\ndesign = "2^k r"\nfixed = { service = "java", strategy = "worker-pool", '
        'technique = "function", complexity = "200" }\n'
        '[factorial.factors]\nusers = [1, 60]\n"postgres.shared_buffers" = ["128MB", "2GB"]\n'
    )
    path = file_of(tmp_path, GOOD, design)
    path.write_text(path.read_text().replace('views = ["', 'views = ["factorial", "'))
    found = experiment.load(path).corners()
    assert [(cell.users, cell.postgres) for cell in found] == [
        (1, "shared_buffers=128MB"),
        (60, "shared_buffers=128MB"),
        (1, "shared_buffers=2GB"),
        (60, "shared_buffers=2GB"),
    ]
