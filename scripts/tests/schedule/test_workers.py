"""Numbers of workers and clients: the published table, connections, claims, and what is shown."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import two_way
from experiment_file import MINIMAL, loaded, refused
from fixture_run import cell
from ports import free_port
from shown_run import page_of, part_of, picture_of, printed
from stated_claims import claim, decided
from synthetic_rows import around, row, with_facts
from trial_run import EXPERIMENT, build
from two_way import FTest

from restbench.analyse.measures import Row
from restbench.analyse.workers import Grid, grids
from restbench.deploy.service import Service, await_workers
from restbench.experiment import claim_file, experiment, selection
from restbench.experiment.statistics import paired_ratio
from restbench.experiment.study import PublishedWorkers
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.judge import claims
from restbench.observe import connections
from restbench.schedule import deployments
from restbench.show import findings
from restbench.show.kinds import workers
from restbench.store import exported
from restbench.store.store import EXPERIMENTS, RESULTS, Run

DEFINITION = experiment.load(EXPERIMENTS / "workers.toml")
assert DEFINITION.workers is not None
PUBLISHED: PublishedWorkers = DEFINITION.workers


def times(*numbers: int) -> list[list[float]]:
    return [PUBLISHED.mean_ms[each] for each in numbers or sorted(PUBLISHED.mean_ms)]


def test_a_published_time_is_held_against_the_best_of_its_clients() -> None:
    assert PUBLISHED.over_best(17, 10) == 1
    assert PUBLISHED.over_best(20, 10) == pytest.approx(6.833 / 7.83)


def test_what_the_published_table_shows_is_said_with_its_faults() -> None:
    whole, less = two_way.of_rows(times()), two_way.of_rows(times(14, 15, 16, 17, 18, 19))

    def told(test: FTest) -> str:
        one, two = test.degrees_of_freedom
        return f"F({one}, {two}) = {test.f:.2f}, p = {test.p_value:.2g}"

    said = " ".join(PUBLISHED.shows)
    assert f"workers {told(whole)}, residual sd {whole.residual_sd:.4f}; " in said
    assert f"without 20 workers {told(less)}." in said
    for one, two in ((17, 16), (20, 17)):
        ratio = paired_ratio(*times(one, two))
        shown = f"{ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
        assert f"{one} over {two} workers takes {shown}" in said
    assert "One run a cell, no interval." in PUBLISHED.faults


def test_what_is_said_of_the_earlier_version_is_what_its_numbers_give() -> None:
    minutes, of_logs, points = 71.6, 459_311, 400
    said = " ".join(PUBLISHED.faults)
    assert f"{minutes} minutes and {of_logs:_} logs".replace("_", " ") in said
    assert f"give {minutes * 60_000 / of_logs:.3f} ms a log, not the 9.505 ms" in said
    assert f"{of_logs / points:.1f} logs a point" in said


@pytest.mark.parametrize(
    ("workers_", "clients", "busy"),
    [
        (17, 2, 1.9412),
        (17, 10, 7.7283),
        (17, 20, 11.9433),
        (5, 2, 1.8),
        (5, 10, 4.4631),
        (5, 5, 3.3616),
    ],
)
def test_by_chance_so_many_workers_have_a_connection(
    workers_: int, clients: int, busy: float
) -> None:
    assert connections.expected_busy(workers_, clients) == pytest.approx(busy, abs=5e-5)


def test_connections_are_counted_where_they_were_accepted() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        port = listener.getsockname()[1]
        ours = os.getpid()
        assert connections.counts(port, [ours], ours) == []
        for _ in range(3):
            stack.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            stack.enter_context(closing(listener.accept()[0]))
        assert connections.counts(port, [os.getppid(), ours], ours) == [3]
        assert connections.counts(port, [2**22 + 1], ours) == [], "of a process that is gone"
        assert connections.counts(port, [ours], os.getppid()) == [], "of another client"


@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="this kernel has no IPv6")
def test_connections_of_a_jvm_are_counted_whose_own_side_is_an_ipv6_socket() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        port = listener.getsockname()[1]
        client = stack.enter_context(closing(socket.socket(socket.AF_INET6)))
        client.connect(("::ffff:127.0.0.1", port))
        stack.enter_context(closing(listener.accept()[0]))
        assert connections.counts(port, [os.getpid()], os.getpid()) == [1]


def test_of_the_connections_the_busiest_worker_has_its_share() -> None:
    assert connections.spread([6, 3, 1]) == {"busy_workers": 3, "busiest_share": 0.6}
    assert connections.spread([]) == {}


def test_ports_that_wait_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = iter([connections.MOST_WAITING + n for n in (1, 0, 0)])
    monkeypatch.setattr(connections, "_waiting", lambda: next(waiting))
    assert connections.await_ports(pause_s=0)
    assert not connections.await_ports(pause_s=0), "there is nothing to wait for"
    assert next(waiting, None) is None


def test_ports_are_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_waiting", lambda: 27_123)
    with pytest.raises(EnvironmentProblem, match="27123 ports are still in TIME-WAIT after 0 s"):
        connections.await_ports(pause_s=0, longest_s=0)


#: Two workers that accept at the same port, the second only after a second.
WORKERS = """
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
late = not os.fork()
time.sleep(late)
kept = []
while True:
    kept.append(listener.accept()[0])
    kept[-1].sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
    time.sleep(0.005)
"""


def test_a_service_is_ready_when_each_of_its_workers_has_answered() -> None:
    port = free_port()
    server = subprocess.Popen([sys.executable, "-c", WORKERS, str(port)], start_new_session=True)
    two = Service("python", f"http://127.0.0.1:{port}", [server])
    try:
        await_workers(two, 1)
        await_workers(two, 2)
        with pytest.raises(EnvironmentProblem, match="2 of 3 workers answer after 3 s"):
            await_workers(two, 3, timeout_s=3.0)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def test_a_cells_workers_and_connections_stand_in_its_id_and_its_service() -> None:
    one = cell("python serial low 10")
    several = cell("python serial low 10 workers=5 connection=each")
    assert several.id == "python-serial-unbound-low-10u-5w-each"
    assert several.service_group.name == "python-unbound-none-5w"
    kept = cell("python serial low 20 workers=5")
    assert several.service_group == kept.service_group != one.service_group
    given = {"RESTBENCH_WORKERS": "5", "RESTBENCH_STRATEGIES": "serial"}
    assert deployments._of_factors(several.service_group) == given
    assert deployments._of_factors(one.service_group) == {}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("users = [1, 2]", "users = 1\nworkers = 2", "more than 1 are only for python with strat"),
        (
            'service = "java"\nstrategy = ["serial", "pinned"]',
            'service = "python"\nstrategy = "serial"\nworkers = 2\nframework = "aiohttp"',
            "and a framework of fastapi-gunicorn, flask, flask-granian, rsgi",
        ),
        ("users = [1, 2]", "users = 1\nconnection = 'none'", "Input should be 'kept' or 'each'"),
        ("seed = 3", 'seed = 3\nviews = ["workers"]', "'workers' and a table"),
    ],
)
def test_workers_that_cannot_be_are_refused(old: str, new: str, told: str) -> None:
    assert told in refused(MINIMAL, old, new)


@pytest.mark.parametrize(("cores", "advised", "sizes"), [(1, 3, (80, 72)), (2, 5, (120, 112))])
def test_the_claims_are_about_cells_of_the_reference_profile_whatever_cores_there_are(
    cores: int, advised: int, sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "allowed_cores", lambda: tuple(range(cores)))
    definition = experiment.load(EXPERIMENTS / "workers.toml")
    claims = claim_file.load(EXPERIMENTS / "claims" / "workers.toml")
    measured, quick = (
        {cell for cell in definition.all_cells() if definition.profile(name).measures(cell)}
        for name in ("reference", "quick")
    )
    assert {each for of in claims.claims for each in of.cells} <= measured
    assert (len(measured), len(quick)) == sizes
    for question in claims.claims[0].parts[0].questions():
        assert {each.workers for each in question.numerator.cells} == {advised}
        assert len({*question.denominator.cells}) == len(question.denominator.cells)


def test_a_run_is_read_with_its_own_cores_wherever_that_is(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(RESULTS / "workers")
    told = exported.read(run.exported_file)
    monkeypatch.setattr(selection, "allowed_cores", lambda: tuple(range(8)))
    its = [(each.id, each.verdict) for each in claims.decisions_of(told)]
    assert its == [(each.id, each.verdict) for each in told.claims]
    defined = findings.of(told, run).definition.all_cells()
    assert max(each.workers for each in defined) == 2 * 2 + 4


def test_a_small_matrix_and_nginx_have_a_profile_and_names_of_their_own() -> None:
    profile = DEFINITION.profile("wide")
    wide = [cell for cell in DEFINITION.all_cells() if profile.measures(cell)]
    kinds = {(each.complexity, each.front) for each in wide}
    assert kinds == {("low", "none"), ("low", "nginx"), ("logs-one", "nginx")}
    its = grids([Row(each, None, (), ()) for each in wide], cores=2)
    assert {each.framework for each in wide} == {"fastapi-gunicorn", "flask"}
    # By framework and kind of connection.
    assert len({workers.name(each) for each in its}) == len(its) == 4 * len(kinds)


@pytest.mark.parametrize(
    ("text", "count"), [("cores", 2), ("cores+1", 3), ("2*cores", 4), ("2*cores+4", 8)]
)
def test_a_number_may_be_one_of_cores(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(selection, "allowed_cores", lambda: (0, 1))
    given = MINIMAL.replace("users = [1, 2]", f'users = "{text}"')
    assert {each.users for each in loaded(tmp_path, given).all_cells()} == {count}
    with pytest.raises(BadConfiguration, match=r"users\.0: Input should be a valid integer"):
        loaded(tmp_path, given.replace(text, f"{text}*3"))


BEST = 'metric = "throughput_per_s"\nexpect = "not less"\nmargin = 0.0526\nleft_out = {}\n'
BEST += 'cells = {{ service = "python", strategy = "serial", complexity = "low", users = 10 }}\n'
BEST += "numerator = {{ workers = 5 }}\ndenominator_best = {{ workers = [1, 2, 3, 5] }}"
#: Of `test_comparison`.
BLOCKS = {
    1: [100.0, 101, 99, 102, 100],
    2: [118.0, 117, 120, 119, 116],
    3: [121.0, 118, 119, 122, 120],
    5: [119.0, 120, 118, 117, 119],
}


def measured(blocks: int = 5) -> list[Row]:
    return [
        row(f"python serial low 10 workers={count}", values[:blocks])
        for count, values in BLOCKS.items()
    ]


def test_a_claim_holds_a_number_of_workers_against_what_the_other_blocks_pick() -> None:
    found = decided(claim(BEST.format("true")), measured())
    (part,) = found.parts
    assert part.comparison.ratio is not None
    assert part.comparison.estimate == pytest.approx(0.988365, abs=5e-7)
    assert part.comparison.ratio.low == pytest.approx(0.962899, abs=5e-7)
    assert "chosen by the other blocks" in part.label
    assert found.verdict == "reproduced"
    one = decided(claim(BEST.format("true")), measured(blocks=1))
    assert "two blocks with all candidates" in one.why


def grid(cores: int = 2) -> Grid:
    (found,) = grids(measured(), cores)
    return found


def test_a_grid_has_the_ratio_to_the_best_of_a_column_and_what_is_alike() -> None:
    found = grid()
    assert found.advised == 5
    assert found.users == [10]
    shares = [found.over_best(each) for each in found.rows]
    assert shares[2] == 1
    assert shares[0] == pytest.approx(502 / 600)
    assert found.alike(10) == [2, 3, 5]
    assert "10 users: 2, 3, 5." in workers.sentences(found)[0]
    assert "is not fitted: 1 levels, 6 are needed" in workers.sentences(found)[1]


def test_the_sentence_has_the_numbers_that_do_for_all_users_and_where_there_is_none() -> None:
    slow, fast = BLOCKS[1], BLOCKS[5]
    kept = {1: (slow, fast), 10: (slow, fast)}
    new = {1: (fast, slow), 10: (slow, fast)}
    rows = [
        row(f"python serial low {users} workers={workers}{connection}", values)
        for connection, loads in (("", kept), (" connection=each", new))
        for users, of in loads.items()
        for workers, values in zip((1, 5), of, strict=True)
    ]
    assert workers.sentence(grids(rows, 2)) == (
        "From 1 to 10 users no number of workers is shown to be faster than 5 in flask with kept "
        "connections. In flask with new connections the best number depends on the number of users."
    )
    behind = [row(f"python serial medium 10 workers={n} front=nginx", BLOCKS[n]) for n in (3, 5)]
    assert workers.sentence(grids([*rows[:4], *behind], 2)).endswith(
        "faster than 5 in flask with kept connections at low and 3 or 5 in flask behind nginx "
        "with kept connections at medium."
    )


def test_a_cell_that_failed_does_not_make_the_others_ones_of_no_block() -> None:
    gone = row("python serial low 10 workers=8")
    assert "the best one over 5 blocks: paired t" in workers.sure(grids([*measured(), gone], 2))


def test_numbers_of_one_worker_alone_are_no_grid() -> None:
    assert grids([row("python serial low 10", around(100.0))], 2) == []


def test_a_cell_whose_kept_connections_were_drawn_too_rarely_is_marked() -> None:
    drawn = with_facts(row("python serial low 10 workers=5", around(100.0)), trials=8)
    spread = with_facts(drawn, extras={"busy_workers": 4.0})
    rarely = with_facts(spread, trials=[9, 7, 9, 9, 9])
    assert (drawn.flags, spread.flags, rarely.flags) == ((), (), ("few-draws",))
    assert with_facts(rarely, extras={}).flags == (), "of one worker, or of new connections"


TABLE = f"""
[workers]
source = "a study"
cores = 8
clients = {PUBLISHED.clients}
shows = {PUBLISHED.shows}
[workers.mean_ms]
"""
TABLE += "\n".join(f"{count} = {values}" for count, values in PUBLISHED.mean_ms.items())
FILE = (
    EXPERIMENT.replace('claims = "claims.toml"\n', 'views = ["study", "workers"]\n')
    .replace('service = "java"', 'service = "python"')
    .replace('["serial", "pinned"]', '"serial"\nworkers = [1, 2, 3, 5]\nconnection = "each"')
    + TABLE
)


def test_the_page_has_heat_maps_the_set_and_the_published_ratios(tmp_path: Path) -> None:
    per_s = {
        f"python serial low 10 workers={count} connection=each": values
        for count, values in BLOCKS.items()
    }
    run = build(tmp_path / "run", per_s, experiment=FILE)
    page, text = page_of(run), printed(run)
    said = (
        "With 10 users no number of workers is shown to be faster than 2, 3 or 5 in flask with new "
        "connections."
    )
    assert said in part_of(page, "answer")
    assert picture_of(page) == "workers-flask-low-each"
    assert re.search(r"^ +3 +≈ 120 ± \d", text, re.MULTILINE), text
    assert re.search(r"^ +1 +100 ± \d", text, re.MULTILINE), text
    part = part_of(page, "workers")
    best = "flask, low, connections each: workers that cannot be distinguished from the best"
    assert best in part
    assert "2·cores +1" in part
    assert "1.00" in part
    assert "20 is worse, not that 17 is best" in part
    assert "Framed: 2·cores + 1 = 5 workers." in page
    assert "strongest from 95 % on" in page, "which is light in the dark scheme"
