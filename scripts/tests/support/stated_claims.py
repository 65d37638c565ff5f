"""Claims as a test writes them, rows whose ratios are known, and what becomes of both."""

from __future__ import annotations

from collections.abc import Sequence

from synthetic_rows import row

from restbench.analyse.measures import Row
from restbench.experiment import claim_file, toml_file
from restbench.experiment.claim_file import Claims
from restbench.experiment.records import Proof
from restbench.judge import claims
from restbench.judge.claims import Decision

BASE = [100.0, 102.0, 98.0, 101.0, 99.0]


def times(factor: float, spread: float = 0.004) -> list[float]:
    steps = (1, -1, 0.5, -0.5, 0)
    return [value * factor * (1 + spread * step) for value, step in zip(BASE, steps, strict=True)]


def claim(*parts: str) -> Claims:
    text = 'title = "t"\nmargin = 0.05\n[[claims]]\nid = "C"\ntext = "t"\nreading = "r"\n'
    text += "".join(f"[[claims.parts]]\n{part}\n" for part in parts)
    return toml_file.parse(text.encode(), claim_file.Claims, "test")


def part(
    expect: str, numerator: str = "serial", denominator: str = "pinned", more: str = ""
) -> str:
    return (
        f'metric = "throughput_per_s"\nexpect = "{expect}"\n'
        'cells = { service = "java", complexity = "low", users = 10 }\n'
        f'numerator = {{ strategy = "{numerator}" }}\n'
        f'denominator = {{ strategy = "{denominator}" }}\n{more}'
    )


def rows(
    serial: Sequence[float], pinned: Sequence[float] = BASE, marks: Sequence[str] = ()
) -> list[Row]:
    return [
        row("java serial low 10", serial, marks),
        row("java pinned low 10", pinned),
    ]


def decided(file: Claims, measured: list[Row], proofs: Sequence[Proof] = ()) -> Decision:
    (decision,) = claims.decide(file, measured, proofs)
    return decision
