"""Receipts: stored answers to requests with a key, so that a repeated request has no new effect."""

import logging
from collections.abc import Callable
from typing import Any

from ..workload import InvalidRequestError
from .database import DISK_FULL, Database, Session, StatementError
from .requests import Broadcast, Keyed, Message, Pop, fingerprint

PURGE_SECONDS = 60.0
BATCH = 10_000
"""Receipts that one statement deletes, in far less than the role's statement timeout of 5 s."""
ALREADY_THERE = "23505"
"""unique_violation: the key was used before, so the statement has done nothing."""
_LOG = logging.getLogger(__name__)


def once(session: Session, request: Keyed, act: Callable[[], Any]) -> tuple[Any, bool]:
    """The result, and whether it is the stored one of an earlier request with the same key.

    A receipt is looked for only if `act` was refused or found nothing, because usually there is no
    receipt. A concurrent request with the same key has ended by then, because each technique locks
    the key, or the message that it takes. If a receipt is purged meanwhile, nothing is done.
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
    """The stored result, None if there is no receipt. Raises InvalidRequestError 013 if the key was
    used for another request.
    """
    values = {"client": request.client, "key": request.key}
    # do(), not ask(): the request may be done already, so a broken connection must not be 014.
    row = session.do("read-receipt", values).fetchone()
    if row is None:
        return None
    of_earlier, answer, *_ = row
    if of_earlier != fingerprint(request):
        raise InvalidRequestError("013", "key: was used before for another request")
    if isinstance(request, Pop):
        return Message(**answer)
    return answer["ids"] if isinstance(request, Broadcast) else answer["id"]


def purge(database: Database, receipt_seconds: int) -> None:
    """Delete receipts older than `receipt_seconds`. Their BRIN index needs bitmap scans, which are
    disabled for the role otherwise."""
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
        pass  # no connection, which is logged already
