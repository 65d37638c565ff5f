"""What is given to `make` reaches the command that it calls."""

from __future__ import annotations

import os
import subprocess

import pytest

from restbench import store

#: What a make tells those that it calls: these tests may run within one.
FROM_A_CALLER = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("bench", "restbench run smoke --profile smoke"),
        ("microbench", "restbench microbench --profile smoke"),
        ("bench-growth", "restbench bench-growth --profile smoke"),
    ],
)
def test_a_profile_is_not_dropped(target: str, command: str) -> None:
    made = subprocess.run(
        ["make", "--no-print-directory", "-C", str(store.ROOT), "-n", target, "PROFILE=smoke"],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name not in FROM_A_CALLER},
    )
    assert f"{command}\n" in made.stdout or f"{command} " in made.stdout
