"""The matrix workload: the product of two matrices."""

from dataclasses import dataclass

from ..workload import ParallelLoop, Workload
from .multiplication import multiply
from .request import MatrixProduct, MatrixRequest


@dataclass(frozen=True)
class MatrixWorkload(Workload[MatrixRequest, MatrixProduct]):
    """The kernel is part of the request. It needs no memory but operands and product,
    which are in proportion to body and answer."""

    name = "matrix"

    def kind(self, value: MatrixRequest) -> str:
        """The kernels differ by a thousand times in what a multiplication takes."""
        return f"matrix {value.kernel}"

    def operations(self, value: MatrixRequest) -> float:
        """Multiplications."""
        return float(value.left.size * value.right.shape[1])

    def compute(self, value: MatrixRequest, loop: ParallelLoop) -> MatrixProduct:
        """Error 006 if an element of the product does not fit 64 bits."""
        return MatrixProduct(value.request_id, multiply(value, loop))
