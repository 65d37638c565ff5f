"""What was answered to requests with a key: one effect and one answer, however often asked."""

import logging
from collections.abc import Callable
from typing import Any

from ..workload import InvalidRequestError
from .database import DISK_FULL, Database, Session, StatementError
from .requests import Broadcast, Keyed, Message, Pop

PURGE_SECONDS = 60.0
BATCH = 10_000
"""Receipts that one statement forgets: it takes far less than the 5 s that its role has for one."""
ALREADY_THERE = "23505"
"""unique_violation: the key was used before, and this time nothing is done."""
_LOG = logging.getLogger(__name__)


def once(session: Session, request: Keyed, act: Callable[[], Any]) -> tuple[Any, bool]:
    """What the act gives, or has given before, and whether it was before.

    A receipt is looked for only where the act was refused, or found nothing: as a rule there is
    none. A request in flight with the same key was waited for by then, as each technique locks its
    key, or what it takes. Should a receipt be purged in between, the request is not done.
    """
    if request.key is None:
        return act(), False
    failure: StatementError | InvalidRequestError | None = None
    try:
        if (result := act()) is not None:
            return result, False
    except StatementError as error:
        if error.sqlstate not in (ALREADY_THERE, DISK_FULL):
            raise
        failure = error
    except InvalidRequestError as error:
        if error.code not in ("012", "013"):
            raise
        failure = error
    earlier = _read(session, request)
    if failure and earlier is None:
        raise failure
    return earlier, earlier is not None


def _read(session: Session, request: Keyed) -> Any:
    """The result that was kept, None where none was. Raises InvalidRequestError 013."""
    values = {"client": request.client, "key": request.key}
    row = session.do("read-receipt", values).fetchone()  # of what may be done: no break is 014 here
    if row is None:
        return None
    fingerprint, answer, *_ = row
    if fingerprint != request.fingerprint:
        raise InvalidRequestError("013", "key: was used before for another request")
    if isinstance(request, Pop):
        return Message(**answer)
    return answer["ids"] if isinstance(request, Broadcast) else answer["id"]


def purge(database: Database, receipt_seconds: int) -> None:
    """Forget those that are older. They are found by a BRIN index, which needs bitmap scans."""
    begin = b"BEGIN", b"SET LOCAL enable_bitmapscan = on"
    values = {"seconds": receipt_seconds, "most": BATCH}
    try:
        with Session(database) as session:
            forgotten = BATCH
            while forgotten == BATCH:
                with session.transaction(*begin):
                    forgotten = session.do("purge-receipts", values).rowcount
    except StatementError as error:
        _LOG.error("receipts are not purged: %s", error.sqlstate)
    except InvalidRequestError:
        pass  # no database now: that is logged
