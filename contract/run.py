"""Runs the contract's examples and probes against a service that is up.

    python contract/run.py http://127.0.0.1:8080 --framework tomcat [--front nginx] [--pid PID]

Examples with a `given` need a service in that situation and are skipped. Exceptions are examples of
messages: their queues are created by requests to the service. Without a database these examples are
skipped and counted. Without --pid the probe that ends the service is skipped. The differences must
be those of deviations.toml: an unlisted difference fails, and so does a listed one that does not
occur. Exit code 0, 1 where anything differs, 2 for a wrong option or where no service answers.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any

from cases import CONTRACT, TECHNIQUES, Example, Selection, offered, try_example
from conversation import try_probe
from probes import PROBES, Terminate
from races import RACES, try_race
from service import Outcome, Service


def rows() -> list[dict[str, str]]:
    """The entries of deviations.toml."""
    text = (CONTRACT / "deviations.toml").read_text()
    return list(tomllib.loads(text)["deviation"])


def deviations(framework: str, front: str | None) -> dict[tuple[str, str], str]:
    """The answers that are listed for this framework behind this front, by kind and name."""
    kept = [
        row
        for row in rows()
        if row.get("framework", framework) == framework and row.get("front") == front
    ]
    kept.sort(key=lambda row: "framework" in row)  # a row with a framework overrides others
    kinds = ("example", "probe")
    return {(kind, row[kind]): row["answer"] for row in kept for kind in kinds if kind in row}


def verdicts(outcomes: list[Outcome], listed: dict[tuple[str, str], str]) -> Iterator[str]:
    """A line for each difference that is not listed, and for each listed one that was not seen."""
    for outcome in outcomes:
        answer = listed.get((outcome.kind, outcome.name))
        what = f"{outcome.kind} {outcome.name}"
        if answer is None:
            yield from (f"{what}: {fault}" for fault in outcome.faults)
        elif "|" in answer and outcome.answer in answer.split("|"):
            continue  # timing decides which of the listed answers comes
        elif not outcome.faults:
            yield f"{what}: listed as {answer!r}, but the answer is the contract's"
        elif outcome.answer != answer:
            yield f"{what}: {outcome.answer!r}, listed as {answer!r}"


def run(service: Service, examples: dict[str, Example], wanted: Selection) -> list[Outcome]:
    """Try examples and races, then probes in parallel, at last the one that ends the service."""
    outcomes = [try_example(service, *item, wanted) for item in examples.items()]
    outcomes += [try_race(service, race) for race in RACES if service.has_database]
    ending = [it for it in PROBES if any(isinstance(step, Terminate) for step in it.steps)]
    others = [it for it in PROBES if it not in ending]
    with ThreadPoolExecutor(len(others)) as pool:
        outcomes += pool.map(lambda probe: try_probe(service, probe), others)
    return outcomes + [try_probe(service, probe) for probe in ending if service.pid is not None]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--framework", required=True)
    parser.add_argument("--front", help="the proxy that listens there")
    parser.add_argument("--pid", type=int, help="of the service: try the probe that ends it")
    some: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("--strategy", **some, help="try successes under these, not under all")
    parser.add_argument(
        "--technique", **some, choices=TECHNIQUES, help="try queues of these, not of all"
    )
    parser.add_argument("--receive-seconds", type=float, default=20, help="its receive timeout")
    options = parser.parse_args(arguments)
    try:
        service = Service.at(options.url, options.receive_seconds, options.pid)
    except (OSError, ValueError, LookupError, TypeError, HTTPException) as error:
        parser.error(f"{options.url}: no service of the contract answers there: {error}")
    if unknown := {*options.strategy}.difference(*service.strategies.values()):
        parser.error(f"the service has no strategy {', '.join(unknown)}")
    examples, left_out = offered(service)
    outcomes = run(service, examples, Selection(options.strategy, options.technique))
    lines = list(verdicts(outcomes, deviations(options.framework, options.front)))
    if left_out:
        print(f"NOT TRIED: {len(left_out)} examples of messages, the service has no database")
    differences = f"{len(lines)} difference{'s' * (len(lines) != 1)}"
    print("\n".join([*lines, f"{len(outcomes)} examples and probes, {differences}"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
