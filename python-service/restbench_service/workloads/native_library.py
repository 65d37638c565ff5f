"""The libraries that the native kernels compute with."""

from functools import cache

import numpy as np
from threadpoolctl import threadpool_info


@cache
def native_library() -> dict[str, str]:
    """The versions of numpy and its BLAS, and the processor architecture that BLAS has chosen."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    found = [library.get("architecture") for library in threadpool_info()]
    return {
        "nativeKernel": f"numpy {np.__version__} with {blas['name']} {blas['version']}",
        "blasArchitecture": next((name for name in found if name), "unknown"),
    }
