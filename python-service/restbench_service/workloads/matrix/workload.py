"""The matrix workload: the product of two matrices."""

from dataclasses import dataclass

from ..workload import CpuBound, Loop
from .multiplication import multiply
from .operands import Operands, Product


@dataclass(frozen=True)
class MatrixWorkload(CpuBound):
    """The kernel is part of the request. It needs no memory but operands and product."""

    name = "matrix"
    takes_single_units = True
    holds_memory = False

    def kind(self, value: Operands) -> str:
        """The kernels differ by a thousand times in what a multiplication takes."""
        return f"matrix {value.kernel}"

    def operations(self, value: Operands) -> float:
        """Multiplications."""
        return float(value.left.size * value.right.shape[1])

    def working_bytes(self, value: Operands) -> int:  # noqa: ARG002 - whatever the request
        """Operands and product are in proportion to body and answer."""
        return 0

    def subject(self, value: Operands) -> str:  # noqa: ARG002
        """See Workload."""
        return "the request"

    def compute(self, value: Operands, loop: Loop) -> Product:
        """Error 006 if an element of the product does not fit 64 bits."""
        return Product(value.request_id, multiply(value, loop))
