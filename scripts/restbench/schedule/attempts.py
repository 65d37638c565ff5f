"""What becomes of an attempt that failed: the reason, in words."""

from __future__ import annotations

import traceback

import httpx

from restbench.failures import Failure, StorageProblem
from restbench.machine import storage

#: How much is told of an error that is none of ours.
TRACEBACK_LINES = 6


def why(error: Exception) -> str:
    """An error as a cell's record tells it; StorageProblem where no record could be kept."""
    if isinstance(error, StorageProblem):
        raise error
    if found := storage.problem(error):
        raise found from error
    if isinstance(error, Failure | httpx.HTTPError):
        return str(error) or type(error).__name__
    told = "".join(traceback.format_exception(error)).strip().splitlines()[-TRACEBACK_LINES:]
    return "\n".join(["an error that nobody expected:", *told])


def in_short(reason: str) -> str:
    """Its first line: the rest is the end of a log."""
    return reason.partition("\n")[0].removesuffix("; its log ends:")
