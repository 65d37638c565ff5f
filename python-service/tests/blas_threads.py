"""Imported for its effect, before numpy: one thread of its matrix library, as in the service."""

import os

from restbench_service.process import BLAS_THREAD_VARIABLES

os.environ.update(dict.fromkeys(BLAS_THREAD_VARIABLES, "1"))
