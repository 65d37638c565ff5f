"""What the native kernels compute with."""

import numpy as np


def native_library() -> str:
    """numpy and its matrix library, with their versions."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"numpy {np.__version__} with {blas['name']} {blas['version']}"
