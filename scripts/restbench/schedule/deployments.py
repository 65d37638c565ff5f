"""The services of a block: all that its cells need, fresh and up at the same time."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from restbench.deploy import programs, service
from restbench.deploy.service import Service
from restbench.experiment.cell import ASYNCHRONOUS, Cell, ServiceGroup, ServiceName, variables
from restbench.experiment.order import Order
from restbench.failures import EnvironmentProblem, NotOffered
from restbench.machine import jvm, ports, process
from restbench.machine.namespaces import Host
from restbench.machine.placement import Cores, allowed_cores, core_list, instances_cores
from restbench.store.store import Run
from restbench.store.writing import write_json, write_text


@dataclass
class RunningService:
    """A service that is up."""

    service: Service
    cores: Cores
    offered: tuple[str, ...]
    runtime: str
    bound: Sequence[tuple[int, ...]] = ()
    """The cores of each instance, where there are several."""

    def instances(self) -> list[tuple[Service, tuple[int, ...]]]:
        """Each instance with the cores that it may use."""
        each = self.service.each()
        return list(zip(each, self.bound or [self.cores.service], strict=True))

    def off_cores_share(self) -> float:
        """The share of the CPU time of instances and front that was spent on other cores than the
        ones that each was given; 0 to 1."""
        given = [(each.pids(), cores) for each, cores in self.instances()]
        if self.bound:  # else the front is among the processes of the one service
            given.append((self.service.front_pids(), self.cores.service))
        return process.off_cores_share(given)


@dataclass
class Deployments:
    """The services of one block."""

    run: Run
    block: int
    order: Order
    host: Host | None = None
    """The host on which the services run; None: this machine, without a network namespace."""
    databases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By the settings of PostgreSQL that a cell names: the environment variables with which a
    service finds the database that has these settings."""
    usual_ports: bool = True
    """Whether the first service of each name gets its usual port; False where services of another
    `Deployments` may have that port."""
    up: dict[ServiceGroup, RunningService] = field(default_factory=dict)
    down: dict[ServiceGroup, EnvironmentProblem] = field(default_factory=dict)
    """The services that did not come up, with the reason. Only their cells fail."""

    def start(self, keys: Iterable[ServiceGroup]) -> None:
        """Start services that are not up, each with a second attempt; `down` has those that do not
        come up. Raises StorageProblem."""
        for key in keys:
            is_ours = key.service not in self.order.attached
            if is_ours and (lack := programs.why_unavailable(key.service, key.framework)):
                self.down[key] = NotOffered(lack)
                continue
            for _attempt in range(2):
                try:
                    self.up[key] = self._started(key)
                    self.down.pop(key, None)
                    break
                except EnvironmentProblem as error:
                    self.down[key] = error

    def of(self, cell: Cell) -> RunningService | None:
        """The service that answers a cell's requests; None where it is not up."""
        return self.up.get(cell.service_group)

    def running(self, cell: Cell) -> RunningService:
        """The service that answers a cell's requests. EnvironmentProblem where it is not up."""
        if running := self.of(cell):
            return running
        raise self.down.get(cell.service_group) or EnvironmentProblem("its service is not up")

    def lacks(self, cell: Cell) -> EnvironmentProblem | None:
        """Why a cell cannot be measured here; None where it can. It is NotOffered where another
        attempt would not change that."""
        try:
            running = self.running(cell)
        except EnvironmentProblem as error:
            return error
        if cell.strategy not in running.offered:
            return NotOffered(
                f"{cell.service} {cell.strategy}: not offered by this service on "
                f"{running.runtime}; it offers {', '.join(running.offered)}"
            )
        return None

    def renew(self, cell: Cell) -> bool:
        """Start a fresh service for a cell in place of one that has ended or did not come up;
        returns whether it is up. Not for attached services."""
        key = cell.service_group
        if ended := self.up.pop(key, None):
            ended.service.stop(signal.SIGKILL)
        self.start([key])
        return key in self.up

    def stop(self) -> None:
        """Stop all services that were started."""
        for each in self.up.values():
            each.service.stop()
        self.up.clear()

    def _started(self, key: ServiceGroup) -> RunningService:
        name, built = key.service, self.order.builds.get(key.build)
        url = self.order.attached.get(name)
        bound: Sequence[tuple[int, ...]] = ()
        if url:
            running = service.attach(name, url)
            health = running.health()
            cores = Cores(service=tuple(health.get("cores", ())), load=allowed_cores())
        else:
            cores = self.run.cores(key.placement)
            folder = self.run.service(self.block, key)
            first = self.usual_ports and not any(each.service == name for each in self.up)
            bound = instances_cores(key.placement, cores, key.instances)
            if len(bound) < key.instances:
                raise EnvironmentProblem(
                    f"{key.instances} instances need a core each, the service has {len(bound)}"
                )
            running = service.start(
                name,
                key.front,
                core_list(cores.service),
                folder,
                command=built.commands[name] if built else None,
                settings={
                    **_shares(name, key.instances, len(bound[0])),
                    **self.order.experiment.settings.get(name, {}),
                    **_of_factors(key),
                    **self.databases.get(key.postgres, {}),
                },
                port=None if first else ports.free(),
                framework=key.framework,
                host=self.host,
                link=key.link,
                instances=[core_list(each) for each in bound] if key.instances > 1 else (),
            )
        try:
            health = running.health()
            if not url:
                write_text(folder / "command.txt", running.command + "\n")
                write_json(folder / "health.json", health)
            offered = tuple(running.strategies())
            runtime = str(health.get("runtime", "unknown"))
            return RunningService(
                running, cores, offered, runtime, bound if running.instances else ()
            )
        except BaseException:
            running.stop()
            raise


def _of_factors(key: ServiceGroup) -> dict[str, str]:
    """The variables that follow from factors, and those of the cell's own settings. Several workers
    offer only `serial`, as each would start pools of its own. By default there is a connection for
    each thread. A handoff is set only for frameworks with an event loop, as others refuse it."""
    given: dict[str, object] = {
        "RESTBENCH_WORKERS": key.workers if key.workers > 1 else "",
        "RESTBENCH_STRATEGIES": "serial" if key.workers > 1 else "",
        "RESTBENCH_HANDOFF": key.handoff if key.framework in ASYNCHRONOUS else "",
        "RESTBENCH_POOL_THREADS": key.pool_threads,
        "RESTBENCH_DATABASE_CONNECTIONS": key.connections or key.pool_threads,
    }
    return variables(key.settings) | {name: str(level) for name, level in given.items() if level}


def _shares(name: ServiceName, instances: int, cores: int) -> dict[str, str]:
    """The settings of each of several instances: an equal part of the heap (Java) or the processes
    (Python) of a single instance. The sizes of Java's pools follow from an instance's cores."""
    if instances == 1:
        return {}
    if name == "java":
        heap_mib = 1024 * jvm.HEAP_GIB // instances
        return {"JAVA_OPTIONS": f"-Xms{heap_mib}m -Xmx{heap_mib}m"}
    return {"RESTBENCH_PROCESSES": str(max(1, cores // instances))}
