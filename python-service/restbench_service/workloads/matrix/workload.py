"""The matrix workload: the three stages put together for one kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import orjson

from ..request_object import readable_id
from ..workload import InvalidRequestError, Loop
from . import fast_reader, validator
from .multiplication import multiply
from .operands import Operands, Product

DEFAULT_KERNEL = "loops"


@dataclass(frozen=True)
class MatrixWorkload:
    """POST /matrix/{strategy}?kernel=...; an unknown kernel is for parse to refuse, in its turn."""

    kernel: str
    most_elements: int

    @classmethod
    def from_query(cls, most_elements: int, query: Mapping[str, Sequence[str]]) -> Self:
        """The query's values by name, as often as each was given; several kernels are no kernel.

        A product of more than `most_elements` is refused before it is computed.
        """
        return cls(",".join(query.get("kernel", [DEFAULT_KERNEL])), most_elements)

    @property
    def kind(self) -> str:
        """The kernels differ by a thousand times in what a multiplication takes."""
        return f"matrix {self.kernel}"

    def operations(self, value: Operands) -> float:
        """Multiplications."""
        return float(value.left.size * value.right.shape[1])

    def parse(self, body: bytes) -> Operands:
        """The fast reader takes what is right; the validator decides about everything else."""
        operands = fast_reader.read(body) if self.kernel in validator.KERNELS else None
        operands = operands or validator.validate(body, self.kernel)
        self._check_product(operands)
        return operands

    def compute(self, value: Operands, loop: Loop) -> Product:
        """Error 006 if an element of the product does not fit 64 bits."""
        try:
            rows = multiply(value, self.kernel, loop)
        except InvalidRequestError as error:
            raise InvalidRequestError(error.code, error.message, value.request_id) from None
        return Product(value.request_id, rows)

    def serialize(self, result: Product) -> bytes:
        """{"requestId":"...","rows":[[...],...]} without white space."""
        answer = {"requestId": str(result.request_id), "rows": result.rows}
        return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)

    def _check_product(self, operands: Operands) -> None:
        elements = operands.left.shape[0] * operands.right.shape[1]
        if elements > self.most_elements:
            message = f"the product has {elements} elements, the limit is {self.most_elements}"
            raise InvalidRequestError("007", message, operands.request_id)

    def request_id(self, body: bytes) -> str | int | None:
        """For the log and the answer to a fault."""
        return readable_id(body)

    @property
    def needs_memory(self) -> bool:
        """See Workload."""
        return False

    def working_bytes(self, body: bytes) -> int:  # noqa: ARG002 - whatever the body
        """Operands and product are in proportion to body and answer."""
        return 0
