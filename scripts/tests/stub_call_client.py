"""A program as the clients' are, without any calls: answers what `drive.call_client` asks."""

from __future__ import annotations

import json
import sys
from typing import Any

HELLO = {
    "version": "1",
    "strategies": ["sequential"],
    "transports": ["rest", "soap", "cxf", "zeep"],
    "pid": 1,
    "cores": 2,
}


def main() -> None:
    """A batch's log gets the answers in `inputs`, which a test has put there."""
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(HELLO if asked["do"] == "hello" else _batch(asked)), flush=True)


def _batch(asked: dict[str, Any]) -> dict[str, Any]:
    if asked["threads"] < 1:
        return {"error": "threads: must be 1 to 1024"}
    if asked["strategy"] == "none":
        sys.exit("no such luck")
    if asked["strategy"] == "silent":
        sys.stdin.read()
    calls = asked["calls"]
    if "log" in asked:
        with open(asked["log"], "a", encoding="utf-8") as log:  # noqa: PTH123
            for index in range(calls):
                log.write(json.dumps({"index": index, "outcome": "done", "other": 1}) + "\n")
            log.write('{"index": ')
    stage = {"wall_s": 0.1, "cpu_s": 0.1}
    return {
        "elapsed_s": 0.1,
        "outcomes": calls,
        "done": calls,
        "failed": {},
        "cancelled": 0,
        "wrong": 0,
        "attempts": calls,
        "retries": 0,
        "cpu_s": 0.0,
        "peak_in_flight": 1,
        "threads": {},
        "stages": dict.fromkeys("SCDP", stage),
        "compile_s": 0.0,
        "gc_s": 0.0,
        "asked": asked,
    }


if __name__ == "__main__":
    main()
