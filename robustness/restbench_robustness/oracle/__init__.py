"""What the contract says about a request, written from the contract and from nothing else.

It shares no line with the services. JSON is read by Python's own parser, made strict here, where
they have msgspec and orjson, and Jackson. Numbers are Python's integers, exact at any size. It is
slow and plain, to be checked by reading it next to the contract.
The order in which the contract decides: 009, 007, 002, 003, 005, 004, 001, 007, 011, 006; of
messages 009, 007, 002, 003, 007, 012, 013.
"""

from .matrix import Oracle
from .messages import MessagesOracle
from .verdict import Limits, Request, Verdict

__all__ = ["Limits", "MessagesOracle", "Oracle", "Request", "Verdict"]
