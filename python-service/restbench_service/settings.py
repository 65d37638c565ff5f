"""All settings of the service, read from the environment once and validated.

This module must not import numpy: it is read before the environment of numpy's library is set.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Self, get_type_hints

from .environment import UNIX, Environment, InvalidSettingError
from .process import allowed_cores

MEBIBYTE = 1024 * 1024

LARGEST_BODY_LIMIT = 192 * MEBIBYTE
"""As in the Java service, where the answer to the largest product must fit one array."""

SPARE_THREADS = 32
"""In addition to one per request in flight: to read and refuse requests, and for /health."""
POOLS_OF_WHOLE_REQUESTS = 3
"""Those of process-per-request and executor-per-request, and the low-priority one of adaptive."""
HANDOFFS = ("thread", "loop")

NOT_SHOWN = ("database_url", "database_password_file", "database_free_path")
"""Settings that GET /health omits, as they reveal where other resources are."""


@dataclass(frozen=True)
class Settings:
    """The settings of the service; each field is RESTBENCH_<NAME> in the environment.

    README.md says what each setting does. The texts here add reasons. An integer has the lowest and
    the highest value in its annotation.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, (1, 65535)] = 8000
    framework: str = "flask"
    """A name in the table of frameworks, which main.py looks up."""
    handoff: str = "thread"
    strategies: tuple[str, ...] | None = None
    """Names in the table of techniques, which main.py looks up; None: all."""
    max_body_bytes: Annotated[int, (1, LARGEST_BODY_LIMIT)] = 64 * MEBIBYTE
    max_in_flight: Annotated[int, (1, 4096)] = 256
    max_delay_millis: Annotated[int, (0, 60_000)] = 10_000
    """The longest delay in the study of calls."""
    workers: Annotated[int, (1, 64)] = 1
    processes: Annotated[int, (1, 1024)] = 1
    running: Annotated[int | None, (1, 10_000)] = None
    """None: as many as a strategy can really run at once, which is 1 where the GIL or the pool runs
    one at a time anyway, and one per process for process-per-request. More requests would only
    alternate, and all of them would finish late."""
    pool_threads: Annotated[int | None, (1, 999)] = None
    blas_threads: Annotated[int, (1, 1024)] = 1
    """With one thread `native` uses one core, as `loops` does."""
    max_loop_operations: Annotated[int, (1, 10**12 - 1)] = 200_000_000
    max_operations: Annotated[int, (1, 10**12 - 1)] = 10_000_000_000
    max_request_tasks: Annotated[int, (1, 10**12 - 1)] = 1_000_000
    """A product of 1000 x 1000 elements."""
    memory_budget_bytes: Annotated[int, (1, 2**40)] = 3072 * MEBIBYTE
    """Enough for class B of each NAS kernel together with eight of the largest bodies."""
    input_cache_bytes: Annotated[int, (0, 2**40)] = 1024 * MEBIBYTE
    """With two cores, enough to keep the input of FT in class A, the largest of that class."""
    max_connections: Annotated[int, (1, 100_000)] = 2000
    """Idle connections cost only a descriptor and some KiB, so the limit is high."""
    receive_timeout_seconds: Annotated[int, (1, 3600)] = 20
    keep_alive_seconds: Annotated[int, (1, 3600)] = 300
    """A simulated user keeps a connection for a whole run, and between runs."""
    stop_timeout_seconds: Annotated[int, (1, 3600)] = 30
    stuck_timeout_seconds: Annotated[int, (1, 3600)] = 120
    """A worker takes this long only if the machine stands still."""
    database_url: str | None = None
    database_password_file: str | None = None
    """The password is not in the URL, which others can read."""
    database_connections: Annotated[int, (1, 150)] = 20
    database_free_path: str | None = None
    database_min_free_bytes: Annotated[int, (0, 10**12 - 1)] = 1024 * MEBIBYTE
    max_message_characters: Annotated[int, (1, MEBIBYTE)] = 65536
    receipt_seconds: Annotated[int, (1, 24 * 3600)] = 600

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> Self:
        """Raises InvalidSettingError naming the first wrong variable and the allowed values."""
        environment = Environment(variables)
        defaults = vars(cls) | {"processes": len(allowed_cores())}
        values: dict[str, Any] = {
            name: environment.integer(f"RESTBENCH_{name.upper()}", defaults[name], *bounds)
            for name, bounds in ALLOWED.items()
        }
        settings = cls(
            host=environment.host("RESTBENCH_HOST", cls.host),
            framework=variables.get("RESTBENCH_FRAMEWORK", cls.framework),
            handoff=environment.choice("RESTBENCH_HANDOFF", cls.handoff, HANDOFFS),
            strategies=environment.names("RESTBENCH_STRATEGIES"),
            database_url=environment.database("RESTBENCH_DATABASE_URL"),
            database_password_file=environment.readable("RESTBENCH_DATABASE_PASSWORD_FILE"),
            database_free_path=environment.existing("RESTBENCH_DATABASE_FREE_PATH"),
            **values,
        )
        least_bytes = settings.max_body_bytes + settings.input_cache_bytes
        if settings.memory_budget_bytes < least_bytes:
            raise InvalidSettingError(
                f"RESTBENCH_MEMORY_BUDGET_BYTES={settings.memory_budget_bytes}: must be at least "
                f"RESTBENCH_MAX_BODY_BYTES and RESTBENCH_INPUT_CACHE_BYTES, {least_bytes} together"
            )
        return settings

    def shown(self) -> dict[str, Any]:
        """The settings for GET /health, with camel-case names like all JSON of this service."""
        values = asdict(self)
        words = {name: name.split("_") for name in values if name not in NOT_SHOWN}
        return {
            first + "".join(map(str.title, rest)): values[name]
            for name, (first, *rest) in words.items()
        }

    @property
    def socket_path(self) -> str | None:
        """The path of the Unix socket to listen on; None for TCP."""
        return self.host.removeprefix(UNIX) if self.host.startswith(UNIX) else None

    @property
    def most_product_elements(self) -> int:
        """Elements of the largest product: each takes at least two bytes of the answer."""
        return max(1, self.max_body_bytes // 2)

    @property
    def in_flight_a_worker(self) -> int:
        """A worker's share of `max_in_flight`, rounded up."""
        return -(-self.max_in_flight // self.workers)

    @property
    def request_memory_bytes(self) -> int:
        """The memory of all requests in flight in a worker: its share of the budget without the
        caches, whose part is reserved for good."""
        return -(-(self.memory_budget_bytes - self.input_cache_bytes) // self.workers)

    @property
    def database_connections_a_worker(self) -> int:
        """A worker's share of `database_connections`, rounded up."""
        return -(-self.database_connections // self.workers)

    @property
    def cached_bytes_a_process(self) -> int:
        """The cache of each process that computes: a worker, or a process of a pool that gets
        whole requests."""
        processes = 1 + POOLS_OF_WHOLE_REQUESTS * self.processes
        return self.input_cache_bytes // (self.workers * processes)

    @property
    def threads(self) -> int:
        """Requests that a worker handles at once, waiting ones included."""
        return self.in_flight_a_worker + SPARE_THREADS

    @property
    def connections(self) -> int:
        """Connections open at once: idle ones, and one for each request that is handled."""
        return self.max_connections + self.threads

    @property
    def descriptors(self) -> int:
        """Files and sockets that a worker may have open at once."""
        pools = 16 * self.processes + 24 * (self.running or 1)  # pipes, sentinels, shared arrays
        return self.connections + self.database_connections + pools + 256


ALLOWED: Mapping[str, tuple[int, int]] = {
    name: kind.__metadata__[0]
    for name, kind in get_type_hints(Settings, include_extras=True).items()
    if hasattr(kind, "__metadata__")
}
"""The lowest and the highest value of each integer setting. The Java service has the same bounds
for the settings that it shares, except that it also allows port 0, which is any free port."""
