"""Oracle: the right answer to a request, implemented from the contract alone.

It shares no code with the services. It reads JSON with Python's own parser, made strict here; the
services use msgspec and orjson, and Jackson. Numbers are Python integers, exact at any size. The
code is slow and plain, so that it can be checked by reading it next to the contract.
The contract checks the errors in this order: 009, 007, 002, 003, 005, 004, 001, 007, 011, 006; for
messages 009, 007, 002, 003, 007, 012, 013.
"""

from .matrix import Oracle
from .messages import MessagesOracle
from .verdict import Limits, Request, Verdict

__all__ = ["Limits", "MessagesOracle", "Oracle", "Request", "Verdict"]
