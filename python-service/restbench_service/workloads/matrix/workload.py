"""The matrix workload: the product of two matrices."""

from dataclasses import dataclass

from ..workload import CpuBound, ParallelLoop
from .multiplication import multiply
from .request import MatrixProduct, MatrixRequest


@dataclass(frozen=True)
class MatrixWorkload(CpuBound):
    """The kernel is part of the request. It needs no memory but operands and product."""

    name = "matrix"
    takes_single_units = True
    holds_memory = False

    def kind(self, value: MatrixRequest) -> str:
        """The kernels differ by a thousand times in what a multiplication takes."""
        return f"matrix {value.kernel}"

    def operations(self, value: MatrixRequest) -> float:
        """Multiplications."""
        return float(value.left.size * value.right.shape[1])

    def working_bytes(self, value: MatrixRequest) -> int:  # noqa: ARG002 - whatever the request
        """MatrixRequest and product are in proportion to body and answer."""
        return 0

    def subject(self, value: MatrixRequest) -> str:  # noqa: ARG002
        """See Workload."""
        return "the request"

    def compute(self, value: MatrixRequest, loop: ParallelLoop) -> MatrixProduct:
        """Error 006 if an element of the product does not fit 64 bits."""
        return MatrixProduct(value.request_id, multiply(value, loop))
