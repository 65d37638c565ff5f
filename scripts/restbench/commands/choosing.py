"""The run that a command is to work on."""

from __future__ import annotations

from restbench.experiment import toml_file
from restbench.failures import BadConfiguration
from restbench.store import store


def closed_run(name: str) -> store.Run:
    """A run of closed load; BadConfiguration for one of another kind, which has its own tables."""
    run = store.open_run(name)
    run.require_read()
    if kind := toml_file.kind_of(run.experiment_file):
        raise BadConfiguration(
            f"{run.path}: a run of kind '{kind}'; only 'report' knows what to make of it"
        )
    return run


def with_raw_data(run: store.Run) -> store.Run:
    """The run; BadConfiguration for a kept copy: what were made of nothing would be empty."""
    run.require_read()
    if not run.has_raw_data:
        raise BadConfiguration(f"{run.path}: has no raw data to make anything of: a kept copy?")
    return run
