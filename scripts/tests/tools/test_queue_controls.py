"""The controls of the checker of queues, as a command that must not pass without a check."""

from __future__ import annotations

from contextlib import nullcontext
from unittest.mock import Mock

import pytest
from command_line import restbench

from restbench import cli
from restbench.failures import ExitCode
from restbench.machine import watch
from tools import queue_controls
from tools.queue_controls import CONTROLS


@pytest.mark.parametrize(
    ("option", "value"), [("--times", "0"), ("--load-s", "-1"), ("--only", "kill-bakend")]
)
def test_what_would_check_nothing_is_refused(monkeypatch, option, value):
    monkeypatch.setattr(watch, "begin", lambda: None)
    monkeypatch.setattr(queue_controls, "run", lambda *_: True)
    done = restbench(option, value, command=cli.single_command_app(queue_controls.queue_controls))
    assert done.returncode == ExitCode.BAD_CONFIGURATION
    assert option in done.stderr


def test_the_databases_are_removed_however_the_controls_end(monkeypatch):
    ordered = Mock()
    monkeypatch.setattr(watch, "at_end", ordered)
    monkeypatch.setattr(queue_controls, "fresh", nullcontext)
    assert queue_controls.run(CONTROLS, 0, 0.0, lambda _: None)
    ((what, folder),) = [call.args for call in ordered.call_args_list]
    assert what == "remove"
    assert folder.name.startswith("restbench-controls-")
