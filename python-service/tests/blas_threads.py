"""Imported for its effect, before numpy: one thread of its matrix library, as in the service, which
starts itself once more where its environment is another."""

import os

from restbench_service.process import environment_of

os.environ.update(environment_of(os.environ, blas_threads=1))
