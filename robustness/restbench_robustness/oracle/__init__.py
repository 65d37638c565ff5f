"""What the contract says about a request, written from the contract and from nothing else.

It shares no line and no library with the services: JSON is read by its own reader, numbers are
Python's integers. Slow and plain, so that it can be checked by reading it beside the contract.
"""

from .http_rules import Limits, Oracle, Request
from .verdict import STATUSES, Verdict

__all__ = ["STATUSES", "Limits", "Oracle", "Request", "Verdict"]
