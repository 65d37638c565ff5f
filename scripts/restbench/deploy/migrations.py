"""The database's tables, functions and rights: numbered files, each applied once."""

from __future__ import annotations

from typing import Literal

Role = Literal["owner", "service", "monitor"]
ROLES: dict[Role, str] = {
    "owner": "restbench_owner",
    "service": "restbench_service",
    "monitor": "restbench_monitor",
}
