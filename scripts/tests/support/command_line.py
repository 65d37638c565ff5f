"""The command line as a test calls it: in this process, or as a user does in one of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest
import typer

from restbench import ROOT, cli
from restbench.machine import machine_lock

Done = subprocess.CompletedProcess[str]


def let_go_of_the_machine() -> None:
    """Have it no longer: what measures keeps it until its process ends."""
    while machine_lock._held:
        machine_lock._held.popitem()[1].close()


def restbench(*arguments: str, command: typer.Typer = cli.app) -> Done:
    """In this process: to load the harness anew for each call takes seconds of CPU time. Signals
    stay pytest's. `command` is of `tools` where it is none of the harness's."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["restbench", *arguments])
        patch.setattr(cli, "_listen_to_signals", lambda: None)
        with pytest.raises(SystemExit) as ended:
            cli.main(command)
    return Done(arguments, int(ended.value.code or 0), out.getvalue(), err.getvalue())


def started(*arguments: str, **environment: str) -> Done:
    """In a process of its own."""
    return _done("-c", "from restbench.cli import main; main()", *arguments, **environment)


def tool(name: str, *arguments: str, **environment: str) -> Done:
    """A module of `tools`, as the Makefile runs it."""
    return _done("-m", f"tools.{name}", *arguments, **environment)


def _done(*arguments: str, **environment: str) -> Done:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
