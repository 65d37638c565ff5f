"""All settings of the service, read from the environment once and validated.

This module must not import numpy: gunicorn reads it before the BLAS thread count is set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .affinity import allowed_cores
from .environment import Environment, InvalidSettingError

BLAS_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
MEBIBYTE = 1024 * 1024

LARGEST_BODY_LIMIT = 192 * MEBIBYTE
"""As in the Java service, where the answer to the largest product must fit one array."""

SPARE_THREADS = 32
"""Beside one for each request in flight: to read and refuse requests, and for /health."""
REFUSED_AT_ONCE = 256
"""Connections above the limit that are told so at a time; more wait in the kernel's queue."""

ALLOWED = {
    "port": (1, 65535),
    "max_body_bytes": (1, LARGEST_BODY_LIMIT),
    "max_in_flight": (1, 10_000),
    "processes": (1, 1024),
    "running": (1, 10_000),
    "blas_threads": (1, 1024),
    "memory_budget_bytes": (1, 2**40),
    "working_memory_bytes": (1, 2**40),
    "input_cache_bytes": (0, 2**40),
    "max_connections": (1, 100_000),
    "receive_timeout_seconds": (1, 3600),
    "send_timeout_seconds": (1, 3600),
    "keep_alive_seconds": (1, 3600),
    "stop_timeout_seconds": (1, 3600),
    "stuck_timeout_seconds": (1, 3600),
}
"""The lowest and the highest value of each setting that is an integer."""


@dataclass(frozen=True)
class Settings:
    """What the service is started with; each field is RESTBENCH_<NAME> in the environment."""

    host: str = "127.0.0.1"
    """Address to listen on: an IP address or a host name."""
    port: int = 8000
    """TCP port to listen on."""
    max_body_bytes: int = 64 * MEBIBYTE
    """A larger request body is error 007, so is a product of more than half as many elements."""
    max_in_flight: int = 256
    """With so many requests in flight the next is error 008; more than the study's 60 users."""
    processes: int = 1
    """Processes in each pool; in the environment the default is one a core the service may use."""
    running: int | None = None
    """Requests running at once under each strategy, the others wait in order of arrival.
    None, the default, is what the strategy can make progress with: 1 where the GIL or the pool
    lets one run at a time anyway, one a process for process-per-request. More would only make
    requests take turns, so that all of them finish at the end."""
    blas_threads: int = 1
    """Threads of numpy's matrix library, so that `native` is one core as `loops` is."""
    memory_budget_bytes: int = 512 * MEBIBYTE
    """Bodies and answers in memory at once; what does not fit is error 008. The study's largest
    request has 0.5 MiB with its answer, so max_in_flight acts first; eight of the largest fit."""
    working_memory_bytes: int = 2048 * MEBIBYTE
    """What the NAS kernels in flight may need at once, with the cached inputs: class B of each."""
    input_cache_bytes: int = 512 * MEBIBYTE
    """Of the working memory, for inputs that later requests use again, in equal parts for each
    process that computes: with two cores the field of class A of FT fits, the largest there."""
    max_connections: int = 2000
    """Open at once; one more displaces the one idle longest, or is error 008. Idle ones cost a
    descriptor and some KiB, so there may be many more than requests in flight."""
    receive_timeout_seconds: int = 20
    """From a request's first byte to its last, however they are spaced; then error 002. The
    largest body needs 3.4 MB/s, the study's largest request 25 kB/s."""
    send_timeout_seconds: int = 20
    """For a client to take its answer; then the connection is closed."""
    keep_alive_seconds: int = 300
    """Until an idle connection is closed: a user keeps his for a whole run, and between runs."""
    stop_timeout_seconds: int = 30
    """For requests in flight when the service is told to stop; then they are cut off. Longer than
    the receive timeout, so that a slow sender alone never is what ends it."""
    stuck_timeout_seconds: int = 120
    """Until gunicorn replaces a worker whose main thread does nothing: only a machine at a
    standstill is this slow."""
    calibration_file: str = "~/.cache/restbench/python-calibration.json"
    """Where `adaptive` keeps what it has measured of this machine, for the next start. Empty:
    nowhere. Where it cannot be written, the log says so and each start measures."""

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> Self:
        """Raises InvalidSettingError naming the first wrong variable and the allowed values."""
        environment = Environment(variables)
        defaults = {name: getattr(cls, name) for name in ALLOWED}
        defaults.update(processes=len(allowed_cores()))
        values: dict[str, Any] = {
            name: environment.integer(_variable(name), defaults[name], *bounds)
            for name, bounds in ALLOWED.items()
        }
        values["calibration_file"] = environment.file(
            "RESTBENCH_CALIBRATION_FILE", cls.calibration_file
        )
        settings = cls(host=environment.host("RESTBENCH_HOST", cls.host), **values)
        settings.check_budget()
        return settings

    def check_budget(self) -> None:
        """Raises InvalidSettingError if a body, or the cache, could never be held."""
        self._check_holds("memory_budget_bytes", "max_body_bytes")
        self._check_holds("working_memory_bytes", "input_cache_bytes")

    def _check_holds(self, whole: str, part: str) -> None:
        whole_bytes, part_bytes = getattr(self, whole), getattr(self, part)
        if whole_bytes < part_bytes:
            raise InvalidSettingError(
                f"{_variable(whole)}={whole_bytes}: must be at least "
                f"{_variable(part)}, which is {part_bytes}"
            )

    @property
    def most_product_elements(self) -> int:
        """Of the largest product: an element takes at least two bytes of the answer."""
        return max(1, self.max_body_bytes // 2)

    @property
    def most_working_bytes(self) -> int:
        """Of all kernels in flight: the caches have their part of the memory for good."""
        return self.working_memory_bytes - self.input_cache_bytes

    @property
    def cached_bytes_a_process(self) -> int:
        """The web process computes, and each process of the pool that has whole requests."""
        return self.input_cache_bytes // (1 + self.processes)

    @property
    def calibration_path(self) -> Path | None:
        """With the home directory in it; None where this user has none."""
        try:
            return Path(self.calibration_file).expanduser() if self.calibration_file else None
        except RuntimeError:
            return None

    @property
    def threads(self) -> int:
        """Requests that the web process handles at once, waiting ones included."""
        return self.max_in_flight + SPARE_THREADS

    @property
    def descriptors(self) -> int:
        """Files and sockets that the web process may have open at once."""
        pools = 2 * self.processes + 24 * (self.running or 1)  # sockets, shared arrays
        return self.max_connections + REFUSED_AT_ONCE + pools + 128


def _variable(field: str) -> str:
    return f"RESTBENCH_{field.upper()}"
