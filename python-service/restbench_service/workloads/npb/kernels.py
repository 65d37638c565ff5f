"""The table of kernels."""

from typing import Any

from .conjugate_gradient.kernel import ConjugateGradient
from .fourier_transform.kernel import FourierTransform
from .integer_sort.kernel import IntegerSort
from .kernel import Kernel
from .multigrid.kernel import Multigrid

_ALL: tuple[Kernel[Any, Any], ...] = (
    IntegerSort(),
    ConjugateGradient(),
    Multigrid(),
    FourierTransform(),
)
KERNELS = {kernel.name: kernel for kernel in _ALL}
"""By name; they have no state."""
