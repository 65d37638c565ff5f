"""The rules: which lines each fires on, by the platform's own regular expressions.

Rule k is of kind k mod 8; what a kind leaves open is drawn from one stream. The patterns keep to
what every engine reads alike (ASCII literals and classes, greedy counts, one group, `^` and `$`),
and each takes time in proportion to a line's length, whatever is in the line.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

Field = Literal["line", "service", "message"]
RULE_SETS = {"R16": 16, "R64": 64, "R256": 256, "R1024": 1024}
"""How many of the rules each has: the first ones."""
MODULUS = 2**46
MULTIPLIER = 5**13
"""Of the NAS Parallel Benchmarks, as their generator: any language computes it exactly."""
SEED = 2022
THRESHOLD_PER_16_RULES = 3
"""A line whose fired rules weigh as much is an alert."""
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""A line's level is the index in it."""
ROLES = ("web", "api", "db", "cache", "queue", "auth", "mail", "batch")
SERVICES = (
    *("nginx", "sshd", "kernel", "postgres", "redis", "payment", "session", "search"),
    *("cart", "billing", "report", "gateway", "worker", "cron", "vault", "proxy"),
)
PATHS = (
    *("/cart", "/cart/items", "/orders", "/orders/search"),
    *("/login", "/users/profile", "/reports/daily", "/search"),
)
HEAD = re.compile(
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z [a-z]+-[0-9]{2} "
    r"(DEBUG|INFO|WARN|ERROR|FATAL) ([a-z]+)\[[0-9]{1,5}\]: "
)
"""What a line of the usual form begins with; its message follows."""


class Draws:
    """One stream of random numbers: the same for the same seed, in every service."""

    def __init__(self, seed: int) -> None:
        """The first number is drawn by the first pick."""
        self._state = (2 * seed + 1) % MODULUS

    def pick(self, choices: int) -> int:
        """0 to `choices` - 1; at most 65536 choices, which fit 64 bits in every language."""
        self._state = self._state * MULTIPLIER % MODULUS
        return self._state * choices // MODULUS


@dataclass(frozen=True)
class Rule:
    """Fires on a line of `min_level` or more in whose field the pattern is found.

    With `over`, only where the number in group 1 of the leftmost match is larger.
    """

    pattern: str
    field: Field = "message"
    min_level: int = 0
    over: int | None = None
    weight: int = 0


@dataclass(frozen=True)
class Line:
    """A line's parts; of one that does not begin with HEAD, the message is all of it."""

    text: str
    level: int
    service: str
    message: str


def parse(text: str) -> Line:
    """Of any line, without its line feed."""
    head = HEAD.search(text)
    if head is None:
        return Line(text, 0, "", text)
    return Line(text, LEVELS.index(head[1]), head[2], text[head.end() :])


def threshold(rules: int) -> int:
    """The weight of an alert where there are so many rules."""
    return THRESHOLD_PER_16_RULES * rules // 16


@cache
def drawn_rules() -> tuple[Rule, ...]:
    """All of them, in order."""
    draws = Draws(SEED)
    return tuple(_drawn(draws, number % len(_KINDS)) for number in range(max(RULE_SETS.values())))


def _drawn(draws: Draws, kind: int) -> Rule:
    rule = _KINDS[kind](draws.pick)
    return replace(rule, weight=1 + draws.pick(5))  # drawn after all that the kind draws


Pick = Callable[[int], int]


def _service(pick: Pick) -> Rule:
    names = f"{SERVICES[pick(16)]}|{SERVICES[pick(16)]}"
    return Rule(f"^(?:{names})$", field="service", min_level=2 + pick(3))


def _duration(pick: Pick) -> Rule:
    return Rule("(?:took|after) ([0-9]{1,6}) ms", over=500 * pick(10))


def _login(pick: Pick) -> Rule:
    user, network = pick(5), 1 + pick(9)
    words = rf"(?:Failed|Accepted) [a-z]+ for user{user}[0-9]{{2}}"
    return Rule(rf"{words} from 10\.{network}[0-9]{{0,2}}\.")


def _request(pick: Pick) -> Rule:
    path, status = PATHS[pick(8)], 2 + pick(4)
    target = rf"(?:GET|POST) {path}[/a-z]*(?:\?id=[0-9a-f]{{8}})?"
    return Rule(rf"{target} {status}[0-9]{{2}} ")


def _host(pick: Pick) -> Rule:
    role, digit = ROLES[pick(8)], 1 + pick(9)
    origin = rf" {role}-[0-9]{{2}} (?:WARN|ERROR|FATAL)"
    return Rule(rf"{origin} [a-z]+\[{digit}[0-9]{{1,4}}\]: ", field="line")


def _identifier(pick: Pick) -> Rule:
    digits = f"{pick(16):x}{pick(16):x}"
    return Rule(rf"[0-9a-f]{{5}}{digits}[0-9a-f](?:-[0-9a-f]{{8}})?")


def _amount(pick: Pick) -> Rule:
    return Rule("([0-9]{1,7}) (?:kB|bytes|keys)", over=10_000 * pick(100))


def _words(pick: Pick) -> Rule:
    return Rule(rf"^[A-Za-z]+(?:[ .=:,'/(-]+[A-Za-z0-9]+){{{5 + pick(8)}}}[^A-Za-z0-9]*$")


_KINDS: tuple[Callable[[Pick], Rule], ...] = (
    *(_service, _duration, _login, _request),
    *(_host, _identifier, _amount, _words),
)
