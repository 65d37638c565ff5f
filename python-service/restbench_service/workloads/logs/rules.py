"""The rules that classify lines, as regular expressions of the platform's own engine.

Rule k is of kind k mod 8; its parameters are drawn from one stream of random numbers. The patterns
use only what every engine interprets alike (ASCII literals and classes, greedy counts, one group,
`^` and `$`), and a search takes time in proportion to the line's length for any line.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

Field = Literal["line", "service", "message"]
RULE_SETS = {"R16": 16, "R64": 64, "R256": 256, "R1024": 1024}
"""The number of rules in each rule set. A set of n rules is the first n of one list."""
MODULUS = 2**46
MULTIPLIER = 5**13
"""The generator of the NAS Parallel Benchmarks, which every language computes exactly."""
SEED = 2022
THRESHOLD_PER_16_RULES = 3
"""A line is an alert if the weights of its fired rules add up to this per 16 rules of the set."""
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""A line's level is an index into this tuple."""
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
"""The beginning of a line in the usual form; the line's message follows it."""


class Draws:
    """One stream of random numbers: the same for the same seed, in every service."""

    def __init__(self, seed: int) -> None:
        """The first number is drawn by the first pick."""
        self._state = (2 * seed + 1) % MODULUS

    def pick(self, choices: int) -> int:
        """An integer from 0 to `choices` - 1. At most 65536, so that the product fits 64 bits."""
        self._state = self._state * MULTIPLIER % MODULUS
        return self._state * choices // MODULUS


@dataclass(frozen=True)
class Rule:
    """A rule fires on a line of at least `min_level` if the pattern is found in the line's field.

    With `over`, the number in group 1 of the leftmost match must also be larger than `over`.
    """

    pattern: str
    field: Field = "message"
    min_level: int = 0
    over: int | None = None
    weight: int = 0


@dataclass(frozen=True)
class Line:
    """A line's parts. If the line does not begin with HEAD, the message is the whole line."""

    text: str
    level: int
    service: str
    message: str


def parse(text: str) -> Line:
    """The parts of a line, which is given without its line feed."""
    head = HEAD.search(text)
    if head is None:
        return Line(text, 0, "", text)
    return Line(text, LEVELS.index(head[1]), head[2], text[head.end() :])


def threshold(rules: int) -> int:
    """The minimum total weight of an alert in a rule set of `rules` rules."""
    return THRESHOLD_PER_16_RULES * rules // 16


@cache
def drawn_rules() -> tuple[Rule, ...]:
    """All rules, in the order of their numbers."""
    pick = Draws(SEED).pick
    return tuple(
        replace(_KINDS[number % len(_KINDS)](pick), weight=1 + pick(5))  # the weight is drawn last
        for number in range(max(RULE_SETS.values()))
    )


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
