"""The run that a command is to work on."""

from __future__ import annotations

from restbench.failures import BadConfiguration
from restbench.store import store


def with_raw_data(name: str) -> store.Run:
    """A run by its name; BadConfiguration for a kept copy: what were made of nothing would be
    empty."""
    run = store.open_run(name)
    if not run.has_raw_data:
        raise BadConfiguration(f"{run.path}: has no raw data to make anything of: a kept copy?")
    return run
