"""All settings of the service, read from the environment once and validated.

This module must not import numpy: gunicorn reads it before the BLAS thread count is set.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from .affinity import allowed_cores

BLAS_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")

LARGEST_BODY_LIMIT = 192 * 1024 * 1024
"""As in the Java service, where the answer to the largest product must fit one array."""


class InvalidSettingError(Exception):
    """A variable of the environment has a value that is not allowed; the text is one line."""


@dataclass(frozen=True)
class Settings:
    """What the service is started with; each field is RESTBENCH_<NAME> in the environment."""

    host: str = "127.0.0.1"
    """Address to listen on: an IP address or a host name."""
    port: int = 8000
    """TCP port to listen on."""
    max_body_bytes: int = 64 * 1024 * 1024
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

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Raises InvalidSettingError naming the first wrong variable and the allowed values."""
        read = _Reader(environment)
        return cls(
            host=read.host("RESTBENCH_HOST", cls.host),
            port=read.integer("RESTBENCH_PORT", cls.port, 1, 65535),
            max_body_bytes=read.integer(
                "RESTBENCH_MAX_BODY_BYTES", cls.max_body_bytes, 1, LARGEST_BODY_LIMIT
            ),
            max_in_flight=read.integer("RESTBENCH_MAX_IN_FLIGHT", cls.max_in_flight, 1, 10_000),
            processes=read.integer("RESTBENCH_PROCESSES", len(allowed_cores()), 1, 1024),
            running=read.integer("RESTBENCH_RUNNING", 0, 1, 10_000) or None,
            blas_threads=read.integer("RESTBENCH_BLAS_THREADS", cls.blas_threads, 1, 1024),
        )

    @property
    def most_product_elements(self) -> int:
        """Of the largest product: an element takes at least two bytes of the answer."""
        return max(1, self.max_body_bytes // 2)


class _Reader:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        text = self._environment.get(name)
        if text is None:
            return default
        if re.fullmatch("[0-9]{1,10}", text) and low <= int(text) <= high:
            return int(text)
        raise InvalidSettingError(f"{name}={text!r}: must be an integer from {low} to {high}")

    def host(self, name: str, default: str) -> str:
        text = self._environment.get(name, default)
        if _is_address(text) or (HOST_NAME.fullmatch(text) and not text[-1].isdigit()):
            return text
        raise InvalidSettingError(f"{name}={text!r}: must be an IP address or a host name")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
