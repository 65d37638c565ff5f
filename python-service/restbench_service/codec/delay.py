"""?delay=MS of any workload: how long a request asks to wait before it is worked on."""

import re
from functools import lru_cache
from urllib.parse import parse_qs

_MILLIS = re.compile(r"[0-9]{1,6}")


@lru_cache(maxsize=64)
def asked_ms(query: str, max_ms: int) -> int | None:
    """Milliseconds; None where nothing is asked for, or something wrong."""
    asked = _values(query)
    if len(asked) != 1 or not _MILLIS.fullmatch(asked[0]):
        return None
    delay_ms = int(asked[0])
    return delay_ms if delay_ms <= max_ms else None


@lru_cache(maxsize=64)
def fault(query: str, max_ms: int) -> str | None:
    """The message of 003, right after the kernel's; None where nothing is wrong."""
    if not query or asked_ms(query, max_ms) is not None or not _values(query):
        return None
    return f"delay: must be a whole number of milliseconds from 0 to {max_ms}"


def _values(query: str) -> list[str]:
    return parse_qs(query, keep_blank_values=True).get("delay", [])
