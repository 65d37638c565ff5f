"""Which operation of which workload under which strategy a path asks for."""

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
        self._templates: dict[str, list[_Template]] = {}
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
        def route(values: tuple[str, ...]) -> Route:
            return Route(coded.workload, name, strategy, operation.codec(name, values))

        if "{" in operation.path:
            template = _Template(operation.method, operation.path.split("/")[1:], route)
            self._templates.setdefault(under, []).append(template)
        else:
            self._whole.setdefault(f"/{under}{operation.path}", {})[operation.method] = route(())

    def _matched(self, raw_path: str) -> Mapping[str, Route]:
        _, *parts = raw_path.split("/")
        templates = self._templates.get("/".join(parts[:2]), ())
        found = ((each, each.values(parts[2:])) for each in templates)
        return {each.method: each.route(values) for each, values in found if values}


class _Template(NamedTuple):
    method: str
    places: list[str]
    route: Callable[[tuple[str, ...]], Route]
    """Makes the route of one request from the values of the named parts."""

    def values(self, parts: list[str]) -> tuple[str, ...]:
        """The values of the named parts; empty if the path does not match."""
        if len(parts) != len(self.places):
            return ()
        values = list[str]()
        for place, part in zip(self.places, parts, strict=True):
            if place.startswith("{") and part:
                values.append(part)
            elif place != part:
                return ()
        return tuple(values)
