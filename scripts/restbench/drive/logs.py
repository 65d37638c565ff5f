"""Lines of a log and the rules that fire on them. It is implemented independently of the services,
with another regular expression engine (RE2), since their answers are compared with its results.

Lines and rules are drawn as the contract's README describes ("The workload logs").
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import re2


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


RULES_SEED = 2022
MODULUS = 2**46
MULTIPLIER = 5**13
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
#: A line's level is the first one whose bound is above a random number from 0 to 99.
LEVEL_BOUNDS = (30, 75, 90, 98, 100)
ROLES = _words("web api db cache queue auth mail batch")
SERVICES = _words(
    "nginx sshd kernel postgres redis payment session search "
    "cart billing report gateway worker cron vault proxy"
)
CODES = _words("200 201 301 400 401 403 404 409 500 502 503 504")
PATHS = _words(
    "/cart /cart/items /orders /orders/search /login /users/profile /reports/daily /search"
)
#: Templates of messages. The placeholders in braces are drawn from left to right.
TEMPLATES = (
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
    "payload of {kb} bytes: {hex} {hex} {hex} {hex} {hex} {hex} {hex} {hex}",
)
HEAD = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z [a-z]+-[0-9]{2} "
    rf"({'|'.join(LEVELS)}) ([a-z]+)\[[0-9]{{1,5}}\]: "
)


class Stream:
    """Random numbers, the same for the same seed (a multiplicative congruential generator)."""

    def __init__(self, seed: int) -> None:
        self._x = (2 * seed + 1) % MODULUS

    def pick(self, n: int) -> int:
        """A number from 0 to n - 1."""
        self._x = MULTIPLIER * self._x % MODULUS
        return self._x * n // MODULUS

    def of(self, words: Sequence[str]) -> str:
        """One of some words."""
        return words[self.pick(len(words))]


@dataclass(frozen=True)
class Rule:
    """A rule. It fires where a line's level is `min_level` or higher and the `part` of the line
    matches the pattern; with a limit `over`, the number in its group must also be larger."""

    pattern: str
    part: str
    min_level: int
    over: int | None
    weight: int


@lru_cache(maxsize=8)
def lines(seed: int, count: int) -> tuple[str, ...]:
    """So many lines. A smaller count gives the first of them."""
    draw, millis, made = Stream(seed), 0, []
    for _ in range(count):
        millis += draw.pick(2000)
        made.append(_line(draw, millis))
    return tuple(made)


def _line(draw: Stream, millis: int) -> str:
    host = FORMATS["host"](draw)
    drawn = draw.pick(LEVEL_BOUNDS[-1])
    level = next(name for name, bound in zip(LEVELS, LEVEL_BOUNDS, strict=True) if drawn < bound)
    origin = f"{draw.of(SERVICES)}[{100 + draw.pick(32000)}]"
    seconds, rest = divmod(millis, 1000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
    return f"2026-03-01T{clock}Z {host} {level} {origin}: {_message(draw)}"


def _message(draw: Stream) -> str:
    literal, *pieces = draw.of(TEMPLATES).split("{")
    for piece in pieces:
        name, _, after = piece.partition("}")
        literal += FORMATS[name](draw) + after
    return literal


#: How each placeholder is drawn.
FORMATS: Mapping[str, Callable[[Stream], str]] = {
    "path": lambda draw: draw.of(PATHS),
    "hex": lambda draw: f"{draw.pick(65536):04x}{draw.pick(65536):04x}",
    "code": lambda draw: draw.of(CODES),
    "ms": lambda draw: str(draw.pick(5000)),
    "ip": lambda draw: f"10.{draw.pick(256)}.{draw.pick(256)}.{draw.pick(256)}",
    "user": lambda draw: f"user{draw.pick(500):03}",
    "port": lambda draw: str(1024 + draw.pick(60000)),
    "host": lambda draw: f"{draw.of(ROLES)}-{draw.pick(32):02}",
    "service": lambda draw: draw.of(SERVICES),
    "kb": lambda draw: str(1000 * draw.pick(1000) + draw.pick(1000)),
    "dev": lambda draw: f"sd{draw.of('abcdefgh')}",
    "digit": lambda draw: str(draw.pick(10)),
    "two": lambda draw: f"{draw.pick(100):02}",
}


@lru_cache(maxsize=8)
def rules(count: int) -> tuple[Rule, ...]:
    """The first `count` rules."""
    draw = Stream(RULES_SEED)
    return tuple(_rule(draw, number % 8) for number in range(count))


def _rule(draw: Stream, kind: int) -> Rule:
    part, min_level, over = "message", 0, None
    match kind:
        case 0:
            part, pattern = "service", f"^(?:{draw.of(SERVICES)}|{draw.of(SERVICES)})$"
            min_level = 2 + draw.pick(3)
        case 1:
            pattern, over = "(?:took|after) ([0-9]{1,6}) ms", 500 * draw.pick(10)
        case 2:
            user, net = draw.pick(5), 1 + draw.pick(9)
            pattern = rf"(?:Failed|Accepted) [a-z]+ for user{user}[0-9]{{2}} from 10\.{net}"
            pattern += r"[0-9]{0,2}\."
        case 3:
            path, code = draw.of(PATHS), 2 + draw.pick(4)
            pattern = rf"(?:GET|POST) {path}[/a-z]*(?:\?id=[0-9a-f]{{8}})? {code}[0-9]{{2}} "
        case 4:
            role, digit = draw.of(ROLES), 1 + draw.pick(9)
            part, pattern = "line", rf" {role}-[0-9]{{2}} (?:WARN|ERROR|FATAL) [a-z]+"
            pattern += rf"\[{digit}[0-9]{{1,4}}\]: "
        case 5:
            pattern = f"[0-9a-f]{{5}}{draw.pick(16):x}{draw.pick(16):x}[0-9a-f](?:-[0-9a-f]{{8}})?"
        case 6:
            pattern, over = "([0-9]{1,7}) (?:kB|bytes|keys)", 10000 * draw.pick(100)
        case _:
            words = 5 + draw.pick(8)
            pattern = rf"^[A-Za-z]+(?:[ .=:,'/(-]+[A-Za-z0-9]+){{{words}}}[^A-Za-z0-9]*$"
    return Rule(pattern, part, min_level, over, weight=1 + draw.pick(5))


def fired(count: int, text: Sequence[str]) -> list[list[int]]:
    """For each line, the numbers of those of the first `count` rules that fire."""
    patterns = {rule.pattern: re2.compile(rule.pattern) for rule in rules(count)}
    head = re2.compile(HEAD)
    found = []
    for line in text:
        start = head.search(line)
        parts = {"line": line, "service": "", "message": line}
        level = 0
        if start:
            level = LEVELS.index(start.group(1))
            parts |= {"service": start.group(2), "message": line[start.end() :]}
        found.append(
            [
                number
                for number, rule in enumerate(rules(count))
                if level >= rule.min_level
                and (match := patterns[rule.pattern].search(parts[rule.part]))
                and (rule.over is None or int(match.group(1)) > rule.over)
            ]
        )
    return found


def body_rest(rule_set: str, text: Sequence[str]) -> str:
    """The JSON text of a request body, without its beginning up to the id."""
    quoted = json.dumps(list(text), ensure_ascii=False, separators=(",", ":"))
    return f'"ruleSet":"{rule_set}","lines":{quoted}}}'


def answer_rest(rule_set: str, text: Sequence[str]) -> str:
    """The only correct answer to such a request, without its beginning up to the id."""
    count = int(rule_set.removeprefix("R"))
    numbers = fired(count, text)
    weights = [rule.weight for rule in rules(count)]
    alerts = [
        index
        for index, each in enumerate(numbers)
        if 16 * sum(weights[number] for number in each) >= 3 * count
    ]
    times = Counter(number for each in numbers for number in each)
    counts = [times[number] for number in range(count)]
    members = {"ruleSet": rule_set, "alerts": alerts, "counts": counts, "fired": numbers}
    return json.dumps(members, separators=(",", ":"))[1:]
