"""A program as the clients' are, without any calls: answers what `drive.call_client` asks."""

from __future__ import annotations

import json
import os
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
    """Each line of a batch's log is a call that is done, of a kernel with its result."""
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
                log.write(json.dumps(_call(asked, index)) + "\n")
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
    }


def _call(asked: dict[str, Any], index: int) -> dict[str, Any]:
    call: dict[str, Any] = {"index": index, "outcome": "done", "other": 1}
    call |= {"s_ms": 1.0, "c_ms": 20.0, "d_ms": 4.0, "p_ms": 100.0}
    if asked["workload"] == "npb":
        with open(asked["inputs"], encoding="utf-8") as inputs:  # noqa: PTH123
            bodies = json.load(inputs)
        given = bodies[index % len(bodies)]
        call["result"] = {
            "kernel": given["kernel"],
            "class": given["class"],
            "verified": os.environ.get("STUB_UNVERIFIED") != asked["transport"],
            "value": [8.5, 0.25] if given["kernel"] == "FT" else [8.5],
            "iterations": 15,
            "kernelSeconds": 0.01,
            "totalSeconds": 0.015,
            "mops": 6665.4,
        }
    return call


if __name__ == "__main__":
    main()
