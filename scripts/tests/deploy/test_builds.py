"""Commits built in worktrees of their own: by their own make, refused where they cannot, and gone
at the end. The repository of these tests is a tiny one, its services are stubs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_repository import MAKEFILE, Repository, made
from waiting import await_true

from restbench.deploy import builds
from restbench.experiment.order import BuiltCheckout
from restbench.failures import BadConfiguration, EnvironmentProblem

WANTED: dict[builds.ServiceName, dict[str, str]] = {"java": {}}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    found = made(tmp_path / "repository")
    monkeypatch.setattr(builds, "REPOSITORY", found.path)
    return found


@contextmanager
def built(first: str, second: str) -> Iterator[tuple[dict[builds.Build, BuiltCheckout], list[str]]]:
    """Both, and the notes."""
    notes: list[str] = []
    with builds.built(builds.resolved({"A": first, "B": second}), WANTED, notes.append) as found:
        yield found, notes


def test_each_commit_is_built_in_its_own_worktree_and_started_by_its_own_command(
    repository: Repository,
) -> None:
    one = repository.commit()
    two = repository.commit(faults={"serial": "slow"})

    with built("HEAD~", "HEAD") as (found, notes):
        assert [found[name].commit.git_commit for name in ("A", "B")] == [one, two]
        assert found["A"].path != found["B"].path
        assert all((each.path / ".venv/bin/restbench").exists() for each in found.values())
        assert found["A"].commands["java"][1] == "STUB_FAULTS={}"
        assert found["B"].commands["java"][1] == 'STUB_FAULTS={"serial": "slow"}'
        assert found["B"].commands["java"][-1] == "java"
        assert len(repository.worktrees()) > 2
    assert notes == [f"build A: HEAD~ ({one[:7]})", f"build B: HEAD ({two[:7]})"]
    assert repository.worktrees() == []


def test_two_names_of_one_commit_are_one_build_under_both(repository: Repository) -> None:
    repository.commit()
    with built("HEAD", "HEAD~0") as (found, notes):
        assert len(notes) == 1
        assert [found[name].commit.asked for name in ("A", "B")] == ["HEAD", "HEAD~0"]
        assert found["A"].path == found["B"].path


def test_the_working_tree_is_built_as_it_is_and_stays(repository: Repository) -> None:
    repository.commit()
    (repository.path / "Makefile").write_text(MAKEFILE + "# changed\n")

    with built("HEAD", ".") as (found, _):
        assert found["B"].path == repository.path
        assert str(found["B"].commit).endswith(" with local changes)")
    assert (repository.path / ".venv/bin/restbench").exists()


@pytest.mark.parametrize(
    ("makefile", "first", "refusal"),
    [
        ("all:\n\ttrue\n", "HEAD", r"HEAD \(\w{7}\) is older than 'restbench ab': its Makefile"),
        (MAKEFILE, "no-such", "'no-such' is no commit of .*git fetch --unshallow"),
        (MAKEFILE, "--upload-pack=x", "'--upload-pack=x' is no commit of"),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_line_before_anything_is_made(
    repository: Repository, makefile: str, first: str, refusal: str
) -> None:
    repository.commit(makefile)
    with pytest.raises(BadConfiguration, match=refusal) as refused, built(first, "HEAD"):
        pass
    assert "\n" not in str(refused.value)
    assert repository.worktrees() == []


def test_a_build_that_fails_shows_the_end_of_its_output_and_leaves_no_worktree(
    repository: Repository,
) -> None:
    repository.commit("services:\n\t@echo no compiler here; exit 1\n")
    told = "'make services' failed with exit code 2"
    with pytest.raises(EnvironmentProblem, match=told) as said, built("HEAD", "HEAD"):
        pass
    assert "no compiler here" in str(said.value)
    assert repository.worktrees() == []


def test_a_checkout_that_tells_no_command_line_is_named(repository: Repository) -> None:
    repository.commit("services:\n\tmkdir -p .venv/bin; cp /bin/false .venv/bin/restbench\n")
    told = "'restbench command java' printed no command line"
    with pytest.raises(EnvironmentProblem, match=told), built("HEAD", "HEAD"):
        pass


def test_an_interruption_removes_the_worktrees(repository: Repository) -> None:
    repository.commit()
    with pytest.raises(KeyboardInterrupt), built("HEAD", "HEAD"):
        raise KeyboardInterrupt
    assert repository.worktrees() == []


def test_worktrees_of_a_killed_harness_are_swept_and_those_of_a_living_one_are_not(
    repository: Repository,
) -> None:
    repository.commit()
    namespace = builds.watch.mark().split("-")[2]
    folder = repository.path / ".cache" / "ab"
    gone, other = folder / f"1-0-{namespace}-0123", folder / "1-0-0-0123"
    for each in (gone, other):
        each.mkdir(parents=True)
        repository.git("worktree", "add", "--detach", str(each / "x"), "HEAD")
    builds.sweep()
    assert not gone.exists(), "its harness is gone: process 1 was not born at 0"
    assert (other / "x").exists(), "of another namespace nothing can be said"
    assert len(repository.git("worktree", "list").splitlines()) == 2


def test_a_harness_killed_with_kill_9_leaves_no_worktree(repository: Repository) -> None:
    """The guardian removes them; git forgets them when the next harness begins."""
    repository.commit()
    program = (
        "import os, signal, sys; from pathlib import Path; from restbench.deploy import builds\n"
        "builds.REPOSITORY = Path(sys.argv[1])\n"
        "commits = builds.resolved({'A': 'HEAD', 'B': 'HEAD'})\n"
        "with builds.built(commits, {'java': {}}, print):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    line = [sys.executable, "-c", program, str(repository.path)]
    assert subprocess.run(line, capture_output=True, check=False, env=os.environ).returncode == -9
    folder = repository.path / ".cache" / "ab"
    assert await_true(lambda: not list(folder.glob("*")))
    builds.sweep()
    assert repository.worktrees() == []


def test_this_checkout_has_what_a_later_harness_needs(capsys: pytest.CaptureFixture[str]) -> None:
    makefile = (builds.ROOT / "Makefile").read_text()
    assert builds._TARGET.search(makefile)
    told = builds._command(builds.ROOT, "python", {})
    assert told[-2:] == ("-m", "restbench_service")
    assert str(builds.ROOT / ".venv") in told[-3]
