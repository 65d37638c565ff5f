"""Commits of this repository with their services built, each in a git worktree of its own.

What a commit must have so that any later harness can build and start its services:

    make services                       the Java service and the virtual environment
    .venv/bin/restbench command NAME    prints {"argv": [...]}: what starts java, or python

A service reads RESTBENCH_HOST, RESTBENCH_PORT and RESTBENCH_FRAMEWORK from its environment.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from restbench import ROOT
from restbench.experiment.cell import Build, ServiceName
from restbench.experiment.order import BuiltCheckout
from restbench.experiment.records import BuiltCommit
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import guardian, machine, process, watch

REPOSITORY = ROOT
#: Stands for a commit: the working tree as it is.
WORKING_TREE = "."
_TARGET = re.compile(r"^services:", re.MULTILINE)
BUILD_MAX_S = 1800.0
BUILD_LINES = 20
#: Resets the variables of a make that started us, which are for its own recipes only.
_OF_NO_MAKE = {"MAKEFLAGS": "", "MFLAGS": "", "MAKELEVEL": "0"}


def resolved(asked: Mapping[Build, str]) -> dict[Build, BuiltCommit]:
    """The commits by name. BadConfiguration for text that names none, or one that is too old."""
    commits = {name: _commit(text) for name, text in asked.items()}
    for each in commits.values():
        _require_target(each)
    return commits


@contextmanager
def built(
    commits: Mapping[Build, BuiltCommit],
    settings: Mapping[ServiceName, Mapping[str, str]],
    note: Callable[[str], None],
) -> Iterator[dict[Build, BuiltCheckout]]:
    """The checkout of each commit, with its services built. `settings` has the wanted services,
    with the variables of their environment. The worktrees are removed when the context ends, or
    when this process does. EnvironmentProblem where a build fails.
    """
    sweep()
    folder = _folder() / watch.mark()
    watch.at_end("remove", folder)
    checkouts: dict[Path, BuiltCheckout] = {}
    try:
        for name, commit in commits.items():
            path = _place(commit, folder)
            if path not in checkouts:
                note(f"build {name}: {commit}")
                if path != REPOSITORY:
                    _git("worktree", "add", "--detach", str(path), commit.git_commit)
                _make(commit, path, folder / f"{commit.git_commit[:12]}.log")
                commands = {of: _command(path, of, its) for of, its in settings.items()}
                checkouts[path] = BuiltCheckout(commit, path, commands)
        yield {
            name: replace(checkouts[_place(it, folder)], commit=it) for name, it in commits.items()
        }
    finally:
        guardian.remove(folder)
        _git("worktree", "prune")


def sweep() -> None:
    """Remove the worktrees of harnesses that are gone, which a killed guardian has left."""
    for folder in _folder().glob("*"):
        if watch.is_over(folder.name):
            guardian.remove(folder)
    _git("worktree", "prune")


def _folder() -> Path:
    return REPOSITORY / ".cache" / "ab"


def _commit(asked: str) -> BuiltCommit:
    if asked == WORKING_TREE:
        commit, dirty = machine.git_commit(REPOSITORY)
        if dirty is None:
            raise EnvironmentProblem(f"{REPOSITORY}: is no git checkout: there are no commits")
        return BuiltCommit(asked=asked, git_commit=commit, git_dirty=dirty)
    try:
        commit = _git("rev-parse", "--verify", "--end-of-options", f"{asked}^{{commit}}")
    except EnvironmentProblem as error:
        raise BadConfiguration(
            f"'{asked}' is no commit of {REPOSITORY} ({error}); a shallow clone has only the "
            "newest commits: git fetch --unshallow"
        ) from error
    return BuiltCommit(asked=asked, git_commit=commit, git_dirty=False)


def _require_target(commit: BuiltCommit) -> None:
    try:
        makefile = (
            (REPOSITORY / "Makefile").read_text(encoding="utf-8")
            if commit.asked == WORKING_TREE
            else _git("show", f"{commit.git_commit}:Makefile")
        )
    except (OSError, EnvironmentProblem):
        makefile = ""  # the commit has none
    if not _TARGET.search(makefile):
        raise BadConfiguration(
            f"{commit} is older than 'restbench ab': its Makefile has no target 'services', so its "
            "services cannot be built and started; choose a later commit"
        )


def _place(commit: BuiltCommit, folder: Path) -> Path:
    """The folder of a checkout, the same for all names of a commit."""
    return REPOSITORY if commit.asked == WORKING_TREE else folder / commit.git_commit[:12]


def _make(commit: BuiltCommit, path: Path, log: Path) -> None:
    line = ["make", "--no-print-directory", "-C", str(path), "services"]
    code = process.finished(process.bound_to_us(line), log, BUILD_MAX_S, _OF_NO_MAKE)
    if code != 0:
        how = "took over half an hour" if code is None else f"failed with exit code {code}"
        raise EnvironmentProblem(
            f"{commit}: 'make services' {how}; its output ends:\n{process.tail(log, BUILD_LINES)}"
        )


def _command(path: Path, name: ServiceName, settings: Mapping[str, str]) -> tuple[str, ...]:
    """The command line that the checkout gives for a service, in the service's environment."""
    line = [str(path / ".venv" / "bin" / "restbench"), "command", name]
    environment = process.child_environment()
    # The command line contains the JVM's options; those of our environment come last and win.
    options = [settings.get("JAVA_OPTIONS", ""), environment.get("JAVA_OPTIONS", "")]
    environment |= {"JAVA_OPTIONS": " ".join(options).strip()}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    try:
        argv = json.loads(done.stdout)["argv"]
        return tuple(str(each) for each in argv)
    except (ValueError, KeyError, TypeError) as error:
        said = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise EnvironmentProblem(
            f"{path}: 'restbench command {name}' printed no command line: {said}"
        ) from error


def _git(*arguments: str) -> str:
    """The output of a git command; EnvironmentProblem where it fails, or git is not installed."""
    try:
        return machine.git(REPOSITORY, *arguments)
    except FileNotFoundError as error:
        raise EnvironmentProblem("git is missing: apt-get install git") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()
        why = next((line for line in said if line.startswith("fatal:")), "no reason given")
        raise EnvironmentProblem(f"git {arguments[0]}: {why}") from error
