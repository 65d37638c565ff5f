"""The run that a command is to work on."""

from __future__ import annotations

from restbench import store
from restbench.failures import BadConfiguration
from restbench.open_experiment import is_open_load


def closed_run(name: str) -> store.Run:
    """A run of closed load; BadConfiguration for one of open load, which has tables of its own."""
    run = store.open_run(name)
    if is_open_load(run.experiment_file):
        raise BadConfiguration(
            f"{run.path}: an open-load run; only 'report' knows what to make of it"
        )
    return run


def with_raw_data(run: store.Run) -> store.Run:
    """The run; BadConfiguration for a kept copy: what were made of nothing would be empty."""
    if not run.has_raw_data:
        raise BadConfiguration(f"{run.path}: has no raw data to make anything of: a kept copy?")
    return run
