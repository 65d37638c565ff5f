"""The processes of the pools of a service, by the names that /proc gives them."""

import os
import re

from live_service import children, name_of

PRELOADED = ("restbench_service.catalogue",)
NAME = re.compile(r"(PE|PR|EE|ER|F1)-[0-9]+")


def pool(prefix: str = "", service: int | None = None) -> dict[str, int]:
    """Process ids by name; the fork server stands between a service and them."""
    parents = [service or os.getpid()]
    found: dict[str, int] = {}
    while parents:
        below = [child for parent in parents for child in children(parent)]
        named = {name_of(pid): pid for pid in below}
        found |= {n: pid for n, pid in named.items() if NAME.fullmatch(n) and n.startswith(prefix)}
        parents = below
    return found
