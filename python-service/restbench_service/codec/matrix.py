"""The matrix workload's JSON."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qs

import orjson

from ..workloads.matrix.operands import Operands, Product
from ..workloads.workload import InvalidRequestError
from . import fast_reader, validator
from .request_object import readable_id

DEFAULT_KERNEL = "loops"


@dataclass(frozen=True)
class MatrixJson:
    """POST /matrix/{strategy}?kernel=...

    A product of more than `most_elements` is refused before it is computed.
    """

    most_elements: int

    def decode(self, body: bytes, query: str) -> Operands:
        """The fast reader takes what is right; the validator decides about everything else."""
        kernel = kernel_of(query)
        operands = fast_reader.read(body, kernel) if kernel in validator.KERNELS else None
        operands = operands or validator.validate(body, kernel)
        elements = operands.left.shape[0] * operands.right.shape[1]
        if elements > self.most_elements:
            message = f"the product has {elements} elements, the limit is {self.most_elements}"
            raise InvalidRequestError("007", message, operands.request_id)
        return operands

    def encode(self, output: Product) -> bytes:
        """{"requestId":"...","rows":[[...],...]} without white space."""
        answer = {"requestId": str(output.request_id), "rows": output.rows}
        return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)

    def request_id(self, body: bytes) -> str | int | None:
        """See Codec."""
        return readable_id(body)


@lru_cache(maxsize=64)
def kernel_of(query: str) -> str:
    """The parameter `kernel`, as it was given: several kernels are no kernel."""
    return ",".join(parse_qs(query, keep_blank_values=True).get("kernel", [DEFAULT_KERNEL]))
