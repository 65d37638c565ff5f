"""A cell: one combination of the factors' levels, the unit that a run measures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from restbench.failures import counted
from restbench.machine.placement import Placement

ServiceName = Literal["java", "python"]
Front = Literal["none", "apache", "nginx", "haproxy"]
Kernel = Literal["loops", "native"]
#: `checkout` is the harness' own checkout; A and B are two commits that `restbench ab` compares.
Build = Literal["checkout", "A", "B"]
OfJava = Literal["tomcat", "servlet", "jetty", "reactor-netty", "vertx", "helidon"]
OfPython = Literal["flask", "flask-granian", "fastapi", "fastapi-gunicorn", "aiohttp", "rsgi"]
Framework = Literal[OfJava, OfPython]

#: Where an asynchronous framework runs a request: on a thread, or in its event loop.
Handoff = Literal["thread", "loop"]

#: The kind of socket between a front and the service.
Link = Literal["tcp", "unix"]

#: How long a user keeps a connection: for all its requests, or for one request each.
Connection = Literal["kept", "each"]

#: How a queue's messages are sent and popped; `none` where a cell is not of messages.
Technique = Literal[
    "none",
    "skip-locked",
    "statements",
    "function",
    "blocking",
    "advisory",
    "repeatable-read",
    "pgmq",
    "memory",
]
#: The strategies that take messages. The others split the loop of a request into parts, and an
#: operation on a queue has no loop.
TAKING_MESSAGES = frozenset(
    {
        "serial",
        "pinned",
        "pipeline",
        "process-per-request",
        "executor-per-request",
        "worker-pool",
        "virtual-thread-per-request",
    }
)
#: Those of them that work in other processes than the one with the queues of technique `memory`.
IN_OTHER_PROCESSES = frozenset({"process-per-request", "executor-per-request"})

#: The strategies that each service offers (its README, "Strategies"), with the study's key, if any.
STRATEGIES: dict[ServiceName, dict[str, str | None]] = {
    "java": {
        "serial": "S",
        "thread-pool": "M",
        "pinned": "AF",
        "pipeline": "PL",
        "thread-per-element": None,
        "shared-pool": None,
        "fork-join": None,
        "virtual-threads": None,
        "worker-pool": None,
        "virtual-thread-per-request": None,
        "adaptive": "F1",
    },
    "python": {
        "serial": "PS",
        "process-per-element": "PE",
        "process-per-request": "PR",
        "executor-per-element": None,
        "executor-per-request": None,
        "worker-pool": None,
        "adaptive": "F1",
    },
}

#: The web frameworks that each service can run in, its default first.
FRAMEWORKS: dict[ServiceName, tuple[Framework, ...]] = {
    "java": get_args(OfJava),
    "python": get_args(OfPython),
}
#: The frameworks with an event loop, in which they can run requests.
ASYNCHRONOUS = frozenset[Framework](
    {"reactor-netty", "vertx", "fastapi", "fastapi-gunicorn", "aiohttp", "rsgi"}
)
#: The frameworks whose server can have several serving processes.
WITH_WORKERS = frozenset[Framework]({"flask", "flask-granian", "fastapi-gunicorn", "rsgi"})
DEFAULT_FRAMEWORKS: dict[str, Framework] = {name: of[0] for name, of in FRAMEWORKS.items()}

_SETTINGS_OF_BOTH = (
    "HOST", "PORT", "FRAMEWORK", "HANDOFF", "POOL_THREADS", "MAX_BODY_BYTES", "MAX_IN_FLIGHT",
    "MAX_DELAY_MILLIS", "MAX_LOOP_OPERATIONS", "MAX_OPERATIONS", "MEMORY_BUDGET_BYTES",
    "MAX_CONNECTIONS", "RECEIVE_TIMEOUT_SECONDS", "KEEP_ALIVE_SECONDS", "STOP_TIMEOUT_SECONDS",
    "DATABASE_URL", "DATABASE_PASSWORD_FILE", "DATABASE_CONNECTIONS", "DATABASE_FREE_PATH",
    "DATABASE_MIN_FREE_BYTES", "MAX_MESSAGE_CHARACTERS", "RECEIPT_SECONDS",
)  # fmt: skip
_SETTINGS_OF_ONE: dict[ServiceName, tuple[str, ...]] = {
    "java": ("MAX_THREADS", "MAX_REQUEST_THREADS", "PINNED_WORKERS", "PIPELINE_QUEUE"),
    "python": (
        "STRATEGIES", "WORKERS", "PROCESSES", "RUNNING", "BLAS_THREADS", "INPUT_CACHE_BYTES",
        "STUCK_TIMEOUT_SECONDS", "MAX_REQUEST_TASKS",
    ),
}  # fmt: skip
_OURS = "RESTBENCH_"
#: The suite's own environment variables that each service reads (its README, "Settings").
SETTINGS = {
    service: [f"{_OURS}{each}" for each in (*_SETTINGS_OF_BOTH, *names)]
    for service, names in _SETTINGS_OF_ONE.items()
}

#: Strategies that only some runtimes offer (Java 21 and newer): their absence is no failure.
OPTIONAL = frozenset({("java", "virtual-threads"), ("java", "virtual-thread-per-request")})


class ServiceGroup(NamedTuple):
    """The levels of those factors that cells must have in common to share a service process."""

    service: ServiceName
    placement: Placement
    front: Front
    build: Build
    framework: Framework
    handoff: Handoff
    link: Link
    postgres: str
    settings: str
    workers: int
    instances: int
    pool_threads: int
    connections: int

    @property
    def name(self) -> str:
        """The name of the group's folder."""
        return "-".join([*self[:3], *_named(self, self._fields[3:])])


class Record(BaseModel):
    """A strict, immutable model: a part of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


#: The services take at most 64 MiB, in which an element has two bytes or more. The harness makes
#: and multiplies the matrices in its own memory.
MOST_ELEMENTS = 2**25


class Shape(Record):
    """Operand sizes: matrixOne is rows x inner, matrixTwo is inner x columns."""

    rows: int = Field(ge=1)
    inner: int = Field(ge=1)
    columns: int = Field(ge=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        sizes = (self.rows * self.inner, self.inner * self.columns, self.rows * self.columns)
        if max(sizes) > MOST_ELEMENTS:
            raise ValueError(
                "rows x inner, inner x columns, rows x columns: allowed are up to "
                f"{MOST_ELEMENTS} elements"
            )
        return self

    @property
    def products(self) -> int:
        """How many products of two elements are summed up."""
        return self.rows * self.inner * self.columns


class Kind(Record):
    """One kind of request of a mix: a level of one size, and how many of all requests are of it."""

    name: str
    share: float
    shape: Shape


class Cell(Record):
    """One combination of factor levels, which `columns` explains. Hashable; its `id` names its
    folders and its JTL label."""

    service: ServiceName
    strategy: str
    placement: Placement = "unbound"
    front: Front = "none"
    complexity: str
    users: int
    kernel: Kernel = "loops"
    build: Build = "checkout"
    framework: Framework = "tomcat"
    """The service's default where none is given."""
    handoff: Handoff = "thread"
    workers: int = 1
    connection: Connection = "kept"
    instances: int = 1
    link: Link = "tcp"
    technique: Technique = "none"
    pool_threads: int = 0
    connections: int = 0
    postgres: str = ""
    """Settings of the database that differ from its usual ones, such as `shared_buffers=2GB`;
    several are separated by commas."""
    settings: str = ""
    """The service's environment variables in the same form: `RESTBENCH_MAX_IN_FLIGHT=512`."""
    delay_ms: int = 0

    @model_validator(mode="before")
    @classmethod
    def _default_framework(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("service") in DEFAULT_FRAMEWORKS:
            return {"framework": DEFAULT_FRAMEWORKS[given["service"]], **given}
        return given

    @property
    def unusual(self) -> tuple[str, ...]:
        """The levels of the factors in `_IN_NAMES` that are not the default."""
        return tuple(_named(self, _IN_NAMES))

    @property
    def unusual_parts(self) -> tuple[str, ...]:
        """The levels in `unusual`, with each of several settings as one part."""
        return tuple(part for level in self.unusual for part in level.split(","))

    @property
    def id(self) -> str:
        """A name such as `java-pinned-unbound-low-30u`, with what is `unusual`."""
        parts = [self.service, self.strategy, self.placement, self.complexity, f"{self.users}u"]
        return "-".join([*parts, *self.unusual])

    @property
    def framework_text(self) -> str:
        """The framework and, where that is not a thread, where it runs a request."""
        return self.framework if self.handoff == "thread" else f"{self.framework}, {self.handoff}"

    @property
    def key(self) -> str:
        """The study's short name (S, M, AF, PS, ...), or the strategy's own name."""
        return STRATEGIES[self.service].get(self.strategy) or self.strategy

    @property
    def service_group(self) -> ServiceGroup:
        """The cell's service group; cells of one group share a service process."""
        return ServiceGroup(*(getattr(self, factor) for factor in ServiceGroup._fields))

    @property
    def proof_key(self) -> tuple[str, ...]:
        """What a proof of this cell is about (`Proof.key`): cells of one key need one proof."""
        return tuple(str(getattr(self, each)) for each in PROVEN)


#: All factors, in the order in which tables have them.
FACTORS = tuple(Cell.model_fields)
#: A strategy is proven once for each combination of these factors' levels.
PROVEN = ("strategy", "service", "placement", "build", "framework", "handoff", "instances")


def require(factor: str, levels: Iterable[str], service: ServiceName) -> None:
    """Raises ValueError where a level of `strategy` or `framework`, or the name of a variable of
    `settings`, is none of the service's. Only names that begin with RESTBENCH_ are checked: other
    variables are for what the service runs on."""
    known: Mapping[str, Mapping[ServiceName, Collection[str]]] = {
        "strategy": STRATEGIES,
        "framework": FRAMEWORKS,
        "settings": SETTINGS,
    }
    for level in levels:
        is_ours = factor != "settings" or level.startswith(_OURS)
        if is_ours and level not in (allowed := known[factor][service]):
            raise ValueError(
                f"{factor}: '{level}' is not one of the {service} service's: {', '.join(allowed)}"
            )


def _named(of: Cell | ServiceGroup, factors: Iterable[str]) -> list[str]:
    """The levels that are not the default; numbers have a suffix, such as `2w` for workers."""
    usual = _DEFAULTS | {"framework": DEFAULT_FRAMEWORKS[of.service]}
    return [
        f"{getattr(of, each)}{_UNITS.get(each, '')}"
        for each in factors
        if getattr(of, each) != usual[each]
    ]


_DEFAULTS = {name: field.default for name, field in Cell.model_fields.items()}
_UNITS = {
    "workers": "w",
    "instances": "i",
    "pool_threads": "t",
    "connections": "c",
    "delay_ms": "ms",
}
#: The factors whose unusual levels a cell's id has after the other levels, in this order.
_IN_NAMES = (
    *("framework", "handoff", "front", "kernel", "build", "workers", "connection", "instances"),
    *("link", "technique", "pool_threads", "connections", "postgres", "settings"),
    "delay_ms",
)


def variables(settings: str) -> dict[str, str]:
    """The values that a cell's `settings` or `postgres` sets, by name."""
    return dict(each.split("=", 1) for each in settings.split(",") if each)


def users_text(users: int) -> str:
    """The number of users in words, such as `1 user` and `10 users`."""
    return counted(users, "user")
