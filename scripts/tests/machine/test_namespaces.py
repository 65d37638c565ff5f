"""The namespaces that a killed guardian has left are found again by their names."""

from __future__ import annotations

import os

import pytest

from restbench.machine import namespaces, watch


def test_every_namespace_of_a_harness_that_is_gone_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = f"{os.getpid()}-1-{watch._namespace()}-00c0ffee"
    left, ours = (
        [f"rb-{mark}-{name}" for name in ("service", "gen-1", namespaces.SWITCH)]
        for mark in (gone, watch.mark())
    )
    removed: dict[str, set[str]] = {"netns": set(), "link": set()}
    listed = "\n".join(f"{name} (id: 3)" for name in [*left, *ours])
    monkeypatch.setattr(namespaces.process, "output", lambda _command: listed)
    monkeypatch.setattr(
        namespaces.guardian, "remove_network", lambda kind, name: removed[kind].add(name)
    )
    namespaces.end_leftovers()
    assert removed == {"netns": {*left}, "link": {namespaces._link(gone)}}
