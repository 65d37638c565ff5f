"""The matrix workload: the product of two matrices."""

from dataclasses import dataclass

from ..workload import ParallelLoop, Workload
from .multiplication import INT64_MIN, multiply
from .request import MatrixProduct, MatrixRequest

ELEMENT_BYTES = 8


@dataclass(frozen=True)
class MatrixWorkload(Workload[MatrixRequest, MatrixProduct]):
    """The kernel is part of the request. Its operands are in proportion to the body."""

    name = "matrix"

    def kind(self, value: MatrixRequest) -> str:
        """The kernels differ by a thousand times in what a multiplication takes."""
        return f"matrix {value.kernel}"

    def operations(self, value: MatrixRequest) -> float:
        """Multiplications."""
        return float(value.left.size * value.right.shape[1])

    def working_bytes(self, value: MatrixRequest) -> int:
        """The product, and its text with all numbers as long as they can be: a short body, a column
        times a row, can ask for a thousand times its size."""
        most = value.sums_at_most
        longest = len(str(INT64_MIN if most is None else max(INT64_MIN, -most)))
        elements: int = value.left.shape[0] * value.right.shape[1]
        return elements * (ELEMENT_BYTES + longest + 1)

    def compute(self, value: MatrixRequest, loop: ParallelLoop) -> MatrixProduct:
        """Error 006 if an element of the product does not fit 64 bits."""
        return MatrixProduct(value.request_id, multiply(value, loop))
