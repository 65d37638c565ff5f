"""Before the first cell of a service process: each strategy is proven, then all are warmed up."""

from __future__ import annotations

from collections.abc import Callable

from restbench.drive.session import Session, end_of_log, renew_if_spent
from restbench.drive.warming import warm_all
from restbench.experiment.cell import Cell
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem, NoService
from restbench.machine.phases import spent_on
from restbench.prove import proof
from restbench.schedule.attempts import Group, why
from restbench.store import proofs


def prepare(group: Group, session: Session, proven: Callable[[Proof], None]) -> None:
    """Prove and warm up what the service offers; `proven` is told each proof.

    What cannot be is `unfit` in the session, with the reason: its cells fail, the others go on.
    NoService where no service is left to go on with.
    """
    first_cells: dict[str, Cell] = {}
    for each in group.cells:
        first_cells.setdefault(each.cell.strategy, each.cell)
    for cell in first_cells.values():
        _prove(group, cell, session, proven)
    warm_all(group.order, group.run, group.cells, session)


@spent_on("proofs")
def _prove(group: Group, cell: Cell, session: Session, proven: Callable[[Proof], None]) -> None:
    if cell.strategy not in session.offered:
        session.unfit[cell.strategy] = _not_offered(cell, session)
        group.say(session.unfit[cell.strategy])
        return
    found = _look(group, cell, session)
    if isinstance(found, str):  # once more, on a fresh service
        found = _look(group, cell, session)
    if isinstance(found, str):
        session.unfit[cell.strategy] = found
        return
    proofs.keep(group.run, found)
    proven(found)


def _look(group: Group, cell: Cell, session: Session) -> Proof | str:
    """The proof, or why there is none; the service is not used again then."""
    try:
        renew_if_spent(group.run, group.cells[0], session)
        found = proof.prove(session.service, cell.strategy, cell.placement, session.cores.service)
        if not session.service.serves():
            raise EnvironmentProblem(f"the service died of it{end_of_log(session)}")
    except NoService:
        raise
    except Exception as error:  # the other strategies are not to blame
        session.spent = True
        return f"could not be looked at while it served: {why(error)}"
    return found


def _not_offered(cell: Cell, session: Session) -> str:
    return (
        f"{cell.service} {cell.strategy}: not offered by this service on {session.runtime}; "
        f"it offers {', '.join(session.offered)}"
    )
