"""The NAS kernels' JSON, one codec for all of them."""

from dataclasses import dataclass

import orjson

from ..workloads.npb.kernels import KERNELS
from ..workloads.npb.workload import NpbRequest, NpbResult
from ..workloads.workload import InvalidRequestError
from .request_object import echo, member, read_object, readable_id, required_id


@dataclass(frozen=True)
class NpbJson:
    """POST /npb-…/{strategy}, whatever the query: the kernels have no parameters."""

    kernel_name: str

    def decode(self, body: bytes, query: str) -> NpbRequest:  # noqa: ARG002
        """In the contract's order: 002, then 003 member by member."""
        members = read_object(body)
        request_id = required_id(members)
        class_names = KERNELS[self.kernel_name].classes
        try:
            name: str = member(members, "class", str, "a string", "class")
            if name not in class_names:
                raise InvalidRequestError(
                    "003", f"class: {echo(name)} is not one of {', '.join(class_names)}"
                )
            generate = "generate" not in members or member(
                members, "generate", bool, "a boolean", "generate"
            )
        except InvalidRequestError as error:
            raise InvalidRequestError(error.code, error.message, request_id) from None
        return NpbRequest(request_id, name, generate)

    def encode(self, output: NpbResult) -> bytes:
        """The contract's members in its order."""
        outcome = output.outcome
        members = {
            "requestId": str(output.request.request_id),
            "kernel": self.kernel_name,
            "class": output.request.class_name,
            "verified": outcome.verified,
            "value": outcome.value,
            "reference": outcome.reference,
            "iterations": outcome.iterations,
            "kernelSeconds": outcome.kernel_seconds,
            "totalSeconds": output.total_seconds,
            "mops": output.operations / 1e6 / outcome.kernel_seconds,
        }
        return orjson.dumps(members)

    def request_id(self, body: bytes) -> str | int | None:
        """See Codec."""
        return readable_id(body)
