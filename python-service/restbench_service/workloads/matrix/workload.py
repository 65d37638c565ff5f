"""The matrix workload: the three stages put together for one kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import orjson

from ..workload import InvalidRequestError, Loop
from . import fast_reader, validator
from .multiplication import multiply
from .operands import Operands, Product

DEFAULT_KERNEL = "loops"


@dataclass(frozen=True)
class MatrixWorkload:
    """POST /matrix/{strategy}?kernel=...; an unknown kernel is for parse to refuse, in its turn."""

    kernel: str = DEFAULT_KERNEL

    @classmethod
    def from_query(cls, query: Mapping[str, Sequence[str]]) -> Self:
        """The query's values by name, as often as each was given; several kernels are no kernel."""
        return cls(",".join(query.get("kernel", [DEFAULT_KERNEL])))

    def parse(self, body: bytes) -> Operands:
        """The fast reader takes what is right; the validator decides about everything else."""
        operands = fast_reader.read(body) if self.kernel in validator.KERNELS else None
        return operands or validator.validate(body, self.kernel)

    def compute(self, value: Operands, loop: Loop) -> Product:
        """Error 006 if an element of the product does not fit 64 bits."""
        try:
            rows = multiply(value.left, value.right, self.kernel, loop)
        except InvalidRequestError as error:
            raise InvalidRequestError(error.code, error.message, value.request_id) from None
        return Product(value.request_id, rows)

    def serialize(self, result: Product) -> bytes:
        """{"requestId":"...","rows":[[...],...]} without white space."""
        answer = {"requestId": str(result.request_id), "rows": result.rows}
        return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)

    def request_id(self, body: bytes) -> str | int | None:
        """For the log and the answer to a fault."""
        return validator.readable_id(body)
