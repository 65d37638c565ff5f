"""What a framework serves: the core with its strategies, made and closed in the serving process."""

import logging

from .coded_workloads import coded_workloads
from .core.service import Core, Server
from .execution.strategies import TECHNIQUES, Start, close_strategies, start_strategies
from .process import on_ending
from .settings import Settings

PRELOADED = ("restbench_service.coded_workloads",)
CLOSE_SECONDS = 5.0


class ServingProcess:
    """The core and its pools, running. To be made in the main thread, after any fork."""

    def __init__(self, settings: Settings, server: Server) -> None:
        """`server` describes the framework and the HTTP server around the core."""
        logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        offered = coded_workloads(settings)
        self._workloads = [each.workload for each in offered.values()]
        for workload in self._workloads:
            workload.open()
        modules = (*PRELOADED, *(type(each).__module__ for each in self._workloads))
        start = Start(settings.processes, settings.running, modules, settings.pool_threads)
        self._strategies = start_strategies(start, settings.strategies or TECHNIQUES)
        self.core = Core(settings, offered, self._strategies, server)
        on_ending(self.core.delays.stop)

    def await_ready(self) -> None:
        """Return when every strategy can run. Raises PoolFailedError."""
        for strategy in self._strategies.values():
            strategy.await_ready()

    def close(self) -> None:
        """Close all strategies, together within CLOSE_SECONDS, then the workloads."""
        close_strategies(self._strategies.values(), CLOSE_SECONDS)
        for workload in self._workloads:
            workload.close()
