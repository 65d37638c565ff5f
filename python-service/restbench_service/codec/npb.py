"""The NAS kernels' JSON, one codec for all of them."""

from dataclasses import dataclass

import msgspec
import orjson

from ..workloads.npb.workload import KERNELS, NpbRequest, NpbResult
from ..workloads.workload import InvalidRequestError
from .codec import MISSING, Codec, Members, delay_fault, read_request, reading, text_of


class _Members(Members, gc=False):
    class_: msgspec.Raw = msgspec.field(default=MISSING, name="class")
    generate: msgspec.Raw = msgspec.Raw(b"true")


_MEMBERS = msgspec.json.Decoder(_Members)


@dataclass(frozen=True)
class NpbJson(Codec[NpbRequest, NpbResult]):
    """POST /npb-…/{strategy}?delay=...: no kernel has query parameters of its own."""

    kernel_name: str
    max_delay_ms: int = 0

    def decode(self, body: bytes, query: str) -> NpbRequest:
        """Raises InvalidRequestError 002, or 003 in the order delay, requestId, class, generate."""
        wrong_delay = delay_fault(query, self.max_delay_ms)
        with reading(body):
            members, request_id = read_request(body, _MEMBERS, wrong_delay)
        class_names = KERNELS[self.kernel_name].classes
        class_name, generate = text_of(members.class_), bytes(members.generate)
        if class_name not in class_names:
            rule = f"must be one of {', '.join(class_names)}"
            raise InvalidRequestError("003", f"class: {rule}", request_id)
        if generate not in (b"true", b"false"):
            raise InvalidRequestError("003", "generate: must be true or false", request_id)
        return NpbRequest(request_id, class_name, generate == b"true")

    def encode(self, output: NpbResult) -> bytes:
        """The answer's members in the contract's order."""
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
