"""The service where nothing can be written: as in a container with a read-only file system and
without /tmp."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from live_service import SERVICE, LiveService, free_port, wait_until
from test_core import GOOD, PRODUCT

#: Runs a program in a mount namespace of its own, which ends with it.
READ_ONLY = """
mount --make-rprivate / && mount -t tmpfs -o ro none /tmp && mount -t tmpfs -o ro none /var/tmp &&
mount -o remount,ro,bind / && ! touch /tmp/x /var/tmp/x "$PWD/x" 2>/dev/null && exec "$@"
"""
NAMESPACE = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh"]


def test_it_starts_computes_in_its_pools_and_says_where_temporary_files_are(tmp_path: Path) -> None:
    if subprocess.run([*NAMESPACE, "true"], cwd=SERVICE, check=False).returncode:
        pytest.skip("mounting needs root")
    port, log = free_port(), tmp_path / "log"
    variables = {name: each for name, each in os.environ.items() if name != "TMPDIR"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*NAMESPACE, sys.executable, "-m", "restbench_service"],
            cwd=SERVICE,
            env={**variables, "RESTBENCH_PORT": str(port)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    service = LiveService(port, process, log)
    try:
        wait_until(service.has_begun)
        for strategy in ("serial", "process-per-element", "process-per-request"):
            assert service.request("POST", f"/matrix/{strategy}", GOOD).body == PRODUCT
    finally:
        process.terminate()
    assert process.wait() == 0, log.read_text()
    assert "there is no writable /tmp: temporary files are in /dev/shm" in log.read_text()
