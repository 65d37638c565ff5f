"""Which operation of which workload under which strategy a path asks for."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from ..codec.codec import Codec
from ..coded_workloads import CodedWorkload, Operation
from ..execution.strategy import Strategy
from ..workloads.workload import Workload


class Route(NamedTuple):
    """What handles a request. The codec knows the variable parts of the path."""

    workload: Workload[Any, Any]
    name: str
    """The strategy's name."""
    strategy: Strategy
    codec: Codec[Any, Any]


class Routes:
    """The routes at /{workload}/{strategy} and below. A path is split and compared as it was sent,
    without decoding; {name} in a template matches any part that is not empty.
    """

    def __init__(
        self, workloads: Mapping[str, CodedWorkload], strategies: Mapping[str, Strategy]
    ) -> None:
        """`workloads` and `strategies` by their names in a path."""
        self._whole: dict[str, dict[str, Route]] = {}
        self._templates: dict[str, list[tuple[str, re.Pattern[str], Callable[..., Route]]]] = {}
        """Method, pattern, and what makes the route from the values of the named parts."""
        for path, coded in workloads.items():
            for name, strategy in strategies.items():
                if coded.is_offered_under(name):
                    for operation in coded.operations:
                        self._add(f"{path}/{name}", coded, operation, name, strategy)

    @property
    def whole(self) -> Collection[str]:
        """The paths without a variable part."""
        return self._whole.keys()

    def at(self, raw_path: str) -> Mapping[str, Route]:
        """The routes of a path by method; empty if there is no such path."""
        return self._whole.get(raw_path) or self._matched(raw_path)

    def _add(
        self, under: str, coded: CodedWorkload, operation: Operation, name: str, strategy: Strategy
    ) -> None:
        def route(*values: str) -> Route:
            return Route(coded.workload, name, strategy, operation.codec(name, values))

        path = f"/{under}{operation.path}"
        if "{" in path:
            pattern = re.compile(re.sub(r"\{\w+\}", "([^/]+)", path))
            self._templates.setdefault(under, []).append((operation.method, pattern, route))
        else:
            self._whole.setdefault(path, {})[operation.method] = route()

    def _matched(self, raw_path: str) -> Mapping[str, Route]:
        templates = self._templates.get("/".join(raw_path.split("/", 3)[1:3]), ())
        found = ((method, each.fullmatch(raw_path), route) for method, each, route in templates)
        return {method: route(*match.groups()) for method, match, route in found if match}
