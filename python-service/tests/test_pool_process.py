"""A place in a pool whose process cannot be started at first."""

import errno
import gc
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from restbench_service.execution.pool.process import PooledProcess


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [(subprocess, "Popen", errno.EAGAIN), (socket, "socketpair", errno.EMFILE)],
    ids=["no process", "no descriptors"],
)
def test_a_process_that_cannot_be_started_is_tried_again(
    module: Any,
    name: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    started, calls = getattr(module, name), list[int]()

    def fail_once(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OSError(code, os.strerror(code))
        return started(*arguments, **options)

    monkeypatch.setattr(module, name, fail_once)
    open_before = descriptors()
    place = PooledProcess("requests", "restbench-PR-0", socket.SOCK_STREAM, ())
    try:
        assert place.channel() is not None
        assert len(calls) == 2
        assert f"restbench-PR-0 cannot be started: [Errno {code}]" in caplog.text
        assert descriptors() == open_before + 1  # its channel, nothing of the failure
    finally:
        place.close()


def descriptors() -> int:
    gc.collect()  # what other tests have left is not to be closed between two looks
    return len(list(Path("/proc/self/fd").iterdir()))
