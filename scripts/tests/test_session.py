"""What a cell that went wrong leaves to the next one: a new service, or a word about the old."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_service import Stub, serving

from restbench.deploy import service
from restbench.drive.session import Session, open_session, renew_if_spent
from restbench.experiment.cell import Cell
from restbench.experiment.records import PlannedCell
from restbench.failures import EnvironmentProblem, NoService
from restbench.store.store import Run

CELL = Cell(service="java", strategy="serial", complexity="low", users=2)
NEXT = PlannedCell(cell=CELL, block=1, order=2, test_ids=())


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub("java", {})) as running:
        yield running


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.fixture
def session(stub: Stub, run: Run) -> Iterator[Session]:
    with open_session(run, NEXT, {"java": stub.url}) as opened:
        yield opened


@pytest.fixture
def starts(run: Run, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> list[service.Service]:
    """What is started instead of a service: an attachment to the stub each time."""
    begun: list[service.Service] = []

    def start(*_what: object, **_settings: object) -> service.Service:
        begun.append(service.attach("java", stub.url))
        return begun[-1]

    monkeypatch.setattr(service, "start", start)
    return begun


def test_a_service_that_comes_up_and_does_not_say_what_it_offers_is_started_once_more(
    run: Run, starts: list[service.Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = service.Service.strategies

    def strategies(told: service.Service) -> list[str]:
        if told is starts[0]:
            raise EnvironmentProblem("java service: connection reset")
        return honest(told)

    monkeypatch.setattr(service.Service, "strategies", strategies)
    with open_session(run, NEXT, {}) as opened:
        assert len(starts) == 2
        assert opened.service is starts[1]
        assert starts[0].client.is_closed
        assert "serial" in opened.offered


def test_a_service_that_never_says_what_it_offers_is_none(
    run: Run, starts: list[service.Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    def strategies(_told: service.Service) -> list[str]:
        raise EnvironmentProblem("java service: connection reset")

    monkeypatch.setattr(service.Service, "strategies", strategies)
    with pytest.raises(NoService, match="connection reset"), open_session(run, NEXT, {}):
        pass
    assert [each.client.is_closed for each in starts] == [True, True]


@pytest.mark.parametrize(("in_flight", "said"), [(1, True), (0, False)])
def test_an_attached_service_still_at_work_for_the_cell_before_is_said_once(
    stub: Stub, run: Run, session: Session, in_flight: int, said: bool
) -> None:
    stub.in_flight = in_flight
    session.spent = True
    renew_if_spent(run, NEXT, session)
    assert ("busy-before" in session.take_flags()) == said
    assert "busy-before" not in session.take_flags()


def test_an_attached_service_after_a_good_cell_is_not_asked(run: Run, session: Session) -> None:
    renew_if_spent(run, NEXT, session)
    assert "busy-before" not in session.take_flags()
