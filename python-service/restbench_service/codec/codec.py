"""The seam between what is on the wire and what a workload computes with."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

from .request_object import readable_id

Input_co = TypeVar("Input_co", covariant=True)
Output_contra = TypeVar("Output_contra", contravariant=True)


class Answer(bytes):
    """A response body that has headers of its own; it stays what it is on its way through pools."""

    headers: Mapping[str, str] = {}


class Codec(Protocol[Input_co, Output_contra]):
    """One format of one workload's requests and answers. Small, a value, and can be pickled."""

    def decode(self, body: bytes, query: str) -> Input_co:
        """`query` is what follows the `?`, as it was sent. Raises InvalidRequestError."""

    def encode(self, output: Output_contra) -> bytes:
        """The whole response body; an Answer where it has headers."""

    def identify(self, body: bytes) -> str | int | None:
        """The id for the answer and the log when a stage failed by a fault of the service."""
        return readable_id(body)
