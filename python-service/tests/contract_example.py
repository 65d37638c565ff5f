"""The contract's examples, and how an error is held against one; the form is in its README."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cases
from live_service import KERNELS

FOLDER = Path(__file__).parents[2] / "contract" / "examples"
EXAMPLES: dict[str, dict[str, Any]] = {p.stem: json.loads(p.read_text()) for p in FOLDER.glob("*")}


def paths_of(example: dict[str, Any]) -> Iterator[str]:
    """Under `serial`; with each kernel, too, where it may have any."""
    path: str = example["request"]["path"].replace("{strategy}", "serial")
    yield path
    if path.startswith("/matrix/") and "kernel=" not in path:
        joint = "&" if "?" in path else "?"
        yield from (f"{path}{joint}kernel={kernel}" for kernel in KERNELS)


def body_of(example: dict[str, Any]) -> bytes:
    return cases.body_of(example["request"])


def given(situation: str) -> list[str]:
    return sorted(name for name, example in EXAMPLES.items() if example.get("given") == situation)


def check_error(example: dict[str, Any], path: str, text: str) -> None:
    error, expected = json.loads(text), example["response"]
    assert set(error) == {"requestId", "errorCode", "errorMessage"}
    assert {name: error[name] for name in expected} == expected
    assert type(error["requestId"]) is type(expected["requestId"])
    message: str = error["errorMessage"]
    assert 1 <= len(message) <= 300
    assert example.get("where", "") in message
    assert not re.search(r"Traceback|Error\b|Exception|restbench_service|\.py", message)
    sent = body_of(example).decode(errors="replace")
    assert not any(
        message[i : i + 41] in sent or message[i : i + 41] in path for i in range(len(message) - 40)
    )
