"""Ports for tests that start something."""

from __future__ import annotations

from restbench.machine.ports import reserve_stable_port as free_port

__all__ = ["free_port"]
