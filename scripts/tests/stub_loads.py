"""Instead of JMeter, for what practises: what each was to send, and when it did what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from restbench.deploy.service import Service
from restbench.drive import load, practice
from restbench.drive.payload import requests_of
from restbench.experiment.order import Order
from restbench.failures import EnvironmentProblem
from restbench.machine import watch
from restbench.store.cell_folder import CellFolder


class Loads:
    """Instead of JMeter: what it was to send, and that it was stopped before its folder went."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.sent, self.waited, self.loaded = list[load.Target](), list[float](), list[Loaded]()
        self.events = list[str]()
        self.fails = False
        self.refuses = ""
        self.drains = True
        self.posted = list[str]()
        self.takes_s = dict[bytes, float]()
        self.clock = 0.0
        (tmp_path / "temporary").mkdir()
        monkeypatch.setattr(watch, "begin", lambda: tmp_path / "temporary")
        monkeypatch.setattr(load, "start", self.start)
        monkeypatch.setattr(practice, "drained", lambda _: self.drains)
        monkeypatch.setattr(Service, "post", self.post)
        monkeypatch.setattr("restbench.drive.practice.time.monotonic", lambda: self.clock)
        monkeypatch.setattr("restbench.drive.practice.time.sleep", self.waited.append)

    def post(self, strategy: str, _kernel: str, body: bytes) -> None:
        self.posted.append(strategy)
        self.clock += self.takes_s.get(body, 0.0)

    def takes(self, order: Order, complexity: str, seconds: float) -> None:
        for payload in requests_of(order.experiment, complexity).payloads.values():
            self.takes_s[payload.body("practice")] = seconds

    def ended(self) -> bool:
        """Whether all were stopped, and nothing of theirs is left."""
        return all(each.stopped and not each.folder.parent.exists() for each in self.loaded)

    def start(
        self, target: load.Target, folder: CellFolder, _cores: str | None, *, waits: bool
    ) -> Loaded:
        assert folder.path.is_dir()
        assert waits
        if target.cell.strategy == self.refuses:
            raise EnvironmentProblem("a body is missing")
        self.sent.append(target)
        self.events.append(f"{target.cell.strategy} comes up")
        self.loaded.append(Loaded(self, target, folder.path))
        return self.loaded[-1]


@dataclass
class Loaded:
    """One of these JMeters."""

    loads: Loads
    target: load.Target
    folder: Path
    stopped: bool = False

    def let_go(self) -> None:
        self.loads.events.append(f"{self.target.cell.strategy} is let go")

    def await_started(self) -> None:
        if self.loads.fails:
            raise EnvironmentProblem("JMeter did not start a test")

    def stop(self) -> None:
        if not self.stopped:
            assert self.folder.is_dir()
            self.loads.events.append(f"{self.target.cell.strategy} is stopped")
        self.stopped = True
