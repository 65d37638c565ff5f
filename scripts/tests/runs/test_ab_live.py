"""`restbench ab` with JMeter, on two commits of a tiny repository whose services are stubs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import stub_cli
from command_line import restbench
from small_repository import Repository, made
from stub_bench import Bench, Ran

from restbench.show.charts import theme
from restbench.store import exported

pytestmark = pytest.mark.live

THRESHOLDS = """
[thresholds]
throughput_ratio_min = 0.9
"""


@dataclass
class Compared(Ran):
    """A bench after one comparison of two commits."""

    repository: Repository
    commits: tuple[str, str]


def experiment_of(bench: Bench, minutes: float) -> str:
    """Two cells of the stub in both builds, three blocks."""
    names = {"java": ["serial", "pinned"]}
    path = Path(bench.experiment(names, extra=THRESHOLDS, minutes=minutes, blocks=3))
    text = path.read_text().replace("[profiles.p]", "[profiles.quick]")
    text = text.replace("seed = 3", 'seed = 3\nviews = ["study", "builds"]')
    path.write_text(text.replace("users = 2", 'users = 2\nbuild = ["A", "B"]'))
    return str(path)


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """The second commit's `serial` takes 50 ms more a request."""
    bench = Bench(tmp_path_factory.mktemp("slower"))
    repository = made(bench.folder / "repository")
    commits = repository.commit(), repository.commit(faults={"serial": "slow"})
    files = ["--junit", str(bench.folder / "junit.xml"), "--summary", str(bench.folder / "s.md")]
    where = ["--experiment", experiment_of(bench, 0.25), *files]
    done = bench.restbench("ab", "HEAD~", "HEAD", *where, STUB_REPOSITORY=str(repository.path))
    return Compared(bench, done, repository, commits)


def test_a_build_that_is_really_slower_ends_with_exit_code_6_and_names_its_cells(
    slower: Compared,
) -> None:
    assert slower.done.returncode == 6, slower.done.stdout + slower.done.stderr
    (line,) = slower.done.stderr.strip().splitlines()
    assert line.endswith("beyond the thresholds in 1 cell: java-serial-unbound-tiny-2u")
    first, second = slower.commits
    said = f"B, HEAD ({second[:7]}), compared with A, HEAD~ ({first[:7]}): beyond"
    assert said in slower.done.stdout


def test_both_builds_are_measured_in_the_same_blocks_interleaved(slower: Compared) -> None:
    trials = [each for each in slower.bench.latest.trials.trials() if not each.arm]
    for block in (1, 2, 3):
        order = [each.cell[-1] for each in trials if each.block == block]
        assert set(order) == {"A", "B"}
        assert sum(one != two for one, two in pairwise(order)) > 2
    again = {each.block for each in slower.bench.latest.trials.trials() if each.arm}
    assert again == {1, 2, 3}, "the A/A arm"


def test_the_run_says_what_was_built_and_its_files_say_what_came_of_it(slower: Compared) -> None:
    read = exported.read(slower.bench.latest.exported_file)
    commits = tuple(each.git_commit for each in read.manifest.builds.values())
    assert commits == slower.commits
    assert {each.build for each in read.proofs} == {"A", "B"}
    (suite,) = ET.parse(slower.bench.folder / "junit.xml").getroot()  # noqa: S314 - it is ours
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert (slower.bench.folder / "s.md").read_text().startswith("B, HEAD (")
    assert 'id="builds"' in slower.bench.latest.report.read_text()


def test_nothing_is_left_of_it_and_the_tables_are_made_again(
    slower: Compared, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert slower.repository.worktrees() == []
    assert slower.bench.left_running() == []
    before = slower.bench.latest.report.read_text()
    monkeypatch.setattr(theme, "library", stub_cli.no_library)
    done = restbench("report", str(slower.bench.latest.path))
    assert done.returncode == 0, done.stderr
    assert slower.bench.latest.report.read_text() == before
    refused = restbench("extend", str(slower.bench.latest.path))
    assert refused.returncode == 2
    assert "its builds no longer exist" in refused.stderr


def test_a_cell_of_one_build_alone_is_refused_in_a_line(tmp_path: Path) -> None:
    path = experiment_of(Bench(tmp_path), 0.5)
    half = restbench("ab", "HEAD", ".", "--experiment", path, "--cells", "build=A")
    assert half.returncode == 2
    assert "is in one build only" in half.stderr
    assert len(half.stderr.strip().splitlines()) == 1
