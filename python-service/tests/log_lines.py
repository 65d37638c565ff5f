"""Lines of a log that a seed draws, as the contract's checksums are of."""

import re
from collections.abc import Callable

from restbench_service.workloads.logs.rules import LEVELS, PATHS, ROLES, SERVICES, Draws

LEVELS_FROM = (0, 30, 75, 90, 98)
"""Of a hundred."""
CODES = ["200", "201", "301", "400", "401", "403", "404", "409", "500", "502", "503", "504"]
TEMPLATES = [
    "GET {path}?id={hex} {code} took {ms} ms from {ip}",
    "POST {path} {code} took {ms} ms from {ip} user={user}",
    "Failed password for {user} from {ip} port {port} ssh2",
    "Accepted publickey for {user} from {ip} port {port} ssh2",
    "connection to {host}:{port} refused after {ms} ms",
    "Out of memory: killed process {port} ({service}) using {kb} kB",
    "{dev}: I/O error, sector {kb}, retry {digit}",
    "slow query ({ms} ms): SELECT id, total FROM orders WHERE user='{user}' AND state={digit}",
    "certificate of {host}.example.org expires in {two} days",
    "cache miss ratio 0.{two}, {kb} keys, {ms} evictions",
    "transaction {hex}-{hex} rolled back: deadlock with {hex}-{hex}",
    "payload of {kb} bytes:" + 8 * " {hex}",
]
FORMATS: dict[str, Callable[[Callable[[int], int]], str]] = {
    "path": lambda pick: PATHS[pick(8)],
    "hex": lambda pick: f"{pick(65536):04x}{pick(65536):04x}",
    "code": lambda pick: CODES[pick(12)],
    "ms": lambda pick: str(pick(5000)),
    "ip": lambda pick: f"10.{pick(256)}.{pick(256)}.{pick(256)}",
    "user": lambda pick: f"user{pick(500):03d}",
    "port": lambda pick: str(1024 + pick(60000)),
    "host": lambda pick: f"{ROLES[pick(8)]}-{pick(32):02d}",
    "service": lambda pick: SERVICES[pick(16)],
    "kb": lambda pick: str(1000 * pick(1000) + pick(1000)),
    "dev": lambda pick: "sd" + "abcdefgh"[pick(8)],
    "digit": lambda pick: str(pick(10)),
    "two": lambda pick: f"{pick(100):02d}",
}


def drawn_lines(seed: int, count: int) -> list[str]:
    pick, millis, lines = Draws(seed).pick, 0, []
    for _ in range(count):
        millis += pick(2000)
        host, hundredth = FORMATS["host"](pick), pick(100)
        level = LEVELS[sum(hundredth >= start for start in LEVELS_FROM) - 1]
        service, pid = FORMATS["service"](pick), 100 + pick(32000)
        message = re.sub(r"{(\w+)}", lambda name: FORMATS[name[1]](pick), TEMPLATES[pick(12)])
        hours, minutes, seconds = millis // 3_600_000, millis // 60_000 % 60, millis // 1000 % 60
        moment = f"{hours:02d}:{minutes:02d}:{seconds:02d}.{millis % 1000:03d}"
        lines.append(f"2026-03-01T{moment}Z {host} {level} {service}[{pid}]: {message}")
    return lines
