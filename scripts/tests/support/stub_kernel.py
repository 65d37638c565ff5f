"""A NAS kernel that is none: fixed times, in the stub service and as the program without HTTP.

    STUB_FAULTS='{"pinned": "unverified"}' stub_kernel.py CG S --strategy pinned --repetitions 2

A fresh process takes twice as long as a warm one, and the warm service as long as that. Faults of a
strategy: `unverified` (in the service), `unverified-direct`, `refused` (too little memory in both).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

FRESH_S, WARM_S = 0.02, 0.01
#: With the generation of the input.
GENERATE_S = 0.005
REFUSAL = "class: B needs 9 MiB of memory, the limit is 5 MiB"


def answer(kernel: str, npb_class: str, seconds: float, *, verified: bool) -> dict[str, Any]:
    """The contract's members."""
    return {
        "requestId": "1",
        "kernel": kernel,
        "class": npb_class,
        "verified": verified,
        "value": 8.5 if verified else 8.4,
        "reference": 8.5,
        "iterations": 15,
        "kernelSeconds": seconds,
        "totalSeconds": seconds + GENERATE_S,
        "mops": 66.654 / seconds,
    }


def served(kernel: str, npb_class: str, fault: str) -> tuple[int, bytes]:
    """The stub service's answer: its status and body."""
    if fault == "refused":
        return 413, json.dumps({"errorCode": "010", "errorMessage": REFUSAL}).encode()
    found = answer(kernel, npb_class, WARM_S, verified=fault != "unverified")
    return 200, json.dumps(found).encode()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel")
    parser.add_argument("npb_class")
    parser.add_argument("--strategy")
    parser.add_argument("--repetitions", type=int)
    given = parser.parse_args()
    fault = json.loads(os.environ.get("STUB_FAULTS", "{}")).get(given.strategy, "")
    if fault == "refused":
        print(f"restbench: {REFUSAL}", file=sys.stderr)
        sys.exit(2)
    for number in range(given.repetitions):
        seconds = WARM_S if number else FRESH_S
        verified = fault != "unverified-direct"
        line = answer(given.kernel, given.npb_class, seconds, verified=verified)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
